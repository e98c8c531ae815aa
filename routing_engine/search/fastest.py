"""The order that puts time first: the least time there is, and the most money that can be had in it."""

from __future__ import annotations

from routing_engine.certificate import Certificate
from routing_engine.route import Route
from routing_engine.search.bridge_times import BridgeTimes, Times
from routing_engine.search.certified_split import CertifiedRoutes, split_single
from routing_engine.search.pareto import ParetoSet, find_pareto_set
from routing_engine.search.paths.single import Single
from routing_engine.search.splits.query import Query


def find_fastest(query: Query, single: Single | None) -> CertifiedRoutes | None:
    """Return the best route by money among those that take the least time; None where nothing serves.

    Parameters
    ----------
    query : Query
        By time first.
    single : Single, optional
        The fastest single path, if one serves.

    Notes
    -----
    No route is faster than each of its bridge hops. So what is as fast as the path uses only markets that are, and of
    the routes over these a Pareto set has the fastest, divided or not. Without a bridge there is no time to save, and
    the set would be the one route that is cheapest.
    """
    priced, times = query.weigh_money(), BridgeTimes(query.graph).alone
    if single is None:
        routes = [*find_pareto_set(priced)][:1]
    else:
        limit = single.route.fill_time_s
        priced.allowed = query.allowed & (times <= limit)
        found = find_pareto_set(priced) if limit else _find_cheapest(priced)
        found.add(single.route)
        fastest = next(iter(found))
        routes = [fastest, single.route] if fastest != single.route else [fastest]
    certificates = [_certify(query, routes[0], times)] if routes and query.request.certify else []
    return CertifiedRoutes(routes, certificates) if routes else None


def _find_cheapest(priced: Query) -> ParetoSet:
    """Return what a Pareto set is where there is nothing faster to look for."""
    found = ParetoSet()
    single = priced.find_single(priced.allowed, priced.request.max_hops)
    for route in split_single(priced, single, priced.allowed).routes if single else ():
        found.add(route)
    return found


def _certify(query: Query, route: Route, times: Times) -> Certificate:
    """Judge a route by those that are as fast, which use only markets that are."""
    quick = query.allowed & (times <= route.fill_time_s)
    certificate = query.certify(route, quick)
    return certificate if (quick == query.allowed).all() else certificate.within(route.fill_time_s)
