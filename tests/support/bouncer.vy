# pragma version ~=0.4.0
# An account that does something else as it is given coin, as its owner has planned.

event Given:
    by: address

to: address
data: Bytes[256]
passes_on: bool
named: address


@external
@payable
def call(to: address, amount: uint256, data: Bytes[1024]):
    raw_call(to, data, value=amount)


@external
def plan(to: address, data: Bytes[256], passes_on: bool, named: address):
    self.to = to
    self.data = data
    self.passes_on = passes_on
    self.named = named


@external
@payable
def __default__():
    if self.named != empty(address):
        log Given(by=self.named)
        raw_call(self.to, self.data, value=msg.value if self.passes_on else 0)
