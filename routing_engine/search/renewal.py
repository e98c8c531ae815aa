"""Allocations begun anew from a part of their paths, where an amount is large for its markets.

Paths are added one after the other, and where a hundred are in use there is room for no more. So what was added early
may keep better paths out, and amounts that hardly differ end at allocations that net more than half a percent more or
less. An allocation that is begun anew from its largest paths, or without one of a few, often finds out of that.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter

from routing_engine.search.allocation import Allocation, Part, choose_better
from routing_engine.search.split import Splitter

STRETCHED = 0.5
"""Price impact of the best single path from which on an allocation is begun anew."""

OPEN = 5e-4
"""Relative gap to the bound from which on that is done."""

FEW = 12
"""Up to so many paths, each is left out in turn; of more, the smallest together."""

KEPT = 0.95, 0.8, 0.65, 0.5
"""Parts of many paths that are kept, the largest."""

ROUNDS, GAIN = 4, 1e-5
"""How often it is done at most, and the part of the net output that each must have gained for another."""


def renew(splitter: Splitter, allocation: Allocation, price_impact: float) -> Allocation:
    """Return an allocation that was begun anew where it nets more, and where so much is open that it may.

    `price_impact` is that of the best single path.
    """
    if price_impact <= STRETCHED or allocation.count == 1:
        return allocation
    for _ in range(ROUNDS):
        if splitter.is_over or not allocation.bound > allocation.net * (1.0 + OPEN):
            break
        found = [each for each in begin_anew(splitter, allocation) if each.max_hops == allocation.max_hops]
        best = max(found, key=attrgetter("net"), default=allocation)
        gained = best.net - allocation.net
        allocation = choose_better(allocation, best)
        if gained <= GAIN * allocation.net:
            break
    return allocation


def begin_anew(splitter: Splitter, allocation: Allocation) -> Iterator[Allocation]:
    """Yield allocations of the same amount that begin with a part of the paths."""
    parts = sorted(allocation.list_parts(), key=_get_input, reverse=True)
    if allocation.count > FEW:
        beginnings = [parts[: int(allocation.count * part)] for part in KEPT]
    else:
        beginnings = [parts[:place] + parts[place + 1 :] for place in range(len(parts))]
    amount = allocation.amount
    for beginning in beginnings:
        scale = amount / max(1.0, sum(map(_get_input, beginning)))
        if beginning and not splitter.is_over:
            yield splitter.improve([(edges, part * scale) for edges, part in beginning], longer=True)


def _get_input(part: Part) -> float:
    return part[1]
