# pragma version ~=0.4.0
# A token that keeps a hundredth of what is sent, as reflecting and taxing tokens do: by a second event of the sender's.

event Transfer:
    sender: indexed(address)
    receiver: indexed(address)
    value: uint256


FEE: constant(uint256) = 100
COLLECTOR: constant(address) = 0x1111111111111111111111111111111111111111

decimals: public(constant(uint8)) = 6
balanceOf: public(HashMap[address, uint256])


@deploy
def __init__(owner: address, amount: uint256):
    self.balanceOf[owner] = amount
    log Transfer(sender=empty(address), receiver=owner, value=amount)


@external
def transfer(receiver: address, amount: uint256) -> bool:
    fee: uint256 = amount // FEE
    self._move(msg.sender, COLLECTOR, fee)
    self._move(msg.sender, receiver, amount - fee)
    return True


@internal
def _move(sender: address, receiver: address, amount: uint256):
    self.balanceOf[sender] -= amount
    self.balanceOf[receiver] += amount
    log Transfer(sender=sender, receiver=receiver, value=amount)
