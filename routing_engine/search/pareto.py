"""Money against time: the routes of which none is both better and faster than another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from routing_engine.certificate import Certificate
from routing_engine.route import Route, Side
from routing_engine.search.bridge_times import BridgeTimes
from routing_engine.search.certified_split import split_beyond_paths, split_single
from routing_engine.search.splits.query import Mask, Query


class ParetoSet:
    """Routes of one request, none of which another dominates in net amount and fill time.

    A route dominates another if it is at least as good in both and better in one. Of equals the first stays.
    """

    def __init__(self) -> None:
        self._routes: list[Route] = []

    def add(self, route: Route) -> bool:
        """Take a route in, and those that it dominates out; False if it is dominated itself, or has an equal here."""
        if any(_covers(known, route) for known in self._routes):
            return False
        self._routes = [known for known in self._routes if not _covers(route, known)]
        self._routes.append(route)
        return True

    def find_limit(self, best: Route) -> int:
        """Return the fill time of the fastest known route that is no dearer than `best`, which has been added."""
        cost = _value_cost(best)
        return min(known.fill_time_s for known in self._routes if _value_cost(known) <= cost)

    def __iter__(self) -> Iterator[Route]:
        """Give the routes, the fastest first: each costs less than the one before."""
        return iter(sorted(self._routes, key=lambda route: route.fill_time_s))

    def __len__(self) -> int:
        return len(self._routes)


def _value_cost(route: Route) -> int:
    """Net amount, such that less is better."""
    return route.net_amount if route.side is Side.EXACT_OUT else -route.net_amount


def _covers(route: Route, other: Route) -> bool:
    return _value_cost(route) <= _value_cost(other) and route.fill_time_s <= other.fill_time_s


class _Best(NamedTuple):
    """What was found over a set of markets; whether it is a single path."""

    route: Route
    has_path: bool


def find_pareto_set(query: Query) -> ParetoSet:
    """Return the best routes for every fill time.

    Parameters
    ----------
    query : Query
        By net amount alone.

    Notes
    -----
    A path takes the times of its bridge hops, and that of a block if a swap on the last chain ends it. So first the
    best path is found over all markets, then over those in which it is not possible again: whatever is faster over
    bridges lacks one of its bridge hops, and all hops that no faster path has. Then the same over paths that end with a
    bridge hop, which save the last block. As long as the search finds the best path of a set of markets, no single path
    is missed. A split is found for each of these sets of markets, and for the markets that take no more than each time.

    No path of a set is better than the set's best one. So a route that is known, no dearer and no slower than that one
    dominates all of the set that are not faster than itself, and its time is the limit for what is still looked for.
    """
    found, times = ParetoSet(), BridgeTimes(query.graph)
    for allowed in (query.allowed, query.allowed & _mask_ends_by_bridge(query)):
        waiting, seen = [allowed], {allowed.tobytes()}
        while waiting and not query.budget.is_spent():
            markets = waiting.pop()
            best = _add_best(query, markets, found)
            if best is None:
                continue
            faster = _find_faster_paths if best.has_path else _find_faster_splits
            for less in faster(query, times, markets, best.route, found):
                if less.tobytes() not in seen:
                    seen.add(less.tobytes())
                    waiting.append(less)
    for seconds in np.unique(times.alone[query.allowed]):
        if query.budget.is_spent():
            break
        _add_best(query, query.allowed & (times.alone <= seconds), found)
    return found


def _add_best(query: Query, markets: Mask, found: ParetoSet) -> _Best | None:
    """Find the best single path over a set of markets, or what serves instead; add it, and what its division gives."""
    single = query.find_single(markets, query.request.max_hops)
    route = single.route if single else _split_beyond_paths(query, markets)
    if route is None:
        return None
    found.add(route)
    for divided in split_single(query, single, markets).routes if single else ():
        found.add(divided)
    return _Best(route, single is not None)


def certify_pareto_set(query: Query, routes: Sequence[Route]) -> list[Certificate]:
    """Judge each route of a Pareto set by the routes that are as fast, and the slowest one by all.

    Parameters
    ----------
    query : Query
        By net amount alone.
    routes : sequence of Route
        The set.

    Notes
    -----
    A route takes no less time than any of its bridge hops. So one that takes at most a time uses only markets that do:
    what bounds the routes over these markets bounds the routes that are as fast.
    """
    times, slowest = BridgeTimes(query.graph).alone, max(route.fill_time_s for route in routes)
    found = []
    for route in routes:
        if route.fill_time_s == slowest:
            found.append(query.certify(route, query.allowed))
        else:
            quick = query.allowed & (times <= route.fill_time_s)
            found.append(query.certify(route, quick).within(route.fill_time_s))
    return found


def _split_beyond_paths(query: Query, allowed: Mask) -> Route | None:
    answer = split_beyond_paths(query, allowed)
    return answer.routes[0] if answer else None


def _find_faster_paths(
    query: Query, times: BridgeTimes, allowed: Mask, best: Route, found: ParetoSet
) -> Iterator[Mask]:
    """Give sets of markets, of which one has every path that is faster than the best one and all no dearer routes."""
    bridges = _number_bridges(query, best)
    limit = min(times.alone[bridges].sum(), found.find_limit(best))
    quick = allowed & (times.measure_paths(query.request.token_in, query.request.token_out, allowed) < limit)
    if not quick[bridges].all():
        yield quick
        return
    for bridge in bridges:
        less = quick.copy()
        less[bridge] = False
        yield less


def _find_faster_splits(
    query: Query, times: BridgeTimes, allowed: Mask, best: Route, found: ParetoSet
) -> Iterator[Mask]:
    """Give the set without the slowest bridges, where no single path serves: it serves none in a smaller set either."""
    slowest = times.alone[_number_bridges(query, best)].max(initial=0.0)
    yield allowed & (times.alone < slowest)


def _number_bridges(query: Query, route: Route) -> list[int]:
    return [query.graph.market_index[hop.market_id] for hop in route.hops if hop.is_bridge]


def _mask_ends_by_bridge(query: Query) -> Mask:
    """Mask of the markets of paths that end with a bridge hop: without pools of the target token."""
    graph, target = query.graph, query.graph.index.get(query.request.token_out, -1)
    edges = graph.forward.edges
    pools = edges["market"][(edges["other"] == target) & (edges["time"] == 0.0)]
    mask = np.ones(len(graph.markets), np.bool_)
    mask[pools] = False
    return mask
