# pragma version ~=0.4.0
# Holds somebody's positions in pools, as lockers of launched tokens do: whoever likes has it pay its owner.

interface Positions:
    def collect(params: Collected) -> (uint256, uint256): payable
    def decreaseLiquidity(params: Decreased) -> (uint256, uint256): payable

struct Collected:
    number: uint256
    recipient: address
    most_of_first: uint128
    most_of_second: uint128

struct Decreased:
    number: uint256
    liquidity: uint128
    least_of_first: uint256
    least_of_second: uint256
    deadline: uint256

positions: address
owner: address


@deploy
def __init__(positions: address, owner: address):
    self.positions = positions
    self.owner = owner


@external
def claim(number: uint256):
    self._collect(number)


@external
def pay_out(number: uint256, liquidity: uint128):
    extcall Positions(self.positions).decreaseLiquidity(
        Decreased(number=number, liquidity=liquidity, least_of_first=0, least_of_second=0, deadline=max_value(uint256))
    )
    self._collect(number)


@internal
def _collect(number: uint256):
    most: uint128 = max_value(uint128)
    extcall Positions(self.positions).collect(
        Collected(number=number, recipient=self.owner, most_of_first=most, most_of_second=most)
    )
