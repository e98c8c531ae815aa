"""Allocations found by steps: from an input that a few paths can take, to the one that is needed.

Which paths are best depends on the input. Of a large exact-out trade a single path needs far more than several do, and
markets that are full at one input are in the way at another. So the input moves on by steps, and paths are looked for
at each.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from routing_engine.route import Side
from routing_engine.search.allocation import Allocation, Part, choose_better
from routing_engine.search.split import DOUBTFUL, Splitter

CONSIDERABLE_IMPACT = 0.02
"""Price impact of a single path from which on exact-out begins at an input at which there would be none."""

STEPS, FINAL_STEPS = 24, 3
"""Inputs at which an allocation is improved at most, on the way and at what is needed."""

ALIKE = 0.02
"""Relative difference of two inputs below which the same paths are taken to be best."""

SAVED = 1e-6
"""Part of the input that a further look at what is needed must have saved for another to be taken."""

NO_STEP = 1e-4
"""Relative change of an input that is too small for a step."""

FARTHEST = 4.0
"""How many times the input before the next one is at most: paths are found on the way."""

EXHAUSTED = 1e-4
"""Growth of an output, as a part of it, for a further input as large as that before, from which on no more is to be
had."""


class Approach:
    """One request's allocation, approached by steps.

    Parameters
    ----------
    splitter : Splitter
        Of the request.
    starts : sequence of Part
        Paths to begin with, and inputs that they can take.
    others : sequence of paths
        As of `Splitter.grow`.
    """

    def __init__(self, splitter: Splitter, starts: Sequence[Part], others: Sequence[Sequence[int]]) -> None:
        self._splitter, self._starts, self._others = splitter, starts, others
        self._is_exact_out = splitter.request.side == Side.EXACT_OUT

    def run(self) -> Allocation:
        """Return an allocation of the request's amount; for exact-out of an input that gives about as much."""
        allocation = self._splitter.grow(self._starts, self._others)
        for _ in range(STEPS):
            if allocation.net == -inf or self._splitter.is_over:
                break
            scale = self._find_scale(allocation)
            if scale is None or abs(scale - 1.0) <= (ALIKE if self._is_exact_out else 0.0):
                break
            nearer = self._move_on(allocation, min(max(scale, 1.0 / FARTHEST), FARTHEST))
            if nearer is None:
                break
            allocation = nearer
        return self._improve_at_match(allocation) if self._is_exact_out else allocation

    def _find_scale(self, allocation: Allocation) -> float | None:
        """Return how many times an allocation's input is needed, as far as its paths know; None where no more helps."""
        amount, wanted = allocation.amount, float(self._splitter.request.amount)
        if not self._is_exact_out:
            return wanted / amount
        flows = self._splitter.reallocate(allocation, amount)
        if not flows.edges or (flows.value < wanted and flows.price * amount < EXHAUSTED * flows.value):
            return None
        matched = self._splitter.match_output(allocation.copy())
        return FARTHEST if matched is None else matched.amount / amount

    def _move_on(self, allocation: Allocation, scale: float) -> Allocation | None:
        """Improve an allocation at another input; where its paths are full, with others or at one less far away."""
        while abs(scale - 1.0) > NO_STEP:
            moved = self._improve_at(allocation, scale)
            if moved.net > -inf:
                return moved
            opened = self._splitter.open_up(allocation, scale)
            if opened.count > allocation.count:
                allocation = opened
            else:
                scale = scale**0.5
        return None

    def _improve_at(self, allocation: Allocation, scale: float) -> Allocation:
        """Improve an allocation at another input; where that leaves much open, begin from the start there as well.

        What was good at another input may be in the way.
        """
        moved = self._splitter.improve(allocation.list_parts(scale))
        if moved.bound <= moved.net * (1.0 + DOUBTFUL) or self._splitter.is_over:
            return moved
        scale *= allocation.amount / sum([part for _, part in self._starts])
        fresh = self._splitter.grow([(edges, part * scale) for edges, part in self._starts], self._others)
        return choose_better(moved, fresh)

    def _improve_at_match(self, allocation: Allocation) -> Allocation:
        """Improve an allocation at just the input that it needs, where other paths may be worth more."""
        matched = self._splitter.match_output(allocation) if allocation.count > 1 else None
        for _ in range(FINAL_STEPS):
            if matched is None or self._splitter.is_over:
                break
            again = self._splitter.extend(self._improve_at(allocation, 1.0))
            rematched = self._splitter.match_output(again) if again.net > -inf else None
            before = self._splitter.value_cost(matched)
            saved = before - self._splitter.value_cost(rematched) if rematched else 0.0
            if saved <= 0.0:
                break
            allocation, matched = again, rematched
            if saved < SAVED * before:
                break
        return allocation


def approach_amount(
    splitter: Splitter, starts: Sequence[Part], price_impact: float, others: Sequence[Sequence[int]]
) -> Allocation:
    """Allocate a request's amount by steps.

    Parameters
    ----------
    starts : sequence of Part
        The best single path, and an input that it can take.
    price_impact : float
        Of it.
    others : sequence of paths
        As of `Splitter.grow`.
    """
    if splitter.request.side == Side.EXACT_OUT and price_impact > CONSIDERABLE_IMPACT:
        starts = [(edges, amount * (1.0 - price_impact)) for edges, amount in starts]
    return Approach(splitter, starts, others).run()
