"""Edges that together can't carry a route: beside them, it needs a path without any of them.

An edge of a route that nets at least the floor loses no more than the slack, see `exclusion`; so it carries no more
than it can at that loss. Edges that together give less than the floor, however much is gained on the way, are minor:
some path of such a route has none of them, and pays its gas.
"""

from __future__ import annotations

import math

from routing_engine.curves.kernels.edge_curve import bound_above
from routing_engine.curves.kernels.mobius_pieces import X0, Y0, A, B
from routing_engine.jit.decorators import inner
from routing_engine.kernels.marginal_price import read_piece


@inner
def _find_last_piece(edge, pieces, there, here, most, slack):
    """Return the last piece that begins where the input loses no more than the slack, or where more of it gains."""
    low = edge["piece"]
    high = low + edge["n_pieces"]
    while high - low > 1:
        middle = (low + high) // 2
        x, y = pieces[middle, X0], pieces[middle, Y0]
        is_within = here * x - there * y <= slack or there * pieces[middle, A] > here * pieces[middle, B]
        if x < most and is_within:
            low = middle
        else:
            high = middle
    return low


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
    row = _find_last_piece(edge, pieces, there, here, most, slack)
    x, y, a, b, c = read_piece(edge, row, pieces)
    end = most
    if row + 1 < edge["piece"] + edge["n_pieces"]:
        end = min(most, pieces[row + 1, X0])
    # here * d - there * a * d / (b + c * d) + rest = 0, at the larger d
    rest = here * x - there * y - slack
    k2, k1, k0 = here * c, here * b + rest * c - there * a, rest * b
    root = math.sqrt(max(0.0, k1 * k1 - 4.0 * k2 * k0))
    d = end - x
    if k1 > 0.0:
        d = -2.0 * k0 / (k1 + root)
    elif k2 > 0.0:
        d = (root - k1) / (2.0 * k2)
    d = min(max(d, 0.0), end - x)
    return (y + a * d / (b + c * d)) * scale


@inner
def mark_minor_edges(problem, state, slack, budget, sums):
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
    graph, losses, listed = problem.graph, state.losses, state.losses.edges
    for place in range(listed.size[0]):
        losses.is_minor[place] = False
    if budget <= 0.0:
        return
    sums[:] = 0.0
    for place in range(listed.size[0]):
        edge, u = graph.forward.edges[listed.edge[place]], listed.source[place]
        here, there = losses.price[u], losses.price[listed.target[place]]
        rest = slack - losses.gain[place]
        losses.given[place] = there * _limit_output(edge, graph.pieces, there, here, state.limit[u], rest)
        size = budget
        for r in range(sums.size):
            if losses.given[place] > size:
                break
            sums[r] += losses.given[place]
            size *= 0.5
    size = budget
    for r in range(sums.size):
        if sums[r] < budget:
            break
        size *= 0.5
    for place in range(listed.size[0]):
        losses.is_minor[place] = losses.given[place] <= size
