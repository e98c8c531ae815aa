"""The input that has to be sold to get an amount: estimated, then approached.

A search over few hops soon tells about which input is needed. Then inputs are sold one after the other, each about what
the paths of the one before ask for.
"""

from __future__ import annotations

from math import inf

import numpy as np
import numpy.typing as npt

from routing_engine.search.paths.single import Single
from routing_engine.search.purchases.bought import Basket, Bought, is_alike
from routing_engine.search.sales.selling import find_part, is_just, sell, sell_as_asked, sell_briefly
from routing_engine.search.splits.query import Query

STEPS = 16
"""Inputs that are allocated at most."""

ALIKE = 0.1
"""Relative difference of two inputs below which the same paths are taken to be best, but for a further look."""

ESTIMATES, BRIEF_HOPS, ROUGHLY = 3, 2, 0.5
"""How often an input is estimated at most, over how many hops, and the relative difference of two that is close."""

FARTHEST = 4.0
"""How many times the input before the next one is at most, where paths are full and don't tell."""

UNBELIEVED = 1e3
"""How many times the input for which they were found paths may ask for: others give far more there."""

EXHAUSTED = 1e-4
"""Growth of an output, as a part of it, for an input `FARTHEST` times as large, up to which no more is to be had."""

NEARLY = 0.9
"""Part of what is asked that an input must give for it to be sold as exact-in would, where no more is to be had."""

Mask = npt.NDArray[np.bool_]


class NeededInput:
    """The input that one exact-out request needs.

    Parameters
    ----------
    query : Query
        Exact-out.
    allowed : bool array, shape (markets,)
        Markets that may be used.
    basket : Basket
        Which all that is found on the way is put into.
    """

    def __init__(self, query: Query, allowed: Mask, basket: Basket) -> None:
        self._query, self._allowed, self._basket = query, allowed, basket

    def estimate(self, single: Single | None) -> float:
        """Return about which input is needed; 0 where nothing gives even a small part.

        It is looked for over so few hops that it takes little of the time: over one more where no single path gives the
        amount.
        """
        amount, hops = self._guess(single), BRIEF_HOPS if single else BRIEF_HOPS + 1
        for _ in range(ESTIMATES):
            found = self._basket.match(sell_briefly(self._query, self._allowed, amount, hops), amount)
            if found is None or found.flows.amount > UNBELIEVED * amount:
                break
            before, amount = amount, found.flows.amount
            is_single = single and is_just(single, found.allocation)
            if is_single or is_alike(before, amount, ROUGHLY) or self._query.budget.is_spent():
                break
        return amount

    def _guess(self, single: Single | None) -> float:
        """Return an input to begin with; 0 where nothing gives even a small part."""
        if single:
            return single.route.amount_in * (1.0 - single.price_impact)
        part = find_part(self._query, self._allowed)
        return self._basket.wanted / part.route.amount_out * part.route.amount_in if part else 0.0

    def approach(self, found: Bought | None) -> Bought | None:
        """Sell one input after the other, until one is about what its own paths ask for."""
        for _ in range(STEPS):
            if found is None or self._query.budget.is_spent():
                break
            amount = found.flows.amount
            if is_alike(amount, found.searched, ALIKE):
                break
            other = self._basket.match(sell(self._query, self._allowed, amount), amount)
            if other is None or other.cost >= found.cost:
                break
            is_little, found = other.cost >= found.cost * (1.0 - ALIKE), other
            if is_little:
                break
        return found

    def sell_enough(self, amount: float) -> Bought | None:
        """Sell one input after the other, until its paths can tell which gives what is asked; None where none do."""
        given, too_much = 0.0, inf
        most, far = (NEARLY * self._basket.wanted, 0.0), None
        for _ in range(STEPS):
            allocation = sell(self._query, self._allowed, amount)
            found = self._basket.match(allocation, amount)
            if found and found.flows.amount <= UNBELIEVED * amount:
                return found
            far = found or far
            if allocation is None:
                too_much, amount = amount, amount / FARTHEST
            else:
                most = max(most, (allocation.net, amount))
                if given and allocation.net < given * (1.0 + EXHAUSTED):
                    break
                # An output grows by less than its input, so this part of the input is enough of a too large one. Gas
                # may take all that a small one gives.
                given = max(0.0, allocation.net)
                amount *= self._basket.wanted / given if given > self._basket.wanted else FARTHEST
            if amount >= too_much * (1.0 - ALIKE) or self._query.budget.is_spent():
                break
        return self._sell_as_asked(most[1]) or far

    def _sell_as_asked(self, amount: float) -> Bought | None:
        """Sell an input, then more, as exact-in would, which takes longer and gives more; None for 0."""
        for each in (amount, amount * FARTHEST) if amount else ():
            if self._query.budget.is_spent():
                break
            for allocation in sell_as_asked(self._query, self._allowed, each):
                found = self._basket.match(allocation, each)
                if found and found.flows.amount <= UNBELIEVED * each:
                    return found
        return None
