"""The best single path, proven: every path that a certificate's prices leave open is followed to its end."""

from __future__ import annotations

import numpy as np

from routing_engine.curves.kernels.edge_curve import bound_above, compute_amount_out
from routing_engine.jit.decorators import allocating, inner
from routing_engine.kernels.bound.dual_prices import look_up_price
from routing_engine.kernels.marginal_price import value_gas

TRIED = 50_000
"""Edges that are tried at most: half a millisecond. Prices of a market without dust leave a few hundred open."""


@inner
def _is_used(v, market, depth, token, cursor, edges):
    """Whether the path so far has been at token v, or has used the market."""
    used = token[depth] == v
    for d in range(depth):
        used |= token[d] == v or edges[cursor[d] - 1]["market"] == market
    return used


@inner
def _look_up_best_price(duals, edges, v, u, left):
    """Dual price of v with at most `left` hops to go, for a route that came from u; 0 where no route is good enough."""
    most = 0.0
    for k in range(1, left + 1):
        if duals.best[k, v] > 0.0:
            most = max(most, look_up_price(duals, edges, k, v, u))
    return most


@allocating
def find_best_single_path(problem, state, duals, net):
    """Return the largest net output of a single path that takes the whole amount.

    Depth first, with the amounts that really arrive; a path is left where what it has, at the prices, is worth no more
    than the best path so far.

    Parameters
    ----------
    duals : DualPrices
        Filled by `compute_dual_prices` for routes of one path that are worth more than `net`.
    net : float
        What some path is known to give.

    Returns
    -------
    float
        At least `net`; infinite where too many paths are open.
    """
    graph, forward, edges, hops = problem.graph, problem.graph.forward, problem.graph.forward.edges, problem.max_hops
    token, cursor = np.zeros(hops, np.int64), np.zeros(hops, np.int64)
    arrived, cost = np.zeros(hops), np.zeros(hops)
    token[0], cursor[0], arrived[0] = problem.start, forward.first[problem.start], problem.amount
    depth, best, tried = np.int64(0), net, 0
    while depth >= 0:
        u, e = token[depth], cursor[depth]
        if e == forward.first[u + 1]:
            depth -= 1
            continue
        cursor[depth] += 1
        tried += 1
        if tried > TRIED:
            return np.inf
        edge = edges[e]
        v = edge["other"]
        dual_price = 1.0 if v == problem.end else _look_up_best_price(duals, edges, v, u, hops - depth - 1)
        if dual_price == 0.0 or state.closed[e] or not problem.allowed[edge["market"]]:
            continue
        if _is_used(v, edge["market"], depth, token, cursor, edges):
            continue
        out, _ = compute_amount_out(edge, graph.pieces, arrived[depth])
        out *= bound_above(edge, graph.pieces, arrived[depth])
        spent = cost[depth] + value_gas(edge, graph.pieces, problem.gas, arrived[depth])
        if not out * dual_price - spent > best:
            continue
        if v == problem.end:
            best = out - spent
            continue
        depth += 1
        token[depth], cursor[depth], arrived[depth], cost[depth] = v, forward.first[v], out, spent
    return best
