"""What Camelot v2 does otherwise than the contracts it came from.

A volatile pair is a Uniswap v2 pair whose fee depends on the direction: `routing_engine.amm.constant_product` prices
it, with a fee in 1/100000, a tenth of a pip. A stable pair is priced by `routing_engine.amm.solidly`'s first solver;
its fee stays in the pair, but for the owner's share.
"""

from __future__ import annotations

from routing_engine.fixed_point import PIPS


def owner_fee(amount_in: int, fee_pips: int, owner_share_pips: int) -> int:
    """Return what a stable pair sends to the protocol's owner at once, rounded down.

    Equals the transfer to ``feeTo`` in ``CamelotPair.swap`` without a referrer.
    """
    return amount_in * owner_share_pips * fee_pips // PIPS**2
