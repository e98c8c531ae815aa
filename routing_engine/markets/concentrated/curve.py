"""The float64 shape of a concentrated pool: constant-product pieces between the stops of the contract's loop."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from math import log
from operator import itemgetter

import numpy as np
import numpy.typing as npt

from routing_engine.amm.concentrated.tick_math import sqrt_ratio_at_tick
from routing_engine.amm.concentrated.walk import Liquidity, Tick
from routing_engine.fixed_point import PIPS, Q96
from routing_engine.markets.common.closed import CLOSED_PIECES

_HALF_LOG_TICK = log(1.0001) / 2
_index = itemgetter(0)

WORD = 256
"""Initialised or not, the contract's loop stops after so many multiples of the tick spacing, and takes gas for it."""

WORD_EDGES = 4
"""Kernels know so many of the next stops. Amounts that go farther are quoted exactly later."""


def build_pieces(state: Liquidity, zero_for_one: bool) -> tuple[npt.NDArray[np.float64], float]:
    """Return the pieces of one direction, and the input that exhausts the liquidity.

    At liquidity L and square-root price s a pool is a constant-product pool of virtual reserves L / s and L * s until
    the next tick. Intervals without liquidity take no input and are left out. Lengths come from ratios of neighbouring
    prices (``expm1`` of a tick distance), as differences of nearly equal prices would lose their digits.

    Returns
    -------
    pieces : ndarray, shape (n, 5)
        As `Curve.pieces`; one flat piece when there is no liquidity.
    x_max : float
        Sum of all lengths; 0 without liquidity.
    """
    ahead, active = _ahead(state, zero_for_one)
    if not ahead:
        return CLOSED_PIECES, 0.0
    way = -1.0 if zero_for_one else 1.0
    index = np.array([tick[0] for tick in ahead], dtype=np.float64)
    liquidity = np.array(active, dtype=np.float64)
    start = np.empty_like(index)
    start[0] = state.sqrt_price_x96 / Q96
    start[1:] = np.exp(_HALF_LOG_TICK * index[:-1])
    growth = np.empty_like(index)
    growth[0] = _first_growth(state.sqrt_price_x96, sqrt_ratio_at_tick(ahead[0][0]), zero_for_one)
    growth[1:] = np.expm1((way * _HALF_LOG_TICK) * (index[1:] - index[:-1]))
    start **= way
    reserve_in = liquidity * start
    reserve_out = liquidity / start
    kept = 1.0 - state.swap_fee_pips(zero_for_one) / PIPS
    pieces = np.empty((len(ahead) + 1, 5))
    pieces[0, :2] = 0.0
    (reserve_in * growth / kept).cumsum(out=pieces[1:, 0])
    (reserve_out * growth / (1.0 + growth)).cumsum(out=pieces[1:, 1])
    x_max = float(pieces[-1, 0])
    pieces = pieces[:-1]
    pieces[:, 2] = kept * reserve_out
    pieces[:, 3] = reserve_in
    pieces[:, 4] = kept
    real = pieces[(liquidity > 0.0) & (growth > 0.0)]
    return (real, x_max) if len(real) else (CLOSED_PIECES, 0.0)


def spot_price(sqrt_price_x96: int, zero_for_one: bool, fee_pips: int) -> float:
    """Return the marginal price at a square-root price, after the fee."""
    price = (sqrt_price_x96 / Q96) ** 2
    return (1.0 - fee_pips / PIPS) * (price if zero_for_one else 1.0 / price)


def _ahead(state: Liquidity, zero_for_one: bool) -> tuple[list[Tick], list[int]]:
    """Return the stops in the order they are met, and the liquidity on the way to each of them."""
    split = bisect_right(state.ticks, state.tick, key=_index)
    ticks = state.ticks[:split][::-1] if zero_for_one else state.ticks[split:]
    if not ticks:
        return [], []
    ahead = sorted(set(ticks) | _words(state, ticks, zero_for_one), key=_index, reverse=zero_for_one)
    way = -1 if zero_for_one else 1
    # Sums of integers: nets of many magnitudes cancel, which float64 would not survive.
    return ahead, list(accumulate((way * net for _, net in ahead[:-1]), initial=state.liquidity))


def _words(state: Liquidity, ticks: Sequence[Tick], zero_for_one: bool) -> set[Tick]:
    """Return the next edges of the bitmap's words as ticks at which liquidity stays, those that are ticks left out."""
    spacing, compressed = state.tick_spacing, state.tick // state.tick_spacing
    first = compressed >> 8 << 8 if zero_for_one else compressed + 1 | 255
    way = -WORD if zero_for_one else WORD
    edges = {(first + way * number) * spacing for number in range(WORD_EDGES)} - {index for index, _ in ticks}
    end = ticks[-1][0]
    return {(edge, 0) for edge in edges if (edge > end if zero_for_one else edge < end)}


def _first_growth(sqrt_price_x96: int, boundary: int, zero_for_one: bool) -> float:
    """Return by which fraction the virtual reserve of the input grows up to the first tick."""
    if zero_for_one:
        return (sqrt_price_x96 - boundary) / boundary
    return (boundary - sqrt_price_x96) / sqrt_price_x96
