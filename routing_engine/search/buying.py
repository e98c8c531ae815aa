"""Allocations of exact-out: what has to be sold to get an amount.

An input is guessed and allocated as if it were sold. Its paths tell what input gives what is asked (`match_output`),
and that is allocated in turn. Fixed paths never give more than the best ones do, so what they ask for is never too
little. From there on the input falls to the least, as by Newton's method on a convex function.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from math import inf
from operator import attrgetter
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from routing_engine.search.allocation import Allocation
from routing_engine.search.exact_output import Flows
from routing_engine.search.matching import match_output
from routing_engine.search.query import Query, Single
from routing_engine.search.renewal import STRETCHED, begin_anew
from routing_engine.search.selling import find_part, is_just, sell, sell_as_asked
from routing_engine.search.split import Splitter

CONSIDERABLE_IMPACT = 0.02
"""Price impact of the best single path from which on several need far less than it does."""

STEPS, FINAL_STEPS = 16, 3
"""Inputs that are allocated at most, on the way to what is needed and there."""

ALIKE = 0.02
"""Relative difference of two inputs below which the same paths are taken to be best."""

FARTHEST = 4.0
"""How many times the input before the next one is at most, where paths are full and don't tell."""

UNBELIEVED = 1e3
"""How many times the input for which they were found paths may ask for: others give far more there."""

EXHAUSTED = 1e-4
"""Growth of an output, as a part of it, for an input `FARTHEST` times as large, up to which no more is to be had."""

NEARLY = 0.9
"""Part of what is asked that an input must give for it to be sold as exact-in would, where no more is to be had."""

SAME = 1e-3
"""Relative difference of two inputs below which paths are not looked for from nothing again."""

DOUBTFUL = 2e-5
"""Part of an input that paths found anew may save, from which on they are looked for."""

SAVED = 3e-5
"""Part of the cost that a further look must have saved for another to be taken."""

ANEW, ANEW_OPEN = 8, 1e-4
"""How often an input that is large for its markets is begun anew at most, and sold as exact-in would; and the part of
the input that must be open for it."""

Mask = npt.NDArray[np.bool_]


class Bought(NamedTuple):
    """An allocation that gives what is asked.

    `flows` are those of its edges; `cost` is its input and gas, valued in the input; `searched` is the input for which
    paths were last looked for from nothing.
    """

    allocation: Allocation
    flows: Flows
    cost: float
    searched: float


