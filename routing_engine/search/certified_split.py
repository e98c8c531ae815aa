"""Splits of a request: allocated, replayed in exact integers, and judged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain
from math import inf

import numpy as np
import numpy.typing as npt

from routing_engine.certificate import Certificate
from routing_engine.route import Route, Side
from routing_engine.search.allocations.allocation import Allocation
from routing_engine.search.bought_as_sold import buy_as_sold
from routing_engine.search.bought_exactly import Attempt, buy_exactly
from routing_engine.search.paths.single import Single
from routing_engine.search.replays.allocation_replay import replay_allocation
from routing_engine.search.replays.least_input import sell_whole_units
from routing_engine.search.sales.full_paths import bound_amount
from routing_engine.search.sales.selling import allocate_beyond_paths, divide_single, is_just
from routing_engine.search.single_paths import find_best_single
from routing_engine.search.splits.few_paths import choose_few_paths
from routing_engine.search.splits.query import Query
from routing_engine.search.splits.split import FEW, Splitter
from routing_engine.search.splits.whole_units import LOST, keep_whole_units
from routing_engine.values import seal

KEPT = 1e-6
"""Part of what an allocation promises that integers may fall short by; where it is more, others are replayed too."""

FEW_SPLITS = (2, 3, 4, 6)
"""Over how many paths an amount is divided too where rounding costs much."""

SAME = 1e-9
"""Part of an amount that an allocation of all of it may lack by rounding."""

Mask = npt.NDArray[np.bool_]


@seal
@dataclass(frozen=True, slots=True)
class CertifiedRoutes:
    """Routes of a request, best first, and how far the first can be from the best there is, if that was asked."""

    routes: list[Route]
    certificates: list[Certificate]


def split_single(query: Query, single: Single, allowed: Mask) -> CertifiedRoutes:
    """Return the single path's route, and before it several paths where that is better."""
    certify, may_divide = query.request.certify, _may_divide(query)
    if not certify and not may_divide:
        return CertifiedRoutes([single.route], [])
    splitter = query.create_splitter(allowed, len(single.edges))
    allocation: Allocation | None = None
    routes = [single.route]
    for attempt, hops in _divide_single(query, splitter, single, allowed) if may_divide else ():
        if not hops:
            allocation = allocation or attempt
            continue
        route = query.build_route(hops)
        if len(routes) == 1 or query.rank([route, routes[0]])[0] is route:
            allocation, routes = attempt, query.rank([route, single.route])
        if attempt is None or query.request.side == Side.EXACT_OUT:
            break
        if float(route.amount_out_net) >= attempt.net * (1.0 - KEPT):
            break
    if allocation and query.request.side == Side.EXACT_IN:
        routes = _lose_less(query, splitter, single, allocation, routes)
    if certify and not allocation and routes[0] is single.route:
        allocation = splitter.judge([single.get_part()])
    return CertifiedRoutes(routes, _certify(query, splitter, allocation, routes[0]))


def _lose_less(
    query: Query, splitter: Splitter, single: Single, allocation: Allocation, routes: list[Route]
) -> list[Route]:
    """Return the routes, or one before the single path's that loses less by rounding where the best loses much."""
    if float(routes[0].amount_out_net) >= allocation.net * (1.0 - LOST):
        return routes
    best = routes[0]
    others = keep_whole_units(splitter, (allocation.list_parts(), [single.get_part()]))
    for other in chain([allocation], others, _divide_by_number(query, splitter, single)):
        flows = splitter.reallocate(other, float(query.request.amount))
        exact = sell_whole_units(query.graph, flows, query.request.amount) if flows.edges else None
        for hops in filter(None, (replay_allocation(splitter, other), exact)):
            best = query.rank([best, query.build_route(hops)])[0]
    return routes if best is routes[0] else query.rank([best, single.route])


def _divide_by_number(query: Query, splitter: Splitter, single: Single) -> Iterator[Allocation]:
    """Yield allocations over a few paths: each path more loses parts of units at its markets."""
    for splits in FEW_SPLITS:
        if splits < query.request.max_splits and not splitter.is_over:
            few = query.shorten(query.request.max_hops, splits)
            narrower = few.create_splitter(splitter.problem.allowed, len(single.edges))
            found = narrower.improve([single.get_part()], longer=True, is_judged=False)
            if found.net > -inf:
                yield found


