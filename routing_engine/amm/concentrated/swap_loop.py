"""The swap loop of concentrated liquidity: ``swap`` of Uniswap v3 and v4 without a price limit of the caller's.

The contract keeps its initialised ticks in a bitmap of 256-bit words and looks ahead within one word only, so it stops
at the edge of every word even where nothing is initialised. Each stop rounds amounts, so an exact quote must stop there
too, and each stop costs gas.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from operator import itemgetter
from typing import NamedTuple, Protocol, TypeAlias

from routing_engine.amm.concentrated.swap_math import ENDLESS, least_step_input, step_exact_in, step_exact_out
from routing_engine.amm.concentrated.tick_math import (
    MAX_SQRT_RATIO,
    MAX_TICK,
    MIN_SQRT_RATIO,
    MIN_TICK,
    sqrt_ratio_at_tick,
    tick_at_sqrt_ratio,
)

Tick: TypeAlias = tuple[int, int]
"""Index, and the liquidity that becomes active when the price rises through it (negative: ceases to be)."""

Stretch: TypeAlias = tuple[int, int, int, int, int]
"""Prices at its start and end, liquidity on the way and after its end, and the tick that a swap up to there leaves."""

MAX_AMOUNT = 2**255 - 1
"""The largest amount ``swap`` takes: an int256."""

MAX_AMOUNT_V4 = 2**127 - 1
"""The largest amount of either token in Uniswap v4, which keeps both in one word: an int128."""


class Liquidity(Protocol):
    """The state of a pool that the loop reads."""

    @property
    def sqrt_price_x96(self) -> int:
        """Square root of token 1 per token 0, Q64.96."""
        ...

    @property
    def tick(self) -> int:
        """``slot0.tick``: that of the price, or one less after a fall exactly onto an initialised tick."""
        ...

    @property
    def liquidity(self) -> int:
        """Liquidity active at `tick`."""
        ...

    @property
    def ticks(self) -> tuple[Tick, ...]:
        """All initialised ticks, in rising order."""
        ...

    @property
    def tick_spacing(self) -> int:
        """Indices are multiples of it."""
        ...

    def swap_fee_pips(self, zero_for_one: bool) -> int:
        """Share of the input that liquidity providers and the protocol keep."""
        ...


class Swapped(NamedTuple):
    """What a swap did, and the state it leaves."""

    amount_in: int
    """Input consumed, with the fee."""
    amount_out: int
    fee_amount: int
    sqrt_price_x96: int
    tick: int
    liquidity: int
    steps: int
    """Rounds of the loop: initialised ticks and word edges on the way, and the last stretch."""
    filled: bool
    """Whether the whole amount was served; if not, the price stands at its bound."""


_index = itemgetter(0)


def _next_stop(upcoming: Tick | None, tick: int, spacing: int, zero_for_one: bool) -> tuple[int, int | None]:
    """Return the nearer of the `upcoming` initialised tick, with its liquidity, and the edge of the bitmap word.

    Equals ``TickBitmap.nextInitializedTickWithinOneWord``, clamped to the range of ticks.
    """
    compressed = tick // spacing
    if zero_for_one:
        edge = (compressed >> 8 << 8) * spacing
        if upcoming and upcoming[0] >= edge:
            return upcoming
        return max(edge, MIN_TICK), None
    edge = (compressed + 1 | 255) * spacing
    if upcoming and upcoming[0] <= edge:
        return upcoming
    return min(edge, MAX_TICK), None


def _stretches(state: Liquidity, zero_for_one: bool) -> Iterator[Stretch]:
    """Yield what lies ahead up to the end of the range of prices, as if every stretch were used up.

    Where nothing is left to meet, none follows: the contract's empty words would only carry the price to its bound.
    """
    price, tick, liquidity, ticks, spacing = (
        state.sqrt_price_x96,
        state.tick,
        state.liquidity,
        state.ticks,
        state.tick_spacing,
    )
    limit, way = (MIN_SQRT_RATIO + 1, -1) if zero_for_one else (MAX_SQRT_RATIO - 1, 1)
    position = bisect_right(ticks, tick, key=_index) - zero_for_one
    while (limit - price) * way > 0:
        upcoming = ticks[position] if 0 <= position < len(ticks) else None
        if upcoming is None and liquidity == 0:
            return
        stop, net = _next_stop(upcoming, tick, spacing, zero_for_one)
        start, active, price, tick = price, liquidity, sqrt_ratio_at_tick(stop), stop - zero_for_one
        if price < limit if zero_for_one else price > limit:
            price, tick = limit, tick_at_sqrt_ratio(limit)
        elif net is not None:
            liquidity += way * net
            position += way
        yield start, price, active, liquidity, tick


def swap(state: Liquidity, zero_for_one: bool, amount: int, *, exact_in: bool = True) -> Swapped:
    """Walk the price until `amount` is used up or the range of prices ends.

    Parameters
    ----------
    state : Liquidity
        Read, never changed.
    zero_for_one : bool
        Sell token 0, so that the price falls; else sell token 1.
    amount : int
        Positive; the input if `exact_in`, else the output.

    Returns
    -------
    Swapped
        Equal to the contract's amounts, ``sqrtPriceX96``, tick and liquidity afterwards. The fee is split as v3 does;
        v4 counts some roundings of the input as input that v3 counts as fee, and charges the same in total.
    """
    step, remaining, fee_pips = step_exact_in if exact_in else step_exact_out, amount, state.swap_fee_pips(zero_for_one)
    tick, liquidity = state.tick, state.liquidity
    total_in = total_out = total_fee = steps = 0
    for start, target, active, following, reached in _stretches(state, zero_for_one):
        price, step_in, step_out, step_fee = step(start, target, active, remaining, fee_pips)
        total_in += step_in + step_fee
        total_out += step_out
        total_fee += step_fee
        remaining -= step_in + step_fee if exact_in else step_out
        steps += 1
        if price != target:
            tick = tick_at_sqrt_ratio(price) if price != start else tick
            break
        tick, liquidity = reached, following
        if not remaining:
            break
    else:
        price = MIN_SQRT_RATIO + 1 if zero_for_one else MAX_SQRT_RATIO - 1
        tick = tick_at_sqrt_ratio(price)
    return Swapped(total_in, total_out, total_fee, price, tick, liquidity, steps, remaining == 0)


def least_input(state: Liquidity, zero_for_one: bool, amount_out: int) -> Swapped | None:
    """Return the swap of the least input that buys at least `amount_out`, or None where none does.

    The contract's exact-output answer may be some units too much, or too little where its price formula loses digits.
    Stretches are used up in turn, so the least input ends within the first one that reaches the output.
    """
    spent, wanted, fee_pips = 0, amount_out, state.swap_fee_pips(zero_for_one)
    for start, target, liquidity, _, _ in _stretches(state, zero_for_one):
        _, whole_in, whole_out, fee = step_exact_in(start, target, liquidity, ENDLESS, fee_pips)
        if whole_out >= wanted:
            amount_in = spent + least_step_input(start, target, liquidity, wanted, whole_in + fee, fee_pips)
            return swap(state, zero_for_one, amount_in)
        spent, wanted = spent + whole_in + fee, wanted - whole_out
    return None
