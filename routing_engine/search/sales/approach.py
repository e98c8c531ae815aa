"""An amount that no single path takes, approached by steps from a part that one takes.

Which paths are best depends on the amount, and markets that are full at one amount are in the way at another. So the
amount grows by steps, and paths are looked for at each.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from routing_engine.jit.direct_call import Compiled
from routing_engine.kernels.bound import flow_limits
from routing_engine.kernels.split import try_columns
from routing_engine.search.allocations.allocation import Allocation, Part, choose_better
from routing_engine.search.splits.split import DOUBTFUL, Splitter

_fill_limits, _clear_limits = Compiled(flow_limits.fill_limits), Compiled(flow_limits.clear_limits)
_append_open_paths = Compiled(try_columns.append_open_paths)

STEPS = 24
"""Amounts at which an allocation is improved at most."""

NO_STEP = 1e-4
"""Relative change of an amount that is too small for a step."""

FARTHEST = 4.0
"""How many times the amount before the next one is at most: paths are found on the way."""


class Approach:
    """One request's allocation, approached by steps.

    Parameters
    ----------
    splitter : Splitter
        Of the request.
    starts : sequence of Part
        Paths to begin with, and amounts that they can take.
    others : sequence of paths
        As of `Splitter.grow`.
    """

    def __init__(self, splitter: Splitter, starts: Sequence[Part], others: Sequence[Sequence[int]]) -> None:
        self._splitter, self._starts, self._others = splitter, starts, others

    def run(self) -> Allocation:
        """Return an allocation of the request's amount; of less where markets are full before."""
        allocation = self._splitter.grow(self._starts, self._others)
        for _ in range(STEPS):
            scale = self._splitter.request.amount / allocation.amount
            if allocation.net == -inf or scale == 1.0 or self._splitter.is_over:
                break
            nearer = self._move_on(allocation, min(max(scale, 1.0 / FARTHEST), FARTHEST))
            if nearer is None:
                break
            allocation = nearer
        return allocation

    def _move_on(self, allocation: Allocation, scale: float) -> Allocation | None:
        """Improve an allocation of another amount; where its paths are full, with others or at one less far away."""
        while abs(scale - 1.0) > NO_STEP:
            moved = self._improve_at(allocation, scale)
            if moved.net > -inf:
                return moved
            opened = _open_up(self._splitter, allocation, scale)
            if opened.count > allocation.count:
                allocation = opened
            else:
                scale = scale**0.5
        return None

    def _improve_at(self, allocation: Allocation, scale: float) -> Allocation:
        """Improve an allocation of another amount; where that leaves much open, begin from the start there as well.

        What was good at another amount may be in the way.
        """
        moved = self._splitter.improve(allocation.list_parts(scale))
        if moved.bound <= moved.net * (1.0 + DOUBTFUL) or self._splitter.is_over:
            return moved
        scale *= allocation.amount / sum([part for _, part in self._starts])
        fresh = self._splitter.grow([(edges, part * scale) for edges, part in self._starts], self._others)
        return choose_better(moved, fresh)


def _open_up(splitter: Splitter, allocation: Allocation, scale: float) -> Allocation:
    """Return an allocation with further paths that take nothing yet, around the edges that are full."""
    (state, workspace), parts, max_hops = splitter.memory, allocation.list_parts(), splitter.problem.max_hops
    paths = Allocation.from_parts(parts, splitter.request.max_splits, max_hops).paths
    problem = splitter.problem._replace(amount=allocation.amount * scale)
    reached = _fill_limits(problem, state, workspace.scratch.is_adjacent, False)
    count = _append_open_paths(paths, len(parts), problem, state, workspace.scratch)
    _clear_limits(problem, state, reached)
    return Allocation(paths, count, max_hops=max_hops)


def approach_amount(splitter: Splitter, starts: Sequence[Part], others: Sequence[Sequence[int]]) -> Allocation:
    """Allocate a request's amount by steps.

    Parameters
    ----------
    starts : sequence of Part
        The best single path of a part of the amount, and that part.
    others : sequence of paths
        As of `Splitter.grow`.
    """
    return Approach(splitter, starts, others).run()
