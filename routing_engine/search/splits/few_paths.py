"""Which paths an amount is divided over, where fewer may be used than would be best.

Paths are added to an allocation until no more may be used. What was added first is then what is used, though of all
paths that are worth something others may be the best few. So the amount is first divided over more paths than may be
used. Of these the one without which most is left is dropped, one after the other, the amount allocated anew each time.
Then paths are exchanged: without one of those in use, or with all of them, further ones are added and as many dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from math import inf
from operator import attrgetter, itemgetter

import numpy as np

from routing_engine.request import MAX_SPLITS
from routing_engine.search.allocations.allocation import Allocation, Part, choose_better
from routing_engine.search.allocations.exact_output import Flows
from routing_engine.search.allocations.steps_entered import count_gas
from routing_engine.search.splits.split import Splitter

OPEN = 1e-6
"""Relative gap to the bound from which on other paths are looked for."""

MORE, MANY = 3, 32
"""Paths more than may be used that an exchange adds, and paths that a first division may have."""

VERY_FEW = 4
"""Up to so many paths, a first division has no more than that. Of more, where much is open, one of the whole amount has
as many as any request may use: they are dropped in one order, whatever the limit is, so a larger limit keeps more.
"""

DROPPED_TOGETHER, SPARE, FEW_MORE = 4, 1.5, 4
"""One in so many paths, the smallest, are dropped together where there are more than so many times what may be used and
a few more."""

TRIED = 6
"""How many paths are dropped on trial each time, the smallest first."""

TRIALS = 240
"""Allocations that are tried each time known paths are swapped for those in use."""

SMALLER, WIDE_OPEN = (0.7, 0.4), 5e-3
"""Parts of an amount for which paths are chosen too, and the relative gap from which on that is done."""

FEW, ROUNDS, GAIN = 6, 6, 1e-7
"""Of how many paths each is exchanged, how often that is done, and the part of the net output that it must gain."""


class FewPaths:
    """The choice of paths for one request's amount.

    Parameters
    ----------
    splitter : Splitter
        Of the request.
    """

    def __init__(self, splitter: Splitter) -> None:
        self._splitter, self._limit = splitter, splitter.request.max_splits
        self._most, self._is_full = max(MANY, 2 * self._limit), False
        self._known: dict[tuple[int, ...], float] = {}
        """All paths that were found on the way, each with the most that it was given."""

    def choose(self, found: Allocation, starts: Sequence[Sequence[Part]]) -> Allocation:
        """Return an allocation to other paths than those found, without a bound, if it nets more.

        Parameters
        ----------
        starts : sequence of sequences of Part
            Paths, each time of the whole amount, from which to look for more than may be used.
        """
        exchanged = best = self._exchange(found)
        is_open, most = found.is_open(WIDE_OPEN), self._most
        if is_open and self._limit > VERY_FEW:
            most = MAX_SPLITS
        for start, part in product(starts, (1.0, *SMALLER) if is_open else (1.0,)):
            few = self._drop_to_limit(self._divide([(edges, taken * part) for edges, taken in start], most))
            most = self._most
            if few.net > -inf and part < 1.0:
                few = self._allocate(few.list_parts(), found.amount)
            best = max(best, self._exchange(few), key=attrgetter("net"))
        best = self._swap(best)
        return max(best, self._swap(exchanged), key=attrgetter("net")) if self._is_full else best

    def _swap(self, best: Allocation) -> Allocation:
        """Let known paths take the places of those in use, as long as that gains something."""
        known = sorted(self._known, key=self._known.__getitem__, reverse=True)[: TRIALS // self._limit]
        for _ in range(ROUNDS):
            before, parts, amount = best, best.list_parts(), best.amount
            used = {(*edges,) for edges, _ in parts}
            for place, (_, part) in enumerate(parts):
                rest = parts[:place] + parts[place + 1 :]
                for path in known:
                    if path not in used:
                        trial = self._allocate([*rest, (path, part)], amount)
                        best = max(best, trial, key=attrgetter("net"))
            if best.net <= before.net + GAIN * abs(before.net) or self._splitter.is_over:
                break
        return best

    def _exchange(self, best: Allocation) -> Allocation:
        """Exchange paths as long as that gains something."""
        for _ in range(ROUNDS):
            before = best
            best = self._add_and_drop(best, best.list_parts()) if best.net > -inf else best
            if before.net == best.net and best.count <= FEW:
                best = self._exchange_each(best)
            if best.net <= before.net or self._splitter.is_over:
                break
        return best

    def _exchange_each(self, best: Allocation) -> Allocation:
        """Exchange one path after the other."""
        parts, amount = best.list_parts(), best.amount
        for place in range(len(parts)):
            rest = parts[:place] + parts[place + 1 :]
            taken = sum(map(itemgetter(1), rest))
            if taken > 0.0 and not self._splitter.is_over:
                best = self._add_and_drop(best, [(edges, part * amount / taken) for edges, part in rest])
        return best

    def _add_and_drop(self, best: Allocation, start: Sequence[Part]) -> Allocation:
        """Return an allocation that begins with some paths, if it gains enough, or the best so far."""
        other = self._drop_to_limit(self._divide(start, self._limit + MORE))
        return other if other.net > best.net + GAIN * abs(best.net) else best

    def _divide(self, start: Sequence[Part], count: int) -> Allocation:
        """Divide the amount over so many paths at most."""
        wide = self._splitter.with_capacity(min(count, MAX_SPLITS))
        found = wide.improve(start, longer=True, is_judged=False)
        for edges, part in found.list_parts() if found.net > -inf else ():
            self._known[(*edges,)] = max(part, self._known.get((*edges,), 0.0))
        return found

    def _drop_to_limit(self, allocation: Allocation) -> Allocation:
        """Drop paths until no more are left than may be used; infeasible where others can't take what they took."""
        while allocation.net > -inf and allocation.count > self._limit:
            allocation = self._drop(allocation)
        return allocation

    def _drop(self, allocation: Allocation) -> Allocation:
        """Drop one path, or of very many the smallest together."""
        parts, amount, best = sorted(allocation.list_parts(), key=itemgetter(1)), allocation.amount, allocation
        if len(parts) > SPARE * self._limit + FEW_MORE:
            best = self._allocate(parts[len(parts) // DROPPED_TOGETHER :], amount)
            if best.net > -inf:
                return best
        best = replace(best, net=-inf)
        for place in range(len(parts)):
            if self._splitter.is_over or (place >= TRIED and best.net > -inf):
                break
            best = max(best, self._allocate(parts[:place] + parts[place + 1 :], amount), key=attrgetter("net"))
        return best

    def _allocate(self, parts: Sequence[Part], amount: float) -> Allocation:
        """Allocate an amount to just these paths; what they lack goes to all alike, or else to the largest.

        Where all that leads to the end is full, no path can be given more of the same. The largest gives least for it.
        """
        spread = self._allocate_from(parts, amount)
        if spread.net > -inf:
            return spread
        self._is_full = True
        *others, (edges, part) = parts
        return self._allocate_from([*others, (edges, part + amount - sum(map(itemgetter(1), parts)))], amount)

    def _allocate_from(self, parts: Sequence[Part], amount: float) -> Allocation:
        """Allocate an amount to just these paths, beginning with their proportions."""
        hops = max(self._splitter.request.max_hops, *[len(edges) for edges, _ in parts])
        allocation = Allocation.from_parts(parts, len(parts), hops)
        flows = self._splitter.reallocate(allocation, amount)
        return replace(allocation, net=_value_net(self._splitter, flows) if flows.edges else -inf, max_hops=hops)


def _value_net(splitter: Splitter, flows: Flows) -> float:
    """Return an output less all gas."""
    rows = splitter.graph.forward.edges[flows.edges]
    gas = count_gas(rows, splitter.graph.pieces, np.array(flows.flows)) @ splitter.problem.gas[rows["chain"]]
    return flows.value - float(gas)


def choose_few_paths(splitter: Splitter, found: Allocation, *starts: Sequence[Part]) -> Allocation:
    """Return an allocation to other paths where no more may be used and others net more, else the one found.

    Parameters
    ----------
    starts : sequence of Part
        Each time paths that take the whole amount, from which to look for others.
    """
    limit = splitter.request.max_splits
    is_limited = 1 < found.count == limit < MAX_SPLITS and found.net > -inf
    if not is_limited or not found.is_open(OPEN) or splitter.is_over:
        return found
    best = FewPaths(splitter).choose(found, starts)
    if best.net <= found.net:
        return found
    judged = splitter.improve(best.list_parts(), longer=True)
    return choose_better(found, judged) if judged.max_hops == found.max_hops else judged
