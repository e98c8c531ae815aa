"""What a unit of each token is worth at most: it tells which edges can be on a route that is worth enough.

Backwards from the target the best average prices of markets are multiplied. No dual price is larger, whatever flows,
gas and multipliers are. With what can be at a token at most (`flow_limits`), from the start on, an edge on which both
ends bring too little together is on no route that counts.
"""

from __future__ import annotations

import numpy as np

from routing_engine.jit.decorators import inlined, inner
from routing_engine.kernels.search.frontier import count_adjacent_edges, count_edges

LEAST, MARGIN = 0, 1
"""Places in `Outlook.scope`: what routes that count are worth at least, and by how much more than asked for the next
outlook will reach."""

FIRST_MARGIN, WIDER = 2e-4, 4.0
"""Part by which an outlook reaches lower than what is asked, as the next question often asks a little less; and the
factor by which that grows each time that it was not enough."""

UNKNOWN_SCOPE = (np.inf, FIRST_MARGIN)
"""Where there is no outlook yet."""


@inlined
def _may_raise_highest(k, u, v, link, problem, state):
    """Whether an edge from u to v may do so: of most that do not, nothing but the link is read."""
    outlook = state.outlook
    price = outlook.most[k, v] * link["rate"]
    return (
        price > outlook.most[k + 1, u] and price * state.inflow.most[problem.max_hops - k - 1, u] > outlook.scope[LEAST]
    )


@inlined
def _raise_highest(k, e, u, v, edge, problem, state):
    """Let forward edge `e` raise what u is worth over up to k + 1 hops; return whether it is the first of the round."""
    outlook = state.outlook
    price, known = outlook.most[k, v] * edge["max_average_price"], outlook.most[k + 1, u]
    if price <= known or price * state.inflow.most[problem.max_hops - k - 1, u] <= outlook.scope[LEAST]:
        return False
    if state.closed[e] or not problem.allowed[edge["market"]]:
        return False
    outlook.most[k + 1, u] = price
    return known == outlook.most[k, u]


@inner
def _look_back_from(k, first, last, problem, state):
    """Follow the edges that lead to the round's tokens; return how many tokens are reached."""
    reverse, outlook, size = problem.graph.reverse, state.outlook, last
    for i in range(first, last):
        v = outlook.reached[i]
        for row in range(reverse.first[v], reverse.first[v + 1]):
            u = reverse.links[row]["other"]
            if u == problem.start or u == problem.end:
                continue
            if not _may_raise_highest(k, u, v, reverse.links[row], problem, state):
                continue
            edge = reverse.edges[row]
            if _raise_highest(k, edge["twin"], u, v, edge, problem, state):
                outlook.reached[size] = u
                size += 1
    return size


@inner
def _look_back_near_start(k, size, problem, state):
    """Follow the edges of the tokens adjacent to the start; return how many tokens are reached."""
    forward, outlook, start = problem.graph.forward, state.outlook, problem.start
    for row in range(forward.first[start], forward.first[start + 1]):
        u = forward.links[row]["other"]
        if u == problem.end:
            continue
        found = False
        for e in range(forward.first[u], forward.first[u + 1]):
            v = forward.links[e]["other"]
            if v != start and _may_raise_highest(k, u, v, forward.links[e], problem, state):
                found |= _raise_highest(k, e, u, v, forward.edges[e], problem, state)
        if found:
            outlook.reached[size] = u
            size += 1
    return size


@inner
def fill_outlook(problem, state, enough):
    """Fill `state.outlook` for routes that may be worth more than `enough`, and for some that are worth less.

    A token is followed only where it is worth more than over fewer hops.
    """
    graph, outlook, max_hops = problem.graph, state.outlook, problem.max_hops
    most, reached, scope = outlook.most, outlook.reached, outlook.scope
    scope[LEAST] = enough * max(0.0, 1.0 - scope[MARGIN])
    scope[MARGIN] *= WIDER
    reached[0] = problem.end
    most[0, problem.end] = 1.0
    last, size = 0, 1  # the round's tokens begin at `last`
    edges_near_start = count_adjacent_edges(graph.forward, problem.start)
    for k in range(max_hops - 1):
        for i in range(size):
            most[k + 1, reached[i]] = most[k, reached[i]]
        first, last = last, size
        if k == max_hops - 2 and edges_near_start < count_edges(graph.reverse.first, reached[first:], last - first):
            size = _look_back_near_start(k, size, problem, state)
        else:
            size = _look_back_from(k, first, last, problem, state)
    outlook.size[0] = size


@inner
def clear_outlook(outlook):
    """Undo `fill_outlook`; the margin stays as it is."""
    for i in range(outlook.size[0]):
        outlook.most[:, outlook.reached[i]] = 0.0
    outlook.size[0] = 0
    outlook.scope[LEAST] = np.inf


@inlined
def may_count(u, v, rate, problem, state):
    """Whether an edge from token u to token v may be on a route that counts: `rate` is its best average price."""
    outlook, inflow, last = state.outlook, state.inflow, problem.max_hops - 1
    least = outlook.scope[LEAST]
    if inflow.most[last, u] * rate * outlook.most[last, v] <= least:
        return False
    found = False
    for k in range(last + 1):
        found |= inflow.most[last - k, u] * rate * outlook.most[k, v] > least
    return found