def split_beyond_paths(query: Query, allowed: Mask) -> CertifiedRoutes | None:
    """Return a split where no single path takes the whole amount; None where none is found."""
    if bound_amount(query, allowed) < query.request.amount:
        return None
    for splitter, allocation, hops in _divide_beyond_paths(query, allowed):
        if hops:
            route = query.build_route(hops)
            return CertifiedRoutes([route], _certify(query, splitter, allocation, route))
    as_sold = query.request.side == Side.EXACT_OUT and buy_as_sold(query, allowed, partial(_sell, allowed=allowed))
    if as_sold:
        return CertifiedRoutes([as_sold], _certify(query, query.create_splitter(allowed, 0), None, as_sold))
    return None


def _sell(query: Query, allowed: Mask) -> Route | None:
    """Return the best route of an exact-in query."""
    single = find_best_single(query, allowed, query.request.max_hops)
    answer = split_single(query, single, allowed) if single else split_beyond_paths(query, allowed)
    return answer.routes[0] if answer else None


def _certify(query: Query, splitter: Splitter, allocation: Allocation | None, route: Route) -> list[Certificate]:
    """Judge a route where the request wants it: by the bound of an allocation, or of its own paths without one."""
    if not query.request.certify:
        return []
    if allocation:
        return [query.certify_allocation(splitter, allocation, route)]
    return [query.certify(route, splitter.problem.allowed)]


def _may_divide(query: Query) -> bool:
    """Whether several paths may be better than a single one, and there is time to look for them."""
    request = query.request
    return request.max_splits > 1 and not request.objective.time_first and not query.budget.is_spent()


def _divide_single(
    query: Query, splitter: Splitter, single: Single, allowed: Mask, *, is_sold: bool = False
) -> Iterator[Attempt]:
    """Yield allocations that are not just the single path, with their hops unless a market declines; the best first.

    What is bought has been sold for less in vain if `is_sold`.
    """
    declined = 0
    if query.request.side == Side.EXACT_OUT:
        sell = None if is_sold else partial(_sell, allowed=allowed)
        for attempt, cheaper in buy_exactly(query, splitter, allowed, sell, single):
            yield attempt
            declined = cheaper
    else:
        for each in _divide_over_few(splitter, single, divide_single(query, splitter, single, allowed)):
            hops = None if is_just(single, each) else replay_allocation(splitter, each)
            yield each, hops
            declined = max(declined, 0 if hops or is_just(single, each) else each.count)
    fewer = declined - 1 if declined <= FEW else declined // 2
    fewer = declined if declined < query.request.max_splits else fewer
    if fewer > 1 and not query.budget.is_spent():  # what fills fewer markets may be taken
        query = query.shorten(query.request.max_hops, fewer)
        again = query.create_splitter(allowed, len(single.edges))
        yield from _divide_single(query, again, single, allowed, is_sold=True)


def _divide_over_few(splitter: Splitter, single: Single, found: list[Allocation]) -> list[Allocation]:
    """Return allocations, before them one to other paths where no more may be used and it nets more."""
    few = [choose_few_paths(splitter, best, [single.get_part()], best.list_parts()) for best in found[:1]]
    return [*(each for each in few if each is not found[0]), *found]


def _divide_beyond_paths(query: Query, allowed: Mask) -> Iterator[tuple[Splitter, *Attempt]]:
    """Yield allocations of an amount that no single path serves, with their hops unless a market declines."""
    if query.request.side == Side.EXACT_IN:
        for splitter, allocation in allocate_beyond_paths(query, allowed):
            takes_all = allocation.amount >= query.request.amount * (1.0 - SAME)
            few = choose_few_paths(splitter, allocation, allocation.list_parts()) if takes_all else allocation
            for each in (few, allocation) if few is not allocation else (allocation,):
                yield splitter, each, replay_allocation(splitter, each)
    elif query.request.max_splits > 1:
        splitter = query.create_splitter(allowed, 0)
        for attempt, _ in buy_exactly(query, splitter, allowed, partial(_sell, allowed=allowed)):
            yield splitter, *attempt
