"""The best single path of a request that may use no second one: also where the last markets take hardly so much.

Several paths share what the last markets take. A single one that takes all of it may have to lose on the way, and then
it is a label of few that is worth most (`paths/within_limits.py`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from routing_engine.deadline import QUOTE
from routing_engine.request import RouteRequest
from routing_engine.route import Route, Side
from routing_engine.search.paths.single import Single
from routing_engine.search.paths.within_limits import find_within_limits
from routing_engine.search.splits.query import Mask, Query

LOST = 0.1
"""Part of the input's value, by reference prices, that a path must lose for others to be looked for."""


def find_best_single(query: Query, allowed: Mask, max_hops: int) -> Single | None:
    """Return the best single path over allowed markets; None where nothing serves.

    Parameters
    ----------
    query : Query
        The question.
    allowed : bool array, shape (markets,)
        Markets that may be used.
    max_hops : int
        Of the path at most.
    """
    single = query.find_single(allowed, max_hops)
    request = query.request
    is_alone = request.max_splits == 1 and request.side == Side.EXACT_IN and not request.objective.weighs_time
    if not is_alone or query.budget.is_spent():
        return single
    if single and not (_loses_much(query, single.route) and _may_fill_markets(query, allowed)):
        return single
    return _find_within_limits(query, allowed, max_hops, single)


def _loses_much(query: Query, route: Route) -> bool:
    """Whether a route gives much less than its input is worth, as far as prices are known."""
    start, end = _find_ends(query, query.request)
    units = query.graph.units
    return float(units[start] * route.amount_out) < (1.0 - LOST) * float(units[end] * route.amount_in)


def _may_fill_markets(query: Query, allowed: Mask) -> bool:
    """Whether a market takes less than the input is worth, as far as prices are known.

    Where none does, the label with most is the best one to go on from, and the kernel has kept it.
    """
    graph, start = query.graph, query.graph.index[query.request.token_in]
    edges = graph.forward.edges
    taken = edges["x_max"] * graph.units[graph.source]
    is_full = taken < graph.units[start] * float(query.request.amount)
    return bool(np.any(is_full & allowed[edges["market"]]))


def _find_ends(query: Query, request: RouteRequest) -> tuple[int, int]:
    index = query.graph.index
    return index[request.token_in], index[request.token_out]


def _find_within_limits(query: Query, allowed: Mask, max_hops: int, single: Single | None) -> Single | None:
    """Return the best of the paths that markets take to their end, where it is better than the best one known."""
    ends, amount = _find_ends(query, query.request), float(query.request.amount)
    query.budget.spend(max_hops * query.graph.source.size)
    for edges in find_within_limits(query.graph, *ends, amount, query.gas_cost, allowed, max_hops):
        query.budget.spend(QUOTE * len(edges))
        for route in query.replay_path(edges):
            if single is None:
                unread: Any = route
                single = Single(route, edges, [], price_impact=unread)
            elif query.rank_key(route) < query.rank_key(single.route):
                single = single.replace_by(edges, route)
    return single
