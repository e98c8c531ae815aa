"""Allocations begun anew from a part of their paths, where an amount is large for its markets.

Paths are added one after the other, and where a hundred are in use there is room for no more. So what was added early
may keep better paths out, and amounts that hardly differ end at allocations that net more than half a percent more or
less. An allocation that is begun anew from its largest paths, or without one of a few, often finds out of that. Where a
close bound proves that there is next to nothing to find, it is not tried.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import inf

import numpy as np

from routing_engine.search.allocations.allocation import Allocation, Part, choose_better
from routing_engine.search.splits.split import FEW as CLOSELY
from routing_engine.search.splits.split import Splitter

STRETCHED = 0.5
"""Price impact of the best single path from which on an allocation is begun anew."""

WIDE_OPEN, WIDE_OPEN_OF_FEW = 5e-3, 2e-4
"""Relative gaps to the bound from which on it is begun anew at any price impact: of many paths, and of few."""

FEW, VERY_FEW = 12, 6
"""Up to so many paths, each is left out in turn; of more, the smallest together. Of very few each market is, too."""

DETOURS, WIDE = 8, 2e-3
"""How many markets, those that carry most, are left out of more paths, and the gap from which on that is done."""

OPEN, OPEN_OF_FEW = 1e-4, 2e-5
"""Relative gaps to the bound from which on that is done: of many paths, and of few, soon done."""

KEPT = 0.95, 0.8, 0.65, 0.5
"""Parts of many paths that are kept, the largest."""

PROVEN, PROVEN_OF_MANY = 3e-6, 3e-5
"""Relative gaps to a close bound that are not worth a beginning anew: of few paths, and of many."""

ROUNDS, GAIN = 6, 1e-5
"""How often it is done at most, and the part of the net output that each must have gained for another."""


def renew(splitter: Splitter, allocation: Allocation, price_impact: float) -> Allocation:
    """Return an allocation that was begun anew where it nets more, and where so much is open that it may.

    `price_impact` is that of the best single path.
    """
    is_many, is_stretched = allocation.count > FEW, price_impact > STRETCHED
    many, few = (OPEN, OPEN_OF_FEW) if is_stretched else (WIDE_OPEN, WIDE_OPEN_OF_FEW)
    if allocation.count == 1 or not allocation.is_open(many if is_many else few):
        return allocation
    for _ in range(ROUNDS):
        if splitter.is_over:
            break
        # A closer look takes less time than one beginning, and often proves enough.
        allocation = splitter.look_closer(allocation)
        if not allocation.is_open(PROVEN if allocation.count <= CLOSELY else PROVEN_OF_MANY):
            break
        best = _find_better(splitter, allocation)
        gained = best.net - allocation.net
        allocation = choose_better(allocation, best)
        if gained <= GAIN * allocation.net:
            break
    return allocation


def _find_better(splitter: Splitter, allocation: Allocation) -> Allocation:
    """Return the best of what begins with a part of the paths, or where that gains nothing around markets.

    Nothing gets a bound, as the allocation's holds. Of very few paths every market is left out, of more those that
    carry most, where much is open.
    """
    best = allocation
    ways = [begin_anew(splitter, allocation, is_judged=False)]
    if allocation.count <= VERY_FEW or allocation.is_open(WIDE):
        ways.append(_go_around(splitter, _sort_parts(allocation), allocation.amount))
    for way in ways:
        for each in way:
            if each.max_hops == allocation.max_hops and each.net > best.net:
                best = each
            if not allocation.bound > best.net * (1.0 + PROVEN):
                return best
        if best.net - allocation.net > GAIN * allocation.net:
            break
    return best


def begin_anew(splitter: Splitter, allocation: Allocation, *, is_judged: bool = True) -> Iterator[Allocation]:
    """Yield allocations of the same amount that begin with a part of the paths, with bounds of their own or without."""
    parts, amount = _sort_parts(allocation), allocation.amount
    if allocation.count > FEW:
        beginnings = [parts[: int(allocation.count * part)] for part in KEPT]
    else:
        beginnings = [parts[:place] + parts[place + 1 :] for place in range(len(parts))]
    for beginning in beginnings:
        if any(map(_get_input, beginning)) and not splitter.is_over:
            yield splitter.improve(_scale(beginning, amount), longer=True, is_judged=is_judged)


def _sort_parts(allocation: Allocation) -> list[Part]:
    """Return an allocation's paths, the largest first."""
    return sorted(allocation.list_parts(), key=_get_input, reverse=True)


def _go_around(splitter: Splitter, parts: Sequence[Part], amount: float) -> Iterator[Allocation]:
    """Yield allocations that begin as if there were not one of the markets in use."""
    market_of = splitter.graph.forward.edges["market"].item
    carried = Counter[int]()
    for edges, part in parts:
        carried.update({market_of(edge): part for edge in edges})
    for market, _ in carried.most_common(None if len(parts) <= VERY_FEW else DETOURS):
        left = [part for part in parts if market not in map(market_of, part[0])]
        if any(map(_get_input, left)) and not splitter.is_over:
            around = leave_out(splitter, market).improve(_scale(left, amount), longer=True, is_judged=False)
            if around.net > -inf:
                yield splitter.improve(around.list_parts(), longer=True, is_judged=False)


def leave_out(splitter: Splitter, market: int) -> Splitter:
    """Return a splitter of the same request that does not use a market."""
    allowed = splitter.problem.allowed
    return splitter.with_problem(splitter.problem._replace(allowed=allowed & (np.arange(allowed.size) != market)))


def _scale(parts: Sequence[Part], amount: float) -> list[Part]:
    """Return paths that take an amount together, in the same proportions."""
    scale = amount / sum(map(_get_input, parts))
    return [(edges, part * scale) for edges, part in parts]


def _get_input(part: Part) -> float:
    return part[1]
