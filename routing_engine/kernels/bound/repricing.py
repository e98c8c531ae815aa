"""Dual prices found anew where a market may earn more than before: only of the tokens that have their price from it.

A certificate allows one market more, again and again. Each time prices can only fall, and only those that follow one of
the market's edges, and those that follow an edge to a token whose price has fallen: of a market's thousands of tokens a
few. The others are what `compute_dual_prices` would find.
"""

from __future__ import annotations

from routing_engine.jit.decorators import inlined, inner
from routing_engine.kernels.bound.dual_prices import Step, may_raise_price, raise_price
from routing_engine.kernels.bound.open_edges import list_edges_from, list_edges_to
from routing_engine.kernels.work import spend


@inlined
def _await_price(k, u, e, duals):
    """Let token u wait for another price with k hops left, if edge e gives it one of those that it has."""
    if duals.best[k, u] == 0.0 or duals.waits[k, u]:
        return
    if duals.via[k, u] == e or (duals.other[k, u] > 0.0 and duals.other_via[k, u] == e):
        duals.waits[k, u] = True
        duals.queue[k, duals.waiting[k]] = u
        duals.waiting[k] += 1


@inner
def _price_again(k, u, problem, state, duals, enough):
    """Find the prices of token u with k hops left anew; return whether one has changed."""
    edges = problem.graph.forward.edges
    best, via, other, other_via = duals.best[k, u], duals.via[k, u], duals.other[k, u], duals.other_via[k, u]
    duals.best[k, u] = duals.other[k, u] = 0.0
    first, last = list_edges_from(u, problem, state)
    spend(problem.work, last - first)
    for place in range(first, last):
        listed = state.open_edges.listed[place]
        v = listed["other"]
        if may_raise_price(k - 1, u, v, listed, problem, state, duals, enough):
            raise_price(Step(k - 1, listed["edge"], u, v), edges[listed["edge"]], problem, state, duals, enough)
    is_same = duals.best[k, u] == best and duals.other[k, u] == other
    return not (is_same and duals.via[k, u] == via and duals.other_via[k, u] == other_via)


@inner
def lower_dual_prices(market, problem, state, duals, enough):
    """Bring the dual prices up to date after the multiplier of one market has risen.

    Parameters
    ----------
    enough : float
        What `compute_dual_prices` was given; lists of open edges are those of then.
    """
    graph, max_hops = problem.graph, problem.max_hops
    for place in range(graph.market_first[market], graph.market_first[market + 1]):
        e = graph.market_edges[place]
        for k in range(1, max_hops + 1):
            _await_price(k, graph.source[e], e, duals)
    for k in range(1, max_hops + 1):
        for i in range(duals.waiting[k]):
            u = duals.queue[k, i]
            duals.waits[k, u] = False
            if not _price_again(k, u, problem, state, duals, enough) or k == max_hops:
                continue
            first, last = list_edges_to(u, problem, state)
            spend(problem.work, last - first)
            for place in range(first, last):
                listed = state.open_edges.listed[place]
                _await_price(k + 1, listed["other"], listed["edge"], duals)
        duals.waiting[k] = 0
