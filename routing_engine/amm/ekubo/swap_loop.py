"""The swap loop of Ekubo (EVM, versions 2 and 3): ``Core.swap`` of an exact input without a price limit of its own.

The contract looks for the next initialised tick word by word; its ``skipAhead`` lets one look reach over many words.
Here, as in Ekubo's own quoter, it always reaches the next initialised tick: no amount is rounded at a word's edge.
"""

from __future__ import annotations

from bisect import bisect_right
from operator import itemgetter
from typing import NamedTuple, Protocol, TypeAlias

from routing_engine.amm.ekubo.ticks import (
    MAX_SQRT_RATIO,
    MAX_TICK,
    MIN_SQRT_RATIO,
    MIN_TICK,
    Q128,
    round_ratio,
    sqrt_ratio_at_tick,
    tick_at_sqrt_ratio,
)
from routing_engine.fixed_point import div_up, mul_div_up

Tick: TypeAlias = tuple[int, int]
"""Index, and the liquidity that becomes active when the price rises through it (negative: ceases to be)."""

MAX_AMOUNT = 2**127 - 1
"""The largest amount ``swap`` takes: an int128."""
FEE_SCALE = 1 << 64
MAX_RATIO = (1 << 192) - 1


class Liquidity(Protocol):
    """The state of a pool that the loop reads."""

    @property
    def sqrt_ratio(self) -> int:
        """Square root of token 1 per token 0, 64.128."""
        ...

    @property
    def tick(self) -> int:
        """Tick of the price, or one less after a fall exactly onto an initialised tick."""
        ...

    @property
    def liquidity(self) -> int:
        """Liquidity active at `tick`."""
        ...

    @property
    def ticks(self) -> tuple[Tick, ...]:
        """All initialised ticks, in rising order; empty with liquidity over the whole range."""
        ...

    @property
    def fee_x64(self) -> int:
        """Share of the input that liquidity providers keep, 0.64."""
        ...


class Swapped(NamedTuple):
    """What a swap did, and the state it leaves."""

    amount_in: int
    """Input consumed, with the fee."""
    amount_out: int
    fee_amount: int
    sqrt_ratio: int
    tick: int
    liquidity: int
    crossed: int
    """Initialised ticks on the way."""
    filled: bool
    """Whether the whole input was taken; if not, the price stands at its bound."""


class _Step(NamedTuple):
    sqrt_ratio: int
    amount_in: int
    amount_out: int
    fee_amount: int


_index = itemgetter(0)


def amount0_delta(lower: int, upper: int, liquidity: int, *, up: bool) -> int:
    """Token 0 between two square-root prices: ``amount0Delta``, which rounds twice."""
    if up:
        return div_up(mul_div_up(liquidity << 128, upper - lower, upper), lower)
    return ((liquidity << 128) * (upper - lower) // upper) // lower


def amount1_delta(lower: int, upper: int, liquidity: int, *, up: bool) -> int:
    """Token 1 between two square-root prices: ``amount1Delta``."""
    return mul_div_up(upper - lower, liquidity, Q128) if up else liquidity * (upper - lower) >> 128


def next_ratio_from_amount0(sqrt_ratio: int, liquidity: int, amount: int) -> int:
    """Price after `amount` of token 0 came in, rounded towards the start: ``nextSqrtRatioFromAmount0``."""
    if amount == 0:
        return sqrt_ratio
    shifted = liquidity << 128
    return round_ratio(div_up(shifted, shifted // sqrt_ratio + amount), up=True)


def next_ratio_from_amount1(sqrt_ratio: int, liquidity: int, amount: int) -> int:
    """Price after `amount` of token 1 came in, rounded towards the start: ``nextSqrtRatioFromAmount1``."""
    return round_ratio(min(sqrt_ratio + (amount << 128) // liquidity, MAX_RATIO), up=False)


def compute_fee(amount: int, fee_x64: int) -> int:
    """Fee of an input, rounded up: ``computeFee``."""
    return amount * fee_x64 + FEE_SCALE - 1 >> 64


def amount_before_fee(amount: int, fee_x64: int) -> int:
    """Least input of which `amount` is left after the fee: ``amountBeforeFee``."""
    return div_up(amount << 64, FEE_SCALE - fee_x64)


def swap(state: Liquidity, zero_for_one: bool, amount: int) -> Swapped:
    """Walk the price until an input is used up or the range of prices ends.

    Parameters
    ----------
    state : Liquidity
        Read, never changed.
    zero_for_one : bool
        Sell token 0, so that the price falls; else sell token 1.
    amount : int
        From 1 to `MAX_AMOUNT`.

    Returns
    -------
    Swapped
        Equal to the contract's amounts, price, tick and liquidity afterwards.
    """
    price, tick, liquidity, ticks = state.sqrt_ratio, state.tick, state.liquidity, state.ticks
    limit, last = (MIN_SQRT_RATIO, MIN_TICK) if zero_for_one else (MAX_SQRT_RATIO, MAX_TICK)
    way, remaining = -1 if zero_for_one else 1, amount
    position = bisect_right(ticks, tick, key=_index) - zero_for_one
    total_out = total_fee = crossed = 0
    while remaining and price != limit:
        upcoming = ticks[position] if 0 <= position < len(ticks) else None
        stop = upcoming[0] if upcoming else last
        boundary, start = sqrt_ratio_at_tick(stop), price
        price, taken, given, fee = _step(start, boundary, liquidity, remaining, state.fee_x64, zero_for_one)
        remaining -= taken
        total_out += given
        total_fee += fee
        if price == boundary:
            tick = stop - zero_for_one
            if upcoming:
                liquidity += way * upcoming[1]
                position += way
                crossed += 1
        elif price != start:
            tick = tick_at_sqrt_ratio(price)
    return Swapped(amount - remaining, total_out, total_fee, price, tick, liquidity, crossed, remaining == 0)


def _step(start: int, boundary: int, liquidity: int, amount: int, fee_x64: int, zero_for_one: bool) -> _Step:
    """Move the price towards a boundary: one round of the loop in ``Core.swap``."""
    if liquidity == 0:
        return _Step(boundary, 0, 0, 0)
    net = amount - compute_fee(amount, fee_x64)
    move = next_ratio_from_amount0 if zero_for_one else next_ratio_from_amount1
    after = move(start, liquidity, net)
    sold, bought = (amount0_delta, amount1_delta) if zero_for_one else (amount1_delta, amount0_delta)
    if after < boundary if zero_for_one else after > boundary:
        lower, upper = (boundary, start) if zero_for_one else (start, boundary)
        needed = sold(lower, upper, liquidity, up=True)
        taken = amount_before_fee(needed, fee_x64)
        return _Step(boundary, taken, bought(lower, upper, liquidity, up=False), taken - needed)
    if after == start:
        # Too little to move the price: all of it goes to the liquidity providers.
        return _Step(start, amount, 0, amount)
    lower, upper = (after, start) if zero_for_one else (start, after)
    return _Step(after, amount, bought(lower, upper, liquidity, up=False), amount - net)
