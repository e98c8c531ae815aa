"""The float64 shape of an Ekubo pool: constant-product pieces between initialised ticks."""

from __future__ import annotations

from bisect import bisect_right
from operator import itemgetter

from routing_engine.amm.ekubo import FEE_SCALE, Liquidity
from routing_engine.amm.ekubo_ticks import MAX_SQRT_RATIO, MIN_SQRT_RATIO, Q128, sqrt_ratio_at_tick

_index = itemgetter(0)

Piece = list[float]
"""A row of `Curve.pieces`."""


def build_pieces(state: Liquidity, zero_for_one: bool) -> tuple[list[Piece], float]:
    """Return the pieces of one direction and the input that exhausts the liquidity; none and 0 without liquidity.

    At liquidity L and square-root price s a pool is a constant-product pool of virtual reserves L / s and L * s until
    the next tick. Lengths come from exact differences of neighbouring prices.
    """
    rows: list[Piece] = []
    kept = 1.0 - state.fee_x64 / FEE_SCALE
    x0 = y0 = 0.0
    price = state.sqrt_ratio
    for boundary, liquidity in _stretches(state, zero_for_one):
        if liquidity > 0 and price != boundary:
            scale = price / Q128
            reserve_in, reserve_out = liquidity / scale, liquidity * scale
            growth = (price - boundary) / boundary
            if not zero_for_one:
                reserve_in, reserve_out = reserve_out, reserve_in
                growth = (boundary - price) / price
            rows.append([x0, y0, kept * reserve_out, reserve_in, kept])
            x0 += reserve_in * growth / kept
            y0 += reserve_out * growth / (1.0 + growth)
        price = boundary
    return rows, x0


def _stretches(state: Liquidity, zero_for_one: bool) -> list[tuple[int, int]]:
    """Return the boundaries ahead in the order they are met, each with the liquidity on the way to it."""
    split = bisect_right(state.ticks, state.tick, key=_index)
    ahead = state.ticks[:split][::-1] if zero_for_one else state.ticks[split:]
    liquidity, found = state.liquidity, []
    for index, net in ahead:
        found.append((sqrt_ratio_at_tick(index), liquidity))
        liquidity += -net if zero_for_one else net
    found.append((MIN_SQRT_RATIO if zero_for_one else MAX_SQRT_RATIO, liquidity))
    return found
