# pragma version ~=0.4.0
# A token of any decimals whose balances a test sets; also a token of shares, which its pool mints.

decimals: public(uint8)
symbol: public(constant(String[1])) = "T"
balanceOf: public(HashMap[address, uint256])
totalSupply: public(uint256)


@deploy
def __init__(decimals: uint8):
    self.decimals = decimals


@external
def set_balance(holder: address, amount: uint256):
    self.balanceOf[holder] = amount


@external
def mint(holder: address, amount: uint256) -> bool:
    self.balanceOf[holder] += amount
    self.totalSupply += amount
    return True


@external
def transfer(recipient: address, amount: uint256) -> bool:
    self._move(msg.sender, recipient, amount)
    return True


@external
def transferFrom(sender: address, recipient: address, amount: uint256) -> bool:
    self._move(sender, recipient, amount)
    return True


@internal
def _move(sender: address, recipient: address, amount: uint256):
    self.balanceOf[sender] -= amount
    self.balanceOf[recipient] += amount
