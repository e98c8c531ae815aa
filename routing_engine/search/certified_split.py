"""Splits of a request: allocated, replayed in exact integers, and judged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from routing_engine.certificate import Certificate
from routing_engine.model import Hop
from routing_engine.route import Route, Side
from routing_engine.search.allocation import Allocation
from routing_engine.search.allocation_replay import replay_allocation
from routing_engine.search.buying import Purchase, replay_purchase
from routing_engine.search.full_paths import bound_amount
from routing_engine.search.query import Query, Single
from routing_engine.search.selling import allocate_beyond_paths
from routing_engine.search.split import Splitter
from routing_engine.values import seal

HOPELESS_IMPACT = 0.9999
"""Part of the price that a single path may lose. Where it is more, the amount is so far beyond all that there is to buy
that it is not divided: nearly all of it would be lost."""

Mask = npt.NDArray[np.bool_]
Attempt = tuple[Allocation, tuple[Hop, ...] | None]
"""An allocation, and its exact hops unless a market declines."""


@seal
@dataclass(frozen=True, slots=True)
class CertifiedRoutes:
    """Routes of a request, best first, and how far the first can be from the best there is, if that was asked."""

    routes: list[Route]
    certificates: list[Certificate]


def split_single(query: Query, single: Single, allowed: Mask) -> CertifiedRoutes:
    """Return the single path's route, and before it several paths where that is better."""
    certify, may_divide = query.request.certify, _may_divide(query, single)
    if not certify and not may_divide:
        return CertifiedRoutes([single.route], [])
    splitter = query.create_splitter(allowed, len(single.edges))
    allocation: Allocation | None = None
    for allocation, hops in _divide_single(query, splitter, single, allowed) if may_divide else ():
        if hops:
            routes = query.rank([query.build_route(hops), single.route])
            return CertifiedRoutes(routes, _certify(query, splitter, allocation, routes[0]))
    if certify and not allocation:
        allocation = splitter.judge([single.get_part()])
    return CertifiedRoutes([single.route], _certify(query, splitter, allocation, single.route))


def split_beyond_paths(query: Query, allowed: Mask) -> CertifiedRoutes | None:
    """Return a split where no single path takes the whole amount; None where none is found."""
    if bound_amount(query, allowed) < query.request.amount:
        return None
    for splitter, allocation, hops in _divide_beyond_paths(query, allowed):
        if hops:
            route = query.build_route(hops)
            return CertifiedRoutes([route], _certify(query, splitter, allocation, route))
    return None


def _certify(query: Query, splitter: Splitter, allocation: Allocation | None, route: Route) -> list[Certificate]:
    """Judge a route where the request wants it."""
    return [query.certify_allocation(splitter, allocation, route)] if allocation and query.request.certify else []


def _may_divide(query: Query, single: Single) -> bool:
    """Whether several paths may be better than a single one, and there is time to look for them."""
    request = query.request
    if request.max_splits == 1 or request.objective.time_first or query.budget.is_spent():
        return False
    return request.side == Side.EXACT_OUT or single.route.price_impact <= HOPELESS_IMPACT


def _divide_single(query: Query, splitter: Splitter, single: Single, allowed: Mask) -> Iterator[Attempt]:
    """Yield allocations that are not just the single path, with their hops unless a market declines; the best first."""
    if query.request.side == Side.EXACT_OUT:
        for bought in Purchase(query, splitter, allowed).run(single):
            is_same = _is_just(single, bought.allocation)
            yield bought.allocation, None if is_same else replay_purchase(splitter, bought)
        return
    allocation = splitter.allocate(*single.list_starts())
    longer = splitter.extend(allocation)
    # What rounding leaves of a full market may have no other way than over the shorter paths.
    for each in (longer, allocation) if longer is not allocation else (allocation,):
        yield each, None if _is_just(single, each) else replay_allocation(splitter, each)


def _is_just(single: Single, allocation: Allocation) -> bool:
    return allocation.count == 1 and (*allocation.list_parts()[0][0],) == single.edges


def _divide_beyond_paths(query: Query, allowed: Mask) -> Iterator[tuple[Splitter, *Attempt]]:
    """Yield allocations of an amount that no single path serves, with their hops unless a market declines."""
    if query.request.side == Side.EXACT_IN:
        for splitter, allocation in allocate_beyond_paths(query, allowed):
            yield splitter, allocation, replay_allocation(splitter, allocation)
    elif query.request.max_splits > 1:
        splitter = query.create_splitter(allowed, 0)
        for bought in Purchase(query, splitter, allowed).run(None):
            yield splitter, bought.allocation, replay_purchase(splitter, bought)
