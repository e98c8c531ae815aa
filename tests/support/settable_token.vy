# pragma version ~=0.4.0
# A token of any decimals whose balances a test sets.

decimals: public(uint8)
symbol: public(constant(String[1])) = "T"
balanceOf: public(HashMap[address, uint256])


@deploy
def __init__(decimals: uint8):
    self.decimals = decimals


@external
def set_balance(holder: address, amount: uint256):
    self.balanceOf[holder] = amount


@external
def transfer(recipient: address, amount: uint256) -> bool:
    self.balanceOf[msg.sender] -= amount
    self.balanceOf[recipient] += amount
    return True
