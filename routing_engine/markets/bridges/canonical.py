"""Rollups' own bridges with Ethereum: free, and slow on the way down."""

from __future__ import annotations

from routing_engine.markets.bridges.lane import BridgeLane, LaneFee
from routing_engine.markets.bridges.terms import lane_id
from routing_engine.model import Token

CHALLENGE_PERIOD_S = 7 * 24 * 3600
"""How long an optimistic rollup's withdrawal can be disputed."""


def canonical_lane(
    token_in: Token, token_out: Token, *, fill_time_s: int, claim_fee: int = 0, gas: int = 160_000
) -> BridgeLane:
    """Return a deposit to a rollup, or a withdrawal from one.

    Parameters
    ----------
    token_in, token_out : Token
        The token and its counterpart.
    fill_time_s : int
        Minutes for a deposit; for a withdrawal at least `CHALLENGE_PERIOD_S` where it can be disputed.
    claim_fee : int
        What the transactions that prove and claim a withdrawal on Ethereum cost, in the token sent.
    """
    return BridgeLane(
        id=lane_id("canonical", token_in, token_out),
        protocol="canonical",
        token_in=token_in,
        token_out=token_out,
        fees=(LaneFee(name="destination_gas_fee", flat=claim_fee),),
        min_amount_in=1,
        fill_time_s=fill_time_s,
        gas=gas,
    )
