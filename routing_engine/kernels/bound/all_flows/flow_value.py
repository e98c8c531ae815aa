"""What an amount is worth at most at given prices of tokens, over any flows: a convex function of the prices.

At prices ``w``, 1 of the target, an allocation nets at most ``w_s A`` and what each market earns beside its gas over
its best edge (see `losses`). The least of that over all prices is the best bound of all flows (Angeris, Evans, Chitra,
Boyd: *Optimal routing for constant function market makers*, 2022). In the logarithms of prices its gradient is what
comes to each token too much, in value; and where a market's input changes with prices by ``r`` in value, its second
derivative is ``r`` at the two tokens, and ``-r`` between them: the matrix of an electrical network. What is left out of
that are terms that vanish where nothing comes too much.

A straight edge takes nothing or all that it can, so its corner is rounded: it earns as if its price fell by the part
`rounded` until it is full. That is used to choose prices only; a bound is computed exactly.
"""

from __future__ import annotations

import numpy as np

from routing_engine.jit.decorators import inner
from routing_engine.kernels.bound.settled_prices import find_gain
from routing_engine.kernels.marginal_price import compute_derivatives, find_arbitrage, value_base_gas
from routing_engine.kernels.skyline import add_entry

STRAIGHT, AT_PRICE = 1e-9, 1e-6
"""Parts: by which a price falls at most over an edge that counts as straight, and by which a marginal price may differ
from the prices of tokens where an input is between two corners."""

PASSES, LARGE = 64, 1e6
"""How often prices are raised at most so that no straight edge that takes any amount earns; and how many times what may
be at its token an edge takes that counts as such."""


@inner
def is_straight(edge, most):
    """Whether an edge's price does not fall over inputs up to `most`, or counts as such: what is not concave."""
    return edge["concave"] == 0 or (edge["n_pieces"] == 1 and edge["c"] * most <= STRAIGHT * edge["b"])


@inner
def trade(edge, pieces, here, there, most, rounded):
    """Return what an edge earns, its input and output, and the value by which its input changes with prices."""
    best = there * edge["max_average_price"]
    if best <= here or most <= 0.0:
        return 0.0, 0.0, 0.0, 0.0
    if is_straight(edge, most):
        part = (best - here) / (rounded * best)
        flow, given, change = most, edge["max_average_price"] * most, 0.0
        if part < 1.0:
            flow, change = part * most, here * here / (rounded * best) * most
            given *= part
        given *= 1.0 - 0.5 * rounded * min(part, 1.0)
        return there * given - here * flow, flow, given, change
    earned, flow = find_arbitrage(edge, pieces, there, here, most)
    if flow <= 0.0:
        return 0.0, 0.0, 0.0, 0.0
    given, slope, curvature = compute_derivatives(edge, pieces, flow)
    is_between = abs(there * slope - here) <= AT_PRICE * here and curvature < 0.0
    return earned, flow, given, here * here / (-there * curvature) if is_between else 0.0


@inner
def value_amount(edges, problem, start, price, cap, rounded, surplus, matrix):
    """Return what the amount is worth at most, gas not counted, at prices of tokens by number.

    Parameters
    ----------
    cap : float64 array
        What a straight edge takes of each token at most.
    surplus : float64 array
        Filled with the gradient: what comes to each token too much, in value.
    matrix : Skyline
        Filled with the second derivatives.
    """
    graph, end = problem.graph, edges.tokens.size - 1
    surplus[:] = 0.0
    matrix.entries[:] = 0.0
    total = surplus[start] = price[start] * problem.amount
    for m in range(edges.first.size - 1):
        where, most_earned, sold, bought, changed = -1, 0.0, 0.0, 0.0, 0.0
        for place in range(edges.first[m], edges.first[m + 1]):
            edge, u, v = graph.forward.edges[edges.edge[place]], edges.source[place], edges.target[place]
            most = min(edge["x_max"], cap[u])
            earned, flow, given, change = trade(edge, graph.pieces, price[u], price[v], most, rounded)
            if earned > most_earned:
                where, most_earned, sold, bought, changed = place, earned, flow, given, change
        if where < 0:
            continue
        u, v = edges.source[where], edges.target[where]
        total += most_earned
        surplus[u] -= price[u] * sold
        surplus[v] += price[v] * bought
        add_entry(matrix, u, u, changed)
        if v != end:
            add_entry(matrix, v, v, changed)
            add_entry(matrix, u, v, -changed)
    return total


@inner
def _close_straight_edges(edges, problem, price, cap):
    """Raise prices until no straight edge that takes any amount earns; return whether there are such prices."""
    graph = problem.graph
    for _ in range(PASSES):
        any_is = False
        for place in range(edges.edge.size):
            edge, u, v = graph.forward.edges[edges.edge[place]], edges.source[place], edges.target[place]
            least = price[v] * edge["max_average_price"]
            if price[u] < least and edge["x_max"] > LARGE * cap[u] and is_straight(edge, edge["x_max"]):
                price[u], any_is = least, True
        if not any_is:
            return True
    return False


@inner
def bound_net(edges, problem, start, price, cap):
    """Return what no allocation nets more than, by prices of tokens, which may be raised; infinite where they fail."""
    graph = problem.graph
    price[start] = max(price[start], problem.least_price)
    if not _close_straight_edges(edges, problem, price, cap):
        return np.inf
    total = price[start] * problem.amount
    for m in range(edges.first.size - 1):
        most = 0.0
        for place in range(edges.first[m], edges.first[m + 1]):
            edge, u, v = graph.forward.edges[edges.edge[place]], edges.source[place], edges.target[place]
            gain = find_gain(edge, graph.pieces, price[u], price[v], np.inf)
            if not gain < np.inf:
                return np.inf
            most = max(most, gain - value_base_gas(edge, problem.gas))
        total += most
    return total
