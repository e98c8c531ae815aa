"""Allocations of an amount that is sold that begin otherwise, where much stays open.

What paths are added first decides which ones find room later. So a division also begins with what narrower searches
find, with what is best among markets drawn by lot, and without a market that is in use.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import inf

import numpy as np
import numpy.typing as npt

from routing_engine.search.allocations.allocation import Allocation, Part, choose_better
from routing_engine.search.splits.query import Query
from routing_engine.search.splits.renewal import FEW as FEW_PATHS
from routing_engine.search.splits.renewal import leave_out
from routing_engine.search.splits.split import FEW, Splitter

NARROWER, FEW_MARKETS = ((2, 100), (3, 100), (6, 5)), 8
"""Hops and paths at most of the narrower searches from which a division begins too, and of how many markets at most
each is left out to begin with."""

WIDE_OPEN, WIDE_OPEN_OF_MANY = 5e-3, 3e-4
"""Relative gaps from which on that is done: of few paths, and of many, whose bounds are closer."""

OPEN = 1e-4
"""Relative gap from which on few paths also begin without each of the markets over which all go, which takes little."""

GAIN = 1e-6
"""Part of the net output that this must have gained for another round of it."""

PROVEN = 1e-5
"""Relative gap by a closer look that leaves nothing to begin otherwise for."""

LOTS, DRAWN = 4, 0.7
"""How many lots of markets are drawn, and the part of all markets that each is about: what is best among them is where
a division begins too."""

Mask = npt.NDArray[np.bool_]


def begin_otherwise(query: Query, splitter: Splitter, found: Allocation, allowed: Mask) -> Allocation:
    """Return an allocation that began otherwise, where so much is open and it is better.

    It begins with what narrower searches find, with what lots of markets offer, and without one of a few markets in
    use: a pool of several tokens that serves one direction can't serve another.
    """
    found = _go_around(query, splitter, found, allowed)
    loose, open_from = found.bound, WIDE_OPEN if found.count <= FEW_PATHS else WIDE_OPEN_OF_MANY
    if splitter.is_over or not found.is_open(open_from):
        return found
    if found.count <= FEW:  # often that proves that there is nothing to find
        found = splitter.look_closer(found)
    for start in _list_beginnings(query, splitter, found, allowed) if found.is_open(PROVEN) else ():
        other = splitter.improve(start, longer=True)
        found = choose_better(found, other) if other.net > found.net else found
        if splitter.is_over or loose <= found.net * (1.0 + open_from) or not found.is_open(PROVEN):
            break
    return found


def _list_beginnings(query: Query, splitter: Splitter, found: Allocation, allowed: Mask) -> Iterator[list[Part]]:
    """Yield paths to begin with."""
    for hops, splits in NARROWER:
        narrower = query.shorten(hops, splits)
        single = narrower.find_single(allowed, narrower.request.max_hops)
        if single:
            start = narrower.create_splitter(allowed, len(single.edges)).allocate(*single.list_starts())
            yield start.list_parts()
    lot = np.random.default_rng(LOTS)
    for _ in range(LOTS):
        drawn = allowed & (lot.random(allowed.size) < DRAWN)
        single = query.find_single(drawn, query.request.max_hops)
        if single:
            start = query.create_splitter(drawn, len(single.edges)).improve(
                [single.get_part()], longer=True, is_judged=False
            )
            yield start.list_parts()
    yield from _list_paths_around(query, splitter, found, allowed)


def _list_paths_around(query: Query, _: Splitter, found: Allocation, allowed: Mask) -> Iterator[list[Part]]:
    """Yield the best single path without each of the markets in use, if these are few."""
    used = [edge for edges, _ in found.list_parts() for edge in edges]
    markets = dict.fromkeys(market.id for market, _, _ in query.graph.edges_ends(used))
    for market_id in markets if len(markets) <= FEW_MARKETS else ():
        single = query.find_single(query.exclude(allowed, [market_id]), query.request.max_hops)
        if single:
            yield [single.get_part()]


def _go_around(query: Query, splitter: Splitter, found: Allocation, allowed: Mask) -> Allocation:
    """Return an allocation that began without a market of a few paths, where so much is open and it is better.

    Where two divided paths share most of their markets, none of them alone is worth the gas of all of these.
    """
    if found.count > FEW_PATHS or splitter.is_over or not found.is_open(OPEN):
        return found
    found = splitter.look_closer(found)
    around = _list_paths_around if found.count == 1 else _list_exchanged
    for start in around(query, splitter, found, allowed) if found.is_open(OPEN) else ():
        other = splitter.improve(start, longer=True, is_judged=False)
        if other.net - found.net > GAIN * abs(found.net):
            return _go_around(query, splitter, choose_better(found, other), allowed)
    return found


def _list_exchanged(query: Query, splitter: Splitter, found: Allocation, allowed: Mask) -> Iterator[list[Part]]:
    """Yield the same paths, each time with one market over which all go exchanged for the best path beside it."""
    parts = found.list_parts()
    flows = splitter.reallocate(found.copy(), found.amount)
    ends = query.graph.edges_ends(flows.edges)
    unused = query.exclude(allowed, {market.id for market, _, _ in ends})
    hops = max(1, query.request.max_hops + 1 - max(len(edges) for edges, _ in parts))
    for edge, flow, (_, first, last) in zip(flows.edges, flows.flows, ends, strict=True):
        if not all(edge in edges for edges, _ in parts):
            continue
        stretch = query.sell(flow, (first, last))
        single = stretch.find_single(unused, hops) if stretch else None
        if single:
            exchanged: list[Part] = [([*_exchange(edges, edge, single.edges)], part) for edges, part in parts]
            without = leave_out(splitter, query.graph.forward.edges["market"][edge])
            improved = without.improve(exchanged, longer=True, is_judged=False)
            yield improved.list_parts() if improved.net > -inf else exchanged


def _exchange(edges: Iterable[int], edge: int, others: Iterable[int]) -> Iterator[int]:
    """Yield edges, others in the place of one."""
    for each in edges:
        yield from others if each == edge else (each,)
