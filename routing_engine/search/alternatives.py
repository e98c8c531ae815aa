"""Further routes that differ from the best in their pools, not in a percent."""

from __future__ import annotations

from collections.abc import Iterator

from routing_engine.route import Route
from routing_engine.search.paths.path_search import list_edges
from routing_engine.search.paths.single import Single
from routing_engine.search.splits.query import Query


def find_alternatives(query: Query, single: Single, count: int) -> list[Route]:
    """Return the best single path and up to `count` others, each of which avoids a market of it; best first.

    They are what the search for the best path found besides, so each costs no more than its replay. Where it found
    nothing else, paths are searched for without, in turn, each market of the best.
    """
    market_of = query.graph.forward.edges["market"].item
    best = set(map(market_of, single.edges))
    routes = [single.route]
    for candidate in single.others:
        if len(routes) > count or query.budget.is_spent():
            break
        edges = list_edges(candidate)
        if not best.issubset(map(market_of, edges)):
            routes += query.replay_path(edges)
    if len(routes) == 1:
        routes += _find_detours(query, single)
    return query.rank(routes[: 1 + count])


def _find_detours(query: Query, best: Single) -> Iterator[Route]:
    """Give the best paths without each market of the best."""
    met = {best.edges}
    for hop in best.route.hops:
        if query.budget.is_spent():
            return
        other = query.find_single(query.exclude(query.allowed, [hop.market_id]), query.request.max_hops)
        if other and other.edges not in met:
            met.add(other.edges)
            yield other.route
