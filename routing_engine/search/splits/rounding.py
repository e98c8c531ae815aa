"""What rounding may give a route beyond curves: an allowance that keeps bounds valid for a few units."""

from __future__ import annotations

from math import inf

import numpy as np
import numpy.typing as npt

from routing_engine.certificate import Bounds
from routing_engine.graph.graph import Graph
from routing_engine.graph.roundings import count_rounded_units
from routing_engine.kernels.arrays import SplitProblem
from routing_engine.model import Hop
from routing_engine.route import Route, Side


def allow_for_rounding(graph: Graph, problem: SplitProblem, bounds: Bounds, route: Route, rate: float) -> Bounds:
    """Return bounds of a request that allow for what rounding may give beyond curves.

    Parameters
    ----------
    bounds : Bounds
        Of what routes net, or cost.
    route : Route
        The answer.
    rate : float
        Output that a unit of the input is taken for where the answer buys.
    """
    given = sum([_value_rounding(graph, problem, hop) for hop in route.hops]) + _value_ends(graph, problem, route)
    if route.side is Side.EXACT_IN:
        return Bounds(*[bound + given for bound in bounds])
    if not given:
        return bounds
    less = given / min(rate, route.amount_out / route.amount_in) if rate > 0.0 else inf
    return Bounds(*[max(0.0, bound - less) for bound in bounds])


def _value_rounding(graph: Graph, problem: SplitProblem, hop: Hop) -> float:
    """Return what the rounding of a market that the answer uses may give, in units of the target.

    Tokens on the way are valued by reference prices; the rounding of one without is not counted.
    """
    if not graph.markets[graph.market_index[hop.market_id]].rounds_up:
        return 0.0
    source, target, units = graph.index[hop.token_in], graph.index[hop.token_out], graph.units
    edges = np.array(graph.find_edges(hop.market_id))
    edge = edges[(graph.source[edges] == source) & (graph.target[edges] == target)]
    price = 1.0 if target == problem.end else units[problem.end] / units[target] if units[target] > 0.0 else 0.0
    return float(graph.roundings.most[edge].sum() * price)


def _value_ends(graph: Graph, problem: SplitProblem, route: Route) -> float:
    """Return what the rounding of another path's first and last market may give: a unit of the source or target each.

    In units of the target.
    """
    given, start, end, roundings = 0.0, problem.start, problem.end, graph.roundings
    if roundings.takes.item(start):
        leaving = np.arange(graph.forward.first[start], graph.forward.first[start + 1])
        if _is_any_rounded(graph, problem, leaving):
            given += count_rounded_units(graph.tokens[start]) * route.amount_out / route.amount_in
    if roundings.gives.item(end):
        arriving = graph.reverse.edges["twin"][graph.reverse.first[end] : graph.reverse.first[end + 1]]
        if _is_any_rounded(graph, problem, arriving):
            given += count_rounded_units(graph.tokens[end])
    return given


def _is_any_rounded(graph: Graph, problem: SplitProblem, edges: npt.NDArray[np.integer]) -> bool:
    """Whether one of some forward edges is of a market that rounds up, and is allowed."""
    is_allowed = problem.allowed[graph.forward.edges["market"][edges]]
    return bool((is_allowed & (graph.roundings.most[edges] > 0.0)).any())
