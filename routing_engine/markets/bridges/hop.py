"""Hop: its bridged token moves between chains for a bonder's fee.

Coins are exchanged into the bridged token and out of it in a StableSwap pool on each rollup: markets of their own,
before and after this lane. Ethereum holds the coin itself.
"""

from __future__ import annotations

from functools import partial

from routing_engine.fixed_point import BPS, WAD
from routing_engine.market import UNLIMITED
from routing_engine.markets.bridges.lane import BridgeLane, LaneFee
from routing_engine.markets.bridges.terms import lane_id
from routing_engine.model import Token


def hop_lanes(
    token_in: Token,
    token_out: Token,
    *,
    bonder_fee_bps: int,
    least_bonder_fee: int,
    destination_gas_fee: int,
    fill_time_s: int,
    liquidity: int = UNLIMITED,
    gas: int = 140_000,
) -> tuple[BridgeLane, ...]:
    """Return the lane of small amounts, which pay the least fee, and that of larger ones, which pay a share.

    Together they are the minimum that ``L2_Bridge.send`` demands of its ``bonderFee``: the larger of the two. From
    Ethereum, where ``sendToL2`` needs no bonder, all fees are 0 and there is one lane.

    Parameters
    ----------
    token_in, token_out : Token
        Hop's bridged tokens on two rollups, or the coin on Ethereum.
    bonder_fee_bps : int
        ``minBonderBps``, or what the service suggests.
    least_bonder_fee : int
        ``minBonderFeeAbsolute``.
    destination_gas_fee : int
        What bonders ask for their transaction there, on top.
    liquidity : int
        The bonders' free credit on the destination.
    """
    flat_until = _find_last_flat(bonder_fee_bps, least_bonder_fee)
    name, gas_fee = lane_id("hop", token_in, token_out), LaneFee(name="destination_gas_fee", flat=destination_gas_fee)
    lane = partial(BridgeLane, protocol="hop", token_in=token_in, token_out=token_out, fill_time_s=fill_time_s, gas=gas)
    flat = LaneFee(name="bonder_fee", flat=least_bonder_fee)
    small = lane(id=f"{name}:small", fees=(flat, gas_fee), max_amount_in=min(flat_until, liquidity))
    if flat_until >= liquidity:
        return (small,)
    share = LaneFee(name="bonder_fee", rate_e18=bonder_fee_bps * (WAD // BPS))
    return small, lane(id=name, fees=(share, gas_fee), min_amount_in=flat_until + 1, max_amount_in=liquidity)


def _find_last_flat(bonder_fee_bps: int, least_bonder_fee: int) -> int:
    """Return the greatest amount whose share, rounded down, does not exceed the least fee."""
    return ((least_bonder_fee + 1) * BPS - 1) // bonder_fee_bps if bonder_fee_bps else UNLIMITED
