"""Allocations of exact-out: what has to be sold to get an amount.

An input is estimated and allocated as if it were sold. Its paths tell what input gives what is asked (`match_output`),
and there better ones are looked for in turn. Fixed paths never give more than the best ones do, so what they ask for is
never too little. From there on the input falls to the least, as by Newton's method on a convex function.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf
from operator import attrgetter

import numpy as np
import numpy.typing as npt

from routing_engine.graph.graph import Graph
from routing_engine.request import MAX_SPLITS
from routing_engine.search.allocations.allocation import Allocation
from routing_engine.search.allocations.exact_output import Flows
from routing_engine.search.allocations.start_price import find_start_price
from routing_engine.search.paths.single import Single
from routing_engine.search.purchases.bought import Basket, Bought, is_alike, measure_gap
from routing_engine.search.purchases.bought_over_few import buy_over_few, sell_more
from routing_engine.search.purchases.needed_input import ALIKE, NeededInput
from routing_engine.search.sales.selling import is_just, sell, sell_as_asked
from routing_engine.search.splits.query import Query
from routing_engine.search.splits.renewal import STRETCHED, begin_anew
from routing_engine.search.splits.split import Splitter

CONSIDERABLE_IMPACT = 0.1
"""Price impact of the best single path from which on several need far less than it does."""

LOWER, LOOSER = 1e-3, 5e-7
"""Part of the rate that the price of a single path's start may be less, for it to be taken for the rate; and part of
the cost by which that may make a bound looser.
"""

LOOKS, LONGER_LOOKS = 16, 3
"""How often better paths are looked for at most at the input that is needed, and how often longer ones."""

DOUBTFUL, SAME = 1e-4, 1e-3
"""Part of the input that may be saved from which on it is sold from nothing again, unless it differs by no more than
this part from the one for which that was done, or saved no more than that."""

FEW, NEARBY, AGAIN = 16, 0.03, 4
"""Up to how many paths are the best for an input that differs by no more than this part, too; and how often it is sold
from nothing again at most."""

SAVED, MUCH_SAVED, PROVEN = 3e-5, 0.02, 3e-6
"""Part of the cost that a further look must have saved for another to be taken; and for one over usual hops; and part
of the input up to which none is taken if no more is open."""

ANEW, ANEW_OPEN = 8, 5e-4
"""How often an input that is large for its markets is begun anew at most, and sold as exact-in would; and the part of
the input that must be open for it."""

WIDE_OPEN, NEARLY_ALL, NOTICEABLE = 5e-3, 0.9, 1e-5
"""Part of the input that must be open for what the bound leaves of it to be sold as exact-in would; the most that is
taken off it; and the part that must be open for paths to be spared."""

CHEAPER_GAS, CHEAP = (0.1, 0.01), 0.003
"""What gas is valued at, one after the other, as parts of its value by reference prices, where at the margin it is
worth less than the other part."""

Mask = npt.NDArray[np.bool_]


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
        self._basket, self._hops = Basket(splitter), splitter.problem.max_hops
        self._open = 0.0
        """Part of the input that the bounds of the last look leave open; infinite before any."""

    @property
    def open(self) -> float:
        """Part of the input that the bounds of the last look leave open; infinite where they speak of fewer hops."""
        return self._open

    def run(self, single: Single | None) -> list[Bought]:
        """Return allocations with the inputs that they need, the cheapest first.

        There are several because markets that are full in floats may decline in integers.

        Parameters
        ----------
        single : Single, optional
            The best single path, if one gives the amount.
        """
        found = self._begin(single)
        self._open = measure_gap(found.allocation) if found else inf
        if found and found.allocation.count > 1:
            is_large = single is None or single.price_impact > STRETCHED
            found = self._finish(found, is_large=is_large)
            if self._open > ANEW_OPEN and is_large:
                self._begin_anew(found)
            else:
                self._sell_again(found)
            if WIDE_OPEN < self._open < inf and not self._splitter.is_over:
                self._sell_bound(self._basket.list_cheapest()[0])
            buy_over_few(self._query, self._allowed, self._basket, self._hops)
            if self._open > NOTICEABLE and not self._splitter.is_over:
                self._basket.spare_paths()
        elif found and self._open > DOUBTFUL:
            amount = found.flows.amount
            self._basket.choose(found, sell_as_asked(self._query, self._allowed, amount), amount)
        return self._basket.list_cheapest()

    def _begin(self, single: Single | None) -> Bought | None:
        """Sell about the input that several paths need: that of the best single path unless theirs is far less."""
        needed = NeededInput(self._query, self._allowed, self._basket)
        if single and single.price_impact <= CONSIDERABLE_IMPACT:
            return self._begin_with(single)
        amount = needed.estimate(single)
        if single and amount >= single.route.amount_in * (1.0 - ALIKE):
            found = self._begin_with(single)
        else:
            found = needed.sell_enough(amount) if amount else None
            if amount and not found and 1 < self._query.request.max_splits < MAX_SPLITS:
                found = sell_more(self._query, self._allowed, self._basket, amount)
            found = needed.approach(found)
            if single and (found is None or is_just(single, found.allocation)):  # what was found for less says nothing
                found = self._begin_with(single)
        return needed.approach(found) if found and found.allocation.count > 1 else found

    def _begin_with(self, single: Single) -> Bought | None:
        """Divide the input of the best single path over more paths, and find what these need."""
        (edges, amount), gross = single.get_part(), float(single.route.amount_in_gross)
        whole = max(gross - self._splitter.least_gas, float(amount))
        start = Allocation.from_parts([(edges, amount)], 1, len(edges))
        alone = self._splitter.reallocate(start, float(amount))
        if alone.edges and alone.least_price > 0.0:
            rate = min(alone.least_price, self._basket.wanted / gross)
            at_whole = self._splitter.reallocate(start, whole) if whole > amount else alone
            lower = _find_lower_rate(single, self._splitter.graph, at_whole) / rate if at_whole.edges else 0.0
            is_close = 1.0 - LOWER < lower < 1.0 and (whole - amount) * (1.0 - lower) < LOOSER * gross
            self._splitter = self._splitter.value_input_at(rate * lower if is_close else rate)
        allocation = self._splitter.grow([(edges, whole)], single.list_paths())
        if allocation.net == -inf:  # a market takes no more than the path needs
            allocation = self._splitter.grow([(edges, float(amount))], single.list_paths())
        if is_just(single, allocation) and alone.edges:
            return self._basket.keep(Bought(replace(allocation, slope=alone.least_price), alone, gross, gross))
        return self._basket.match(allocation, whole)

    def _finish(self, bought: Bought, *, is_large: bool) -> Bought:
        """Look for better paths, and for longer ones, as long as that saves anything; of large amounts for usual first.

        What gas is worth there differs from what it was worth to the search before.
        """
        longer, left = not is_large, LONGER_LOOKS
        for _ in range(LOOKS):
            if self._splitter.is_over or not left:
                break
            before = bought
            self._splitter = self._query.create_splitter(self._allowed, self._hops, bought.flows.least_price)
            better = self._splitter.improve(bought.allocation.list_parts(), longer=longer, is_judged=longer)
            self._open = measure_gap(better) if longer else self._open
            bought = self._basket.choose(bought, [better], bought.searched)
            saved = (before.cost - bought.cost) / bought.cost
            if longer:
                left = left - 1 if saved >= SAVED and self._open > PROVEN else 0
            longer |= saved < MUCH_SAVED
        return bought

    def _sell_again(self, bought: Bought) -> None:
        """Sell the input that is needed as exact-in would, and look for longer paths from there, while that saves much.

        Not where so little is open, nor where about this input was sold already. Few paths that are best for an input
        are best for one nearby, too.
        """
        for _ in range(AGAIN):
            amount, same = bought.flows.amount, NEARBY if bought.allocation.count <= FEW else SAME
            if self._open <= DOUBTFUL or is_alike(amount, bought.searched, same) or self._splitter.is_over:
                break
            found = self._basket.match(sell(self._query, self._allowed, amount), amount)
            if found is None or found.allocation.count == 1:
                break
            found = self._finish(found, is_large=False)
            if found.cost >= bought.cost * (1.0 - SAME):
                break
            bought = found

    def _sell_bound(self, bought: Bought) -> None:
        """Sell as exact-in would what might be enough, then what is needed, while that saves any.

        What is best for less may be lost among paths for more.
        """
        less = bought.flows.amount * (1.0 - min(self._open, NEARLY_ALL))
        bought = self._basket.choose(bought, sell_as_asked(self._query, self._allowed, less), less)
        for _ in range(AGAIN):
            if self._splitter.is_over:
                break
            before, amount = bought, bought.flows.amount
            bought = self._basket.choose(bought, sell_as_asked(self._query, self._allowed, amount), amount)
            if bought.cost >= before.cost * (1.0 - SAVED):
                break

    def _begin_anew(self, bought: Bought) -> None:
        """Begin anew with a part of the paths, and sell the input as exact-in would, as long as that saves anything."""
        bought = self._lower_gas(bought)
        for _ in range(ANEW):
            if self._splitter.is_over:
                break
            before, amount = bought, bought.flows.amount
            self._splitter = self._query.create_splitter(self._allowed, self._hops, bought.flows.least_price)
            bought = self._basket.choose(bought, begin_anew(self._splitter, bought.allocation, is_judged=False), amount)
            if before.cost - bought.cost < SAVED * bought.cost:
                bought = self._basket.choose(bought, sell_as_asked(self._query, self._allowed, amount), amount)
            if before.cost - bought.cost < SAVED * bought.cost:
                break

    def _lower_gas(self, bought: Bought) -> Bought:
        """Sell the input with gas that becomes cheaper by steps, where it is worth next to nothing at the margin.

        With cheap gas from the start many small paths come first, and keep out those that bring most.
        """
        graph, problem, amount = self._splitter.graph, self._splitter.problem, bought.flows.amount
        start, end = graph.units[problem.start], graph.units[problem.end]
        reference = float(end / start) if start > 0.0 else 0.0  # of a token without a price gas has no value
        if not 0.0 < bought.flows.least_price < CHEAP * reference:
            return bought
        dear, *cheaper = [part * reference for part in CHEAPER_GAS]
        found = sell(self._query, self._allowed, amount, dear)
        for rate in (*cheaper, bought.flows.least_price):
            if found is None or found.net == -inf or self._splitter.is_over:
                return bought
            splitter = self._query.create_splitter(self._allowed, self._hops, rate)
            found = splitter.improve(found.list_parts(), longer=True)
        cheaper_one = self._basket.match(found, amount)
        return self._finish(min(bought, cheaper_one or bought, key=attrgetter("cost")), is_large=False)


def _find_lower_rate(single: Single, graph: Graph, flows: Flows) -> float:
    """Return a rate at which a single path earns nothing by leaving input."""
    gas_cost, total = single.route.gas_cost_in * flows.least_price, single.route.gas or 1
    return find_start_price(graph, flows, [gas_cost * hop.gas / total for hop in single.route.hops])
