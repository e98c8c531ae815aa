"""The float64 shape of an Ekubo pool: constant-product pieces between initialised ticks."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from operator import itemgetter

from routing_engine.amm.ekubo.swap_loop import FEE_SCALE, Liquidity
from routing_engine.amm.ekubo.ticks import MAX_SQRT_RATIO, MIN_SQRT_RATIO, Q128, sqrt_ratio_at_tick

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
    for start, end, liquidity in _stretches(state, zero_for_one):
        row = _piece(start, liquidity, kept, zero_for_one)
        row[:2] = x0, y0
        rows.append(row)
        growth = (start - end) / end if zero_for_one else (end - start) / start
        x0 += row[3] * growth / kept
        y0 += row[2] / kept * growth / (1.0 + growth)
    return rows, x0


def spot_price(state: Liquidity, zero_for_one: bool) -> float:
    """Return the marginal price after the fee, that of the first liquidity met; 0 without any."""
    kept = 1.0 - state.fee_x64 / FEE_SCALE
    for start, _, liquidity in _stretches(state, zero_for_one):
        row = _piece(start, liquidity, kept, zero_for_one)
        return row[2] / row[3]
    return 0.0


def _piece(price: int, liquidity: int, kept: float, zero_for_one: bool) -> Piece:
    scale = price / Q128
    below, above = liquidity / scale, liquidity * scale
    return [0.0, 0.0, kept * (above if zero_for_one else below), below if zero_for_one else above, kept]


def _stretches(state: Liquidity, zero_for_one: bool) -> Iterator[tuple[int, int, int]]:
    """Yield prices at the start and the end of what lies ahead, and the liquidity between; gaps are left out."""
    split = bisect_right(state.ticks, state.tick, key=_index)
    ahead = state.ticks[:split][::-1] if zero_for_one else state.ticks[split:]
    price, liquidity = state.sqrt_ratio, state.liquidity
    for index, net in ahead:
        boundary = sqrt_ratio_at_tick(index)
        if liquidity > 0 and price != boundary:
            yield price, boundary, liquidity
        price, liquidity = boundary, liquidity - net if zero_for_one else liquidity + net
    boundary = MIN_SQRT_RATIO if zero_for_one else MAX_SQRT_RATIO
    if liquidity > 0 and price != boundary:
        yield price, boundary, liquidity
