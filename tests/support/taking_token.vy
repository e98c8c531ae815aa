# pragma version ~=0.4.0
# A token that delivers all that is sent, and then takes a hundredth of it from who got it: by an event of his own.

event Transfer:
    sender: indexed(address)
    receiver: indexed(address)
    value: uint256


FEE: constant(uint256) = 100

decimals: public(constant(uint8)) = 6
balanceOf: public(HashMap[address, uint256])


@deploy
def __init__(owner: address, amount: uint256):
    self.balanceOf[owner] = amount
    log Transfer(sender=empty(address), receiver=owner, value=amount)


@external
def transfer(receiver: address, amount: uint256) -> bool:
    self._move(msg.sender, receiver, amount)
    self._move(receiver, empty(address), amount // FEE)
    return True


@internal
def _move(sender: address, receiver: address, amount: uint256):
    self.balanceOf[sender] -= amount
    self.balanceOf[receiver] += amount
    log Transfer(sender=sender, receiver=receiver, value=amount)
