"""Money against time: the routes of which none is both better and faster than another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from routing_engine.certificate import Certificate
from routing_engine.graph.graph import Graph
from routing_engine.route import Route, Side
from routing_engine.search.certified_split import split_beyond_paths, split_single
from routing_engine.search.query import Mask, Query


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
    bridges lacks one of its bridge hops, and all hops that take as long alone. Then the same over paths that end with a
    bridge hop, which save the last block. As long as the search finds the best path of a set of markets, no single path
    is missed; a split is found for each set of markets.
    """
    found = ParetoSet()
    for allowed in (query.allowed, query.allowed & _mask_ends_by_bridge(query)):
        waiting, seen = [allowed], {allowed.tobytes()}
        while waiting and not query.budget.is_spent():
            markets = waiting.pop()
            single = query.find_single(markets, query.request.max_hops)
            best = single.route if single else _split_beyond_paths(query, markets)
            if best is None:
                continue
            if found.add(best) and single:
                for route in split_single(query, single, markets).routes:
                    found.add(route)
            for less in _find_faster_markets(query, best, markets, in_series=single is not None):
                if less.tobytes() not in seen:
                    seen.add(less.tobytes())
                    waiting.append(less)
    return found


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
    times, slowest = _measure_bridge_times(query.graph), max(route.fill_time_s for route in routes)
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


def _find_faster_markets(query: Query, route: Route, allowed: Mask, *, in_series: bool) -> Iterator[Mask]:
    """Give sets of markets, of which one has every path whose bridge hops take less time than the route's together.

    Where not even the markets of `allowed` together could serve by a single path, sets without the slowest hops.
    """
    market_index, times = query.graph.market_index, _measure_bridge_times(query.graph)
    bridges = [market_index[hop.market_id] for hop in route.hops if hop.is_bridge]
    quick = allowed & (times < (times[bridges].sum() if in_series else times[bridges].max(initial=0.0)))
    if not quick[bridges].all():
        yield quick
        return
    for bridge in bridges:
        less = quick.copy()
        less[bridge] = False
        yield less


def _measure_bridge_times(graph: Graph) -> npt.NDArray[np.float64]:
    """Seconds that each market takes between chains, its block before it included; 0 for pools."""
    edges = graph.forward.edges
    times = np.zeros(len(graph.markets))
    crossing = edges["time"] > 0.0
    times[edges["market"][crossing]] = edges["time"][crossing]
    return times


def _mask_ends_by_bridge(query: Query) -> Mask:
    """Mask of the markets of paths that end with a bridge hop: without pools of the target token."""
    graph, target = query.graph, query.graph.index.get(query.request.token_out, -1)
    edges = graph.forward.edges
    pools = edges["market"][(edges["other"] == target) & (edges["time"] == 0.0)]
    mask = np.ones(len(graph.markets), np.bool_)
    mask[pools] = False
    return mask
