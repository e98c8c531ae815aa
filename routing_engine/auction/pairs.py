"""Orders of one pair together: what opposite ones want of each other they exchange, and pools take the rest.

One price holds for all. With the rest at the pools, it is the average price of that rest: then what they pay for it is
what the orders lack. The rest depends on the price, and its average price on the rest, so a price is looked for that
agrees with itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from routing_engine.auction.gas import GasTerms
from routing_engine.auction.model import OrderKind
from routing_engine.auction.pools import Pools
from routing_engine.auction.prices import PriceVector
from routing_engine.auction.sides import OrderFill, PairFlows, move
from routing_engine.auction.singles import Draft
from routing_engine.model import Token
from routing_engine.route import Route

ROUNDS = 14
"""Prices tried until one agrees with itself."""

CLOSE = Fraction(1, 10**10)
"""Prices that differ by less are the same; what remains is settled in whole units."""

REPAIRS = 8
LARGEST_REPAIR = Fraction(1, 10**4)
"""By so much of itself the price may give way at most, so that pools pay what the orders take."""

SAMPLE = 1000
"""The part of the orders for which pools are asked whether they would serve a side better."""

WIDE, BISECTIONS = 1000, 160
PRECISION = 1 << 80


@dataclass(slots=True)
class PairSearch:
    """The price at which some fills of one pair clear.

    Parameters
    ----------
    pools : Pools
        What takes the rest.
    terms : GasTerms
        Gas and prices.
    vector : PriceVector
        Prices that the solution has already.
    first, second : Token
        The pair.
    """

    pools: Pools
    terms: GasTerms
    vector: PriceVector
    first: Token
    second: Token

    def clear(self, fills: Sequence[OrderFill], rate: Fraction) -> Draft | None:
        """Return the trades of as many fills as keep their limits together; None where fewer than two do.

        Parameters
        ----------
        fills : sequence of OrderFill
            Those that miss their limits leave, the farthest first.
        rate : Fraction
            Where to begin: units of the second token for one of the first.
        """
        rest = list(fills)
        while len(rest) > 1:
            found = self._agree(rest, rate)
            if found is None:
                return None
            rate, swap_gas = found
            draft, violator = self._finish(rest, rate, swap_gas)
            if violator is None:
                return draft
            del rest[violator]
        return None

    def _agree(self, fills: Sequence[OrderFill], rate: Fraction) -> tuple[Fraction, int] | None:
        """Return the price that agrees with itself, and the gas of the swap that it takes."""
        low, high, swap_gas = Fraction(0), None, 0
        for _ in range(ROUNDS):
            asked = self._ask(fills, rate, swap_gas)
            if asked is None:
                even = self._find_even(fills, rate)
                return (even, 0) if even else None
            given, swap_gas = asked
            if abs(given - rate) <= rate * CLOSE:
                break
            low, high = (max(low, rate), high) if given > rate else (low, min(high or rate, rate))
            if low and high and (even := self._find_even(fills, rate)) and low < even < high:
                low, high, is_done = self._compare_even(fills, even, (low, high))
                if is_done:
                    return even, 0
            inside = low < given and (high is None or given < high)
            rate = _shorten(given if inside or high is None else (low + high) / 2)
        return rate, swap_gas

    def _ask(self, fills: Sequence[OrderFill], rate: Fraction, swap_gas: int) -> tuple[Fraction, int] | None:
        """Return the price that pools give for the rest at a price; the same price where nothing is left to swap."""
        flows = self._move(fills, rate, swap_gas)
        if flows is None:
            return None
        if self._is_even(flows):
            return rate, 0
        route = self._swap(flows)
        return self._find_rate(route) if route else None

    def _find_rate(self, route: Route) -> tuple[Fraction, int]:
        """Return a route's average price, as units of the second token for one of the first, and its gas."""
        given = Fraction(route.amount_out, route.amount_in)
        return (given if route.token_in == self.first else 1 / given), route.gas

    def _compare_even(
        self, fills: Sequence[OrderFill], even: Fraction, ends: tuple[Fraction, Fraction]
    ) -> tuple[Fraction, Fraction, bool]:
        """Return narrower ends, and whether pools serve neither side better than the exchange without them does."""
        low, high = ends
        sold = sum(fill.amount for fill in fills if fill.order.sell == self.first and fill.order.kind is OrderKind.SELL)
        some = max(1, (sold or sum(fill.amount for fill in fills)) // SAMPLE)
        bid = self.pools.sell(self.first, self.second, some)
        ask = self.pools.sell(self.second, self.first, max(1, int(some * even)))
        if bid and self._find_rate(bid)[0] > even:
            return even, high, False
        if ask and self._find_rate(ask)[0] < even:
            return low, even, False
        return low, high, True

    def _find_even(self, fills: Sequence[OrderFill], rate: Fraction) -> Fraction | None:
        """Return the price at which nothing is left to swap; None where the orders are all of one direction."""
        if len({fill.order.sell for fill in fills}) < 2:
            return None
        low, high = rate / WIDE, rate * WIDE
        for _ in range(BISECTIONS):
            middle = _shorten((low + high) / 2)
            flows = self._move(fills, middle, 0)
            if flows is None:
                return None
            if self._is_even(flows):
                return middle
            low, high = (low, middle) if flows.spare[self.first] > 0 else (middle, high)
        return None

    def _move(self, fills: Sequence[OrderFill], rate: Fraction, swap_gas: int) -> PairFlows | None:
        prices = self.vector.fit(self.first, self.second, rate)
        return move(fills, prices, self.terms, swap_gas) if prices else None

    def _is_even(self, flows: PairFlows) -> bool:
        return min(flows.spare.values()) >= 0

    def _swap(self, flows: PairFlows) -> Route | None:
        """Return the swap of what is left of one token."""
        given, taken = (self.first, self.second) if flows.spare[self.first] > 0 else (self.second, self.first)
        return self.pools.sell(given, taken, flows.spare[given])

    def _finish(self, fills: Sequence[OrderFill], rate: Fraction, swap_gas: int) -> tuple[Draft | None, int | None]:
        """Return the trades, balanced to the unit, and the fill that must leave, if one must."""
        for _ in range(REPAIRS):
            prices = self.vector.fit(self.first, self.second, rate)
            flows = move(fills, prices, self.terms, swap_gas) if prices else None
            if prices is None or flows is None:
                break
            if self._is_even(flows):
                return Draft(flows.trades, prices, ()), flows.violator(prices)
            route = self._swap(flows)
            if route is None:
                break
            short = -flows.spare[route.token_out] - route.amount_out
            if short <= 0 and route.gas <= swap_gas:
                return Draft(flows.trades, prices, route.hops), flows.violator(prices)
            part = Fraction(max(0, short) + 1, route.amount_out)
            if part > LARGEST_REPAIR and short > 0:
                break
            swap_gas, part = max(swap_gas, route.gas), part if short > 0 else Fraction(0)
            rate = _shorten(rate * (1 - part) if route.token_out == self.second else rate * (1 + part))
        return None, None


def _shorten(rate: Fraction) -> Fraction:
    """Return a price with fewer digits: numbers would grow with each round."""
    if min(rate.numerator, rate.denominator) < PRECISION:
        return rate
    scale = min(rate.numerator, rate.denominator) // PRECISION
    return Fraction(rate.numerator // scale, rate.denominator // scale)