class Purchase:
    """One exact-out request's allocation.

    Parameters
    ----------
    query : Query
        Exact-out.
    splitter : Splitter
        Of the query.
    allowed : bool array, shape (markets,)
        Markets that may be used.
    """

    def __init__(self, query: Query, splitter: Splitter, allowed: Mask) -> None:
        self._query, self._splitter, self._allowed = query, splitter, allowed
        self._wanted, self._hops = float(query.request.amount), splitter.max_hops
        self._found: list[Bought] = []
        self._anew: Allocation | None = None
        self._open = 0.0
        """Part of the input that the bounds of the last look leave open."""

    def run(self, single: Single | None) -> list[Bought]:
        """Return allocations with the inputs that they need, the cheapest first.

        There are several because markets that are full in floats may decline in integers.

        Parameters
        ----------
        single : Single, optional
            The best single path, if one gives the amount.
        """
        if single and single.price_impact <= CONSIDERABLE_IMPACT:
            amount = float(single.route.amount_in)
            allocation = self._splitter.grow([single.get_part()], single.list_paths())
            found = self._take(allocation, amount) if is_just(single, allocation) else self._match(allocation, amount)
        else:
            amount = self._guess(single)
            found = self._approach(amount) if amount else None
        if found and found.allocation.count > 1:
            found = self._finish(found)
            if self._open > ANEW_OPEN and (single is None or single.price_impact > STRETCHED):
                self._begin_anew(found)
        return sorted(self._found, key=attrgetter("cost"))

    def _guess(self, single: Single | None) -> float:
        """Return an input to begin with; 0 where nothing gives even a small part."""
        if single:
            return single.route.amount_in * (1.0 - single.price_impact)
        part = find_part(self._query, self._allowed)
        return self._wanted / part.route.amount_out * part.route.amount_in if part else 0.0

    def _approach(self, amount: float) -> Bought | None:
        """Sell one input after the other, until one is about what its own paths ask for; None where none is."""
        found = self._sell_enough(amount)
        for _ in range(STEPS):
            if found is None or _is_alike(found.allocation.amount, found.searched, ALIKE) or self._splitter.is_over:
                break
            cheaper = self._improve(found, longer=False)
            if cheaper.cost >= found.cost * (1.0 - ALIKE):
                return cheaper
            found = cheaper
        return found

    def _sell_enough(self, amount: float) -> Bought | None:
        """Sell one input after the other, until its paths can tell which gives what is asked; None where none do."""
        given, too_much = 0.0, inf
        most, far = (NEARLY * self._wanted, 0.0), None
        for _ in range(STEPS):
            allocation = sell(self._query, self._allowed, amount)
            found = self._match(allocation, amount) if allocation else None
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
                amount *= self._wanted / given if given > self._wanted else FARTHEST
            if amount >= too_much * (1.0 - ALIKE) or self._splitter.is_over:
                break
        return self._sell_as_asked(most[1]) or far

    def _sell_as_asked(self, amount: float) -> Bought | None:
        """Sell an input, then more, as exact-in would, which takes longer and gives more; None for 0."""
        for each in (amount, amount * FARTHEST) if amount else ():
            if self._splitter.is_over:
                break
            for allocation in sell_as_asked(self._query, self._allowed, each):
                found = self._match(allocation, each)
                if found and found.flows.amount <= UNBELIEVED * each:
                    return found
        return None

    def _match(self, allocation: Allocation, searched: float) -> Bought | None:
        """Take just the input with which an allocation gives what is asked; None where no input does."""
        is_feasible = allocation.net > -inf
        matched = match_output(self._splitter.reallocate, allocation, self._wanted) if is_feasible else None
        return self._keep(allocation, matched, searched) if matched else None

    def _take(self, allocation: Allocation, amount: float) -> Bought:
        """Take an input that gives what is asked, as the exact one of a single path does."""
        return self._keep(allocation, self._splitter.reallocate(allocation, amount), amount)

    def _keep(self, allocation: Allocation, matched: Flows, searched: float) -> Bought:
        allocation = replace(allocation, slope=matched.least_price)
        bought = Bought(allocation, matched, self._splitter.value_cost(matched), searched)
        self._found.append(bought)
        return bought

    def _improve(self, bought: Bought, *, longer: bool) -> Bought:
        """Look for other paths of the same input, and for all anew where that leaves much open."""
        amount = bought.allocation.amount
        splitter = self._splitter = self._query.create_splitter(self._allowed, self._hops, bought.flows.least_price)
        others = [splitter.improve(bought.allocation.list_parts(), longer=longer)]
        self._open = _measure_gap(others[0])
        if not self._open <= DOUBTFUL and not splitter.is_over:
            if not _is_alike(amount, bought.searched, SAME):
                bought = bought._replace(searched=amount)
                self._anew = sell(self._query, self._allowed, amount)
                others += [self._anew] if self._anew and not longer else []
            is_other = self._anew and bought.allocation.paths is not self._anew.paths
            if self._anew and longer and is_other:  # from its usual paths others lead on than from those at hand
                others.append(splitter.improve(self._anew.list_parts(amount / self._anew.amount), longer=True))
                self._open = min(self._open, _measure_gap(others[-1]))
        return self._choose(bought, others, bought.searched)

    def _finish(self, bought: Bought) -> Bought:
        """Look for better and longer paths as long as that saves anything."""
        for _ in range(FINAL_STEPS):
            if self._splitter.is_over:
                break
            better = self._improve(bought, longer=True)
            saved, bought = bought.cost - better.cost, better
            if saved < SAVED * bought.cost:
                break
        return bought

    def _begin_anew(self, bought: Bought) -> None:
        """Begin anew with a part of the paths, and sell the input as exact-in would, as long as that saves anything."""
        for _ in range(ANEW):
            if self._splitter.is_over:
                break
            before, amount = bought, bought.flows.amount
            self._splitter = self._query.create_splitter(self._allowed, self._hops, bought.flows.least_price)
            bought = self._choose(bought, begin_anew(self._splitter, bought.allocation), amount)
            if before.cost - bought.cost < SAVED * bought.cost:
                bought = self._choose(bought, sell_as_asked(self._query, self._allowed, amount), amount)
            if before.cost - bought.cost < SAVED * bought.cost:
                break

    def _choose(self, bought: Bought, others: Iterable[Allocation], searched: float) -> Bought:
        """Return the cheapest of what was bought and what others cost that were found for an input."""
        found = [self._match(allocation, searched) for allocation in others]
        return min([bought, *filter(None, found)], key=attrgetter("cost"))


def _is_alike(one: float, other: float, part: float) -> bool:
    """Whether two inputs differ by less than a part of them."""
    return abs(one - other) <= part * other


def _measure_gap(allocation: Allocation) -> float:
    """Return which part of the input might be saved; infinite or NaN where markets don't take this one."""
    output = allocation.slope * allocation.amount
    return (allocation.bound - allocation.net) / output if output > 0.0 else inf
