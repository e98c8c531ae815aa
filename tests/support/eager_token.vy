# pragma version ~=0.4.0
# A token that does something else while it is transferred, and that everybody has as much of as they like.

event Transfer:
    sender: indexed(address)
    recipient: indexed(address)
    amount: uint256

decimals: public(constant(uint8)) = 18
balances: HashMap[address, uint256]
target: address
errand: Bytes[1024]


@external
def mint(holder: address, amount: uint256):
    self.balances[holder] += amount
    log Transfer(sender=empty(address), recipient=holder, amount=amount)


@external
def pretend(sender: address, recipient: address, amount: uint256):
    log Transfer(sender=sender, recipient=recipient, amount=amount)


@external
def plan(target: address, errand: Bytes[1024]):
    self.target = target
    self.errand = errand


@external
@view
def balanceOf(holder: address) -> uint256:
    return self.balances[holder]


@external
@view
def allowance(holder: address, spender: address) -> uint256:
    return max_value(uint256)


@external
def approve(spender: address, amount: uint256) -> bool:
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
    self.balances[sender] -= amount
    self.balances[recipient] += amount
    log Transfer(sender=sender, recipient=recipient, amount=amount)
    if self.target != empty(address):
        raw_call(self.target, self.errand)
