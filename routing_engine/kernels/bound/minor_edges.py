"""Edges that together can't carry a route: beside them, it needs a path without any of them.

An edge of a route that nets at least the floor loses no more than the slack, see `exclusion`; so it carries no more
than it can at that loss. Edges that together give less than the floor, however much is gained on the way, are minor:
some path of such a route has none of them, and pays its gas.
"""

from __future__ import annotations

from routing_engine.curves.kernels.edge_curve import bound_above, compute_amount_out
from routing_engine.jit.decorators import inner
from routing_engine.kernels.bound.settled_prices import find_gain
from routing_engine.kernels.marginal_price import compute_derivatives, find_arbitrage

NEWTON_STEPS = 6
"""Newton steps towards the largest output that is worth its price: each lies above it."""


@inner
def _limit_output(edge, pieces, there, here, most, slack):
    """Largest output y(f) over inputs f up to `most` at which ``here * f - there * y(f)`` is at most `slack`."""
    most = min(most, edge["x_max"])
    if most <= 0.0 or most < edge["x_min"]:
        return 0.0
    average = edge["max_average_price"]
    if edge["concave"] == 0:
        loss = here - there * average
        return most * average if loss * most <= slack else max(0.0, slack / loss * average)
    scale = bound_above(edge, pieces, most)
    there *= scale
    y, _ = compute_amount_out(edge, pieces, most)
    if here * most - there * y <= slack:
        return y * scale
    earned, best = find_arbitrage(edge, pieces, there, here, most)
    if earned + slack < 0.0:
        return 0.0
    f = most
    for _ in range(NEWTON_STEPS):
        y, slope, _ = compute_derivatives(edge, pieces, f)
        descent = here - there * slope
        if descent <= 0.0 or f <= best:
            break
        f = max(best, f - (here * f - there * y - slack) / descent)
    y, _, _ = compute_derivatives(edge, pieces, f)
    return y * scale


@inner
def mark_minor_edges(problem, state, reached, slack, budget, sums):
    """Mark edges that together give less than `budget`, the smallest ones.

    Parameters
    ----------
    slack : float
        What a route may lose at most.
    budget : float
        In units of the target; none are marked where it is not positive.
    sums : float64 array
        Memory: what edges give that give at most the budget, half of it, a quarter and so on.
    """
    graph, losses = problem.graph, state.losses
    sums[:] = 0.0
    for i in range(reached):
        u = state.inflow.reached[i]
        for e in range(graph.forward.first[u], graph.forward.first[u + 1]):
            edge = graph.forward.edges[e]
            here, there, most = losses.price[u], losses.price[edge["other"]], state.limit[u]
            losses.given[e] = 0.0
            if losses.loss[e] < float("inf") and budget > 0.0:
                rest = slack - find_gain(edge, graph.pieces, here, there, most)
                losses.given[e] = there * _limit_output(edge, graph.pieces, there, here, most, rest)
            size = budget
            for r in range(sums.size):
                if losses.given[e] > size:
                    break
                sums[r] += losses.given[e]
                size *= 0.5
    size = budget
    for r in range(sums.size):
        if sums[r] < budget:
            break
        size *= 0.5
    for i in range(reached):
        u = state.inflow.reached[i]
        for e in range(graph.forward.first[u], graph.forward.first[u + 1]):
            losses.is_minor[e] = budget > 0.0 and losses.given[e] <= size
