"""Allocations begun anew from a part of their paths, where an amount is large for its markets.

Paths are added one after the other, and where a hundred are in use there is room for no more. So what was added early
may keep better paths out, and amounts that hardly differ end at allocations that net more than half a percent more or
less. An allocation that is begun anew from its largest paths, or without one of a few, often finds out of that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf
from operator import attrgetter

from routing_engine.search.allocation import Allocation, Part, choose_better
from routing_engine.search.split import Splitter

STRETCHED = 0.5
"""Price impact of the best single path from which on an allocation is begun anew."""

WIDE_OPEN = 5e-3
"""Relative gap to the bound from which on it is begun anew at any price impact."""

FEW, VERY_FEW = 12, 6
"""Up to so many paths, each is left out in turn; of more, the smallest together. Of very few each market is, too."""

OPEN, OPEN_OF_FEW = 5e-4, 2e-5
"""Relative gaps to the bound from which on that is done: of many paths, and of few, soon done."""

KEPT = 0.95, 0.8, 0.65, 0.5
"""Parts of many paths that are kept, the largest."""

ROUNDS, GAIN = 4, 1e-5
"""How often it is done at most, and the part of the net output that each must have gained for another."""


def renew(splitter: Splitter, allocation: Allocation, price_impact: float) -> Allocation:
    """Return an allocation that was begun anew where it nets more, and where so much is open that it may.

    `price_impact` is that of the best single path.
    """
    if allocation.count == 1 or (price_impact <= STRETCHED and not allocation.is_open(WIDE_OPEN)):
        return allocation
    for _ in range(ROUNDS):
        gap = OPEN if allocation.count > FEW else OPEN_OF_FEW
        if splitter.is_over or not allocation.bound > allocation.net * (1.0 + gap):
            break
        others = begin_anew(splitter, allocation, may_go_around=True)
        found = [each for each in others if each.max_hops == allocation.max_hops]
        best = max(found, key=attrgetter("net"), default=allocation)
        gained = best.net - allocation.net
        allocation = choose_better(allocation, best)
        if gained <= GAIN * allocation.net:
            break
    return allocation


def begin_anew(splitter: Splitter, allocation: Allocation, *, may_go_around: bool = False) -> Iterator[Allocation]:
    """Yield allocations of the same amount that begin with a part of the paths; of very few, around markets as well."""
    parts, amount = sorted(allocation.list_parts(), key=_get_input, reverse=True), allocation.amount
    if allocation.count > FEW:
        beginnings = [parts[: int(allocation.count * part)] for part in KEPT]
    else:
        beginnings = [parts[:place] + parts[place + 1 :] for place in range(len(parts))]
    for beginning in beginnings:
        if beginning and not splitter.is_over:
            yield splitter.improve(_scale(beginning, amount), longer=True)
    if may_go_around and allocation.count <= VERY_FEW:
        yield from _go_around(splitter, parts, amount)


def _go_around(splitter: Splitter, parts: Sequence[Part], amount: float) -> Iterator[Allocation]:
    """Yield allocations that begin as if there were not one of the markets in use."""
    market_of = splitter.graph.forward.edges["market"].item
    for market in dict.fromkeys(market_of(edge) for edges, _ in parts for edge in edges):
        left = [part for part in parts if market not in map(market_of, part[0])]
        if left and not splitter.is_over:
            around = splitter.without(market).improve(_scale(left, amount), longer=True)
            if around.net > -inf:
                yield splitter.improve(around.list_parts(), longer=True)


def _scale(parts: Sequence[Part], amount: float) -> list[Part]:
    """Return paths that take an amount together, in the same proportions."""
    scale = amount / sum(map(_get_input, parts))
    return [(edges, part * scale) for edges, part in parts]


def _get_input(part: Part) -> float:
    return part[1]
