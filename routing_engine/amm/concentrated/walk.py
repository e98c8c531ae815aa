"""What lies ahead of a pool's price: the stretches of a swap as if each were used up, and the sums of what they take.

A swap uses stretches up one after the other, whatever its amount is, and ends within one. So sums are remembered as far
as swaps have come, and a later swap of the same state looks up where it ends. Sums are of the contract's own rounded
steps, so nothing is rounded otherwise.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import lru_cache
from operator import itemgetter
from threading import Lock
from typing import Protocol, TypeAlias

from routing_engine.amm.concentrated.swap_math import ENDLESS, step_exact_in
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

REMEMBERED = 512
"""Directions of pools of which sums are kept, those that were asked last."""


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


class Walk:
    """The stretches ahead of one state in one direction, found as far as amounts have asked for.

    Threads may share it: sums are only appended to, those of `spent` last.

    Parameters
    ----------
    state : Liquidity
        Read, never changed.
    zero_for_one : bool
        The price falls.
    """

    def __init__(self, state: Liquidity, zero_for_one: bool) -> None:
        self._ahead, self._fee_pips = list_stretches(state, zero_for_one), state.swap_fee_pips(zero_for_one)
        self._lock = Lock()
        self.stretches = list[Stretch]()
        self.fees, self.given, self.spent = [0], [0], [0]
        """Fees, outputs and inputs, fees included, of the first so many stretches together."""

    def count_spent(self, amount_in: int) -> int:
        """Count the stretches that an input uses up."""
        while self.spent[-1] < amount_in and self._look_further():
            pass
        place = bisect_left(self.spent, amount_in)
        return place if place < len(self.spent) and self.spent[place] == amount_in else place - 1

    def find_giving(self, amount_out: int) -> int | None:
        """Return the first stretch by whose end so much is given; None where all together give less."""
        while self.given[-1] < amount_out and self._look_further():
            pass
        with self._lock:  # or another thread could have appended what is given, and not yet what is spent
            place = bisect_left(self.given, amount_out)
            return place - 1 if place < len(self.given) else None

    def _look_further(self) -> bool:
        """Find one stretch more; tell whether there is any."""
        with self._lock:
            stretch = next(self._ahead, None)
            if stretch is None:
                return False
            start, target, active, _, _ = stretch
            _, amount_in, amount_out, fee = step_exact_in(start, target, active, ENDLESS, self._fee_pips)
            self.stretches.append(stretch)
            self.fees.append(self.fees[-1] + fee)
            self.given.append(self.given[-1] + amount_out)
            self.spent.append(self.spent[-1] + amount_in + fee)
            return True


class _Same:
    """A state, equal to itself alone: to compare all its ticks would take longer than to walk them."""

    __slots__ = ("state",)

    def __init__(self, state: Liquidity) -> None:
        self.state = state

    def __hash__(self) -> int:
        return id(self.state)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.state is other.state


def recall_walk(state: Liquidity, zero_for_one: bool) -> Walk:
    """Return what is known of the way ahead of a state."""
    return _recall(_Same(state), zero_for_one)


@lru_cache(maxsize=REMEMBERED)
def _recall(same: _Same, zero_for_one: bool) -> Walk:
    return Walk(same.state, zero_for_one)


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


def list_stretches(state: Liquidity, zero_for_one: bool) -> Iterator[Stretch]:
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
