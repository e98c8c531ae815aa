# pragma version ~=0.4.0
# A token with votes: each transfer says whose votes change, who is whomever its holder has chosen.

event Transfer:
    sender: indexed(address)
    recipient: indexed(address)
    amount: uint256

event DelegateVotesChanged:
    delegate: indexed(address)
    before: uint256
    since: uint256

decimals: public(constant(uint8)) = 18
balanceOf: public(HashMap[address, uint256])
delegates: public(HashMap[address, address])


@external
def mint(holder: address, amount: uint256):
    self.balanceOf[holder] += amount
    log Transfer(sender=empty(address), recipient=holder, amount=amount)


@external
def delegate(to: address):
    self.delegates[msg.sender] = to


@external
def transfer(recipient: address, amount: uint256) -> bool:
    self.balanceOf[msg.sender] -= amount
    self.balanceOf[recipient] += amount
    log Transfer(sender=msg.sender, recipient=recipient, amount=amount)
    log DelegateVotesChanged(delegate=self.delegates[msg.sender], before=amount, since=0)
    return True
