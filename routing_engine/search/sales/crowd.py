"""Allocations to which more paths would add than may be used.

Paths are added until a hundred are in use. Those that come first are not those that are best when a hundred share the
amount, and a bound tells little then: it speaks of any number of paths, so it stays open whatever is tried. So the
amount is divided over more paths, and the largest of them are kept. From the largest of these the next division begins,
where much is open as long as that gains.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from operator import itemgetter

from routing_engine.kernels.arrays import SplitProblem
from routing_engine.request import MAX_SPLITS
from routing_engine.search.allocations.allocation import Allocation, Part, choose_better
from routing_engine.search.allocations.gas_free import begin_with_gas
from routing_engine.search.splits.split import Splitter

WIDE, STEPS = 130, 2
"""Paths over which an amount is divided first, and in how many steps those beyond what may be used are dropped."""

MANY_EDGES = 131_072
"""Edges of a market from which on to begin anew in many ways takes seconds."""

STRETCHED, LARGE = 0.5, 0.2
"""Price impacts of the best single path: from the first on, what was added first decides too much for this; from the
second on, a division also begins as if gas cost something."""

MARKET_PARTS = (1e-4,)
"""What a market costs then, as parts of the output."""

KEPT, ROUNDS, GAIN = 80, 6, 1e-5
"""Paths that the next division begins with, how often that is done at most, and the part of the output that each must
have gained for another."""

WIDE_OPEN, OPEN = 5e-3, 1e-4
"""Relative gaps from which on it is done more than once, and from which on a smaller market's division is widened."""


class Crowd:
    """Divisions of one request over more paths than may be used.

    Parameters
    ----------
    splitter : Splitter
        Of the request.
    price_impact : float
        Of the best single path.
    """

    def __init__(self, splitter: Splitter, price_impact: float) -> None:
        self._splitter, self._price_impact, self._most = splitter, price_impact, splitter.request.max_splits
        self._wide = splitter.with_capacity(WIDE)

    def has_formed(self, allocation: Allocation) -> bool:
        """Whether as many paths are in use as may be, where gas is free, and more should be looked for."""
        is_full, is_large = allocation.count == self._most == MAX_SPLITS, self._splitter.graph.source.size > MANY_EDGES
        return is_full and is_large and self._splitter.is_free and self._price_impact <= STRETCHED

    def divide(self, first: Allocation, starts: Sequence[Part]) -> list[Allocation]:
        """Return allocations, the best first, from one that is full; and that one.

        Parameters
        ----------
        starts : sequence of Part
            What it began with.
        """
        splitter = self._splitter
        best = choose_better(first, self._keep_most(self._wide.improve(first.list_parts(), is_judged=False)))
        if self._price_impact > LARGE:
            found = begin_with_gas(
                self._improve, starts, first, splitter.problem, lambda: splitter.is_over, MARKET_PARTS
            )
            best = choose_better(best, self._keep_most(found))
        may_be_longer = best.max_hops < splitter.request.max_hops
        for turn in range(ROUNDS):
            is_first = may_be_longer and turn == 0
            if splitter.is_over or not (is_first or best.is_open(WIDE_OPEN)):
                break
            wide, before = self._wide.improve(_keep(best, KEPT), longer=True, is_judged=is_first), best
            if is_first:  # what it proves is proven of longer paths
                before = replace(best, bound=wide.bound, slope=wide.slope, max_hops=wide.max_hops)
            best = choose_better(before, self._keep_most(wide))
            if not is_first and best.net <= before.net * (1.0 + GAIN):
                break
        return [best, first]

    def widen(self, found: Allocation) -> Allocation:
        """Return an allocation to the largest of more paths than may be used, where all are in use and it is better."""
        is_full = found.count == self._most == MAX_SPLITS
        if not is_full or not found.is_open(OPEN) or self._splitter.is_over:
            return found
        return choose_better(
            found, self._keep_most(self._wide.improve(found.list_parts(), longer=True, is_judged=False))
        )

    def _improve(self, starts: Sequence[Part], problem: SplitProblem, *, is_judged: bool = True) -> Allocation:
        return self._wide.with_problem(problem).improve(starts, is_judged=is_judged)

    def _keep_most(self, allocation: Allocation) -> Allocation:
        """Return an allocation to the largest paths, as many as may be used, with the same bound."""
        left, over = allocation, allocation.count - self._most
        for step in range(STEPS) if over > 0 else ():
            parts = _keep(left, allocation.count - over * (step + 1) // STEPS)
            left = self._splitter.with_capacity(len(parts)).improve(parts, is_judged=False)
        return replace(allocation, paths=left.paths, count=left.count, net=left.net)


def _keep(allocation: Allocation, count: int) -> list[Part]:
    """Return the largest paths, with the amount of all."""
    parts = sorted(allocation.list_parts(), key=itemgetter(1), reverse=True)[:count]
    scale = allocation.amount / sum(map(itemgetter(1), parts))
    return [(edges, part * scale) for edges, part in parts]
