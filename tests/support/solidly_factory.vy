# pragma version ~=0.4.0
# What a pool of the Solidly family asks of its factory: its tokens, its fee, and whether it is paused.

interface Pool:
    def initialize(token0: address, token1: address, stable: bool): nonpayable

fee: uint256


@external
def create(pool: address, token0: address, token1: address, stable: bool):
    extcall Pool(pool).initialize(token0, token1, stable)


@external
def set_fee(fee: uint256):
    self.fee = fee


@external
@view
def getFee(pool: address, stable: bool) -> uint256:
    return self.fee


@external
@view
def isPaused() -> bool:
    return False


@external
@view
def voter() -> address:
    return self
