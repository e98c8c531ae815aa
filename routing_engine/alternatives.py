"""Further routes that differ from the best in their pools, not in a percent."""

from __future__ import annotations

from routing_engine.query import Query, Single
from routing_engine.route import Route


def alternatives(query: Query, single: Single, count: int) -> list[Route]:
    """Return the best single path and up to `count` others, each of which avoids a market of it; best first.

    What the search for the best path found besides costs nothing but its replay. Where that is not enough, paths are
    searched for without, in turn, each market of those found so far.
    """
    best = frozenset(hop.market_id for hop in single.route.hops)
    routes = {single.route.fingerprint: single.route}
    for candidate in single.others:
        if len(routes) > count or query.budget.is_spent():
            break
        if best <= {market.id for market, _, _ in candidate.edges}:
            continue
        route = query.replayed(candidate)
        if route:
            routes.setdefault(route.fingerprint, route)
    if len(routes) <= count:
        _search_around(query, single.route, routes, count)
    return query.ranked(routes.values())


def _search_around(query: Query, best: Route, routes: dict[str, Route], count: int) -> None:
    """Add to `routes` paths that avoid a market of the best, then also one of what that gave, and so on."""
    waiting = [(best, frozenset[str]())]
    met = {best.fingerprint}
    while waiting and len(routes) <= count:
        route, avoided = waiting.pop(0)
        for hop in route.hops:
            if query.budget.is_spent():
                return
            without = avoided | {hop.market_id}
            other = query.single(query.without(query.allowed, without), query.request.max_hops)
            if other and other.route.fingerprint not in met:
                met.add(other.route.fingerprint)
                routes.setdefault(other.route.fingerprint, other.route)
                waiting.append((other.route, without))
        waiting.sort(key=lambda each: query.key(each[0]))
