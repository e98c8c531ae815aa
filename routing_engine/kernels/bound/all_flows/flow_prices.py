"""What tokens are worth at most, whatever number of hops is left and however much of a token there is.

Dual prices by hops left (`dual_prices`) rest on how much can be at a token after so many hops. These have no such
limits, so they speak of flows over any number of markets. Prices rise from the end on until none rises any more: a
label-correcting search. Where it does not end, a loop of markets earns more than its gas and its multipliers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from routing_engine.jit.decorators import allocating, inlined, inner
from routing_engine.kernels.marginal_price import bound_net_rate_with_steps, value_base_gas, value_piece_gas
from routing_engine.kernels.work import spend

UNLIMITED = 1e200
"""More than there is of any token; finite, so that curves can be evaluated there."""

VISITS = 6
"""How often a token's price may rise on average before a loop is taken for granted: twice what it takes without one."""

NO_LOOP = -1


class FlowPrices(NamedTuple):
    """Prices by token: the best, the edge that it follows, and the best over another next token.

    `queue` is a ring of the tokens whose prices have risen since their edges were followed; `waits` marks them.
    """

    best: npt.NDArray[np.float64]
    via: npt.NDArray[np.int32]
    other: npt.NDArray[np.float64]
    other_via: npt.NDArray[np.int32]
    queue: npt.NDArray[np.int32]
    waits: npt.NDArray[np.bool_]


@allocating
def create_flow_prices(tokens):
    """Make room for the prices of so many tokens."""
    return FlowPrices(
        np.zeros(tokens),
        np.zeros(tokens, np.int32),
        np.zeros(tokens),
        np.zeros(tokens, np.int32),
        np.zeros(tokens + 1, np.int32),
        np.zeros(tokens, np.bool_),
    )


@inlined
def _look_up_price(prices, problem, v, u):
    """Price of token v for what came from u: never that of a way straight back."""
    if v == problem.end:
        return 1.0
    edges = problem.graph.forward.edges
    return prices.other[v] if edges[prices.via[v]]["other"] == u else prices.best[v]


@inlined
def _record_price(prices, edges, u, v, e, rate):
    """Keep the price that edge `e` from token u to token v gives u; return whether either of u's prices has risen."""
    best = prices.best[u]
    same = best > 0.0 and edges[prices.via[u]]["other"] == v
    if rate > best:
        if not same:
            prices.other[u], prices.other_via[u] = best, prices.via[u]
        prices.best[u], prices.via[u] = rate, e
        return True
    if same:
        return False
    prices.other[u], prices.other_via[u] = rate, e
    return True


@inner
def _follow_edges_to(v, last, prices, problem, state):
    """Let the edges that lead to token v raise prices; return where the queue ends then."""
    graph, size = problem.graph, prices.queue.size
    edges, reverse = graph.forward.edges, graph.reverse
    spend(problem.work, reverse.first[v + 1] - reverse.first[v])
    for row in range(reverse.first[v], reverse.first[v + 1]):
        edge = reverse.edges[row]
        u = edge["other"]
        if u == problem.end or not problem.allowed[edge["market"]]:
            continue
        price, floor = _look_up_price(prices, problem, v, u), prices.other[u]
        if price * edge["max_average_price"] <= floor:
            continue
        cost = value_base_gas(edge, problem.gas) + state.multiplier[edge["market"]]
        piece_cost = value_piece_gas(edge, problem.gas)
        rate = bound_net_rate_with_steps(edge, graph.pieces, price, cost, piece_cost, UNLIMITED)
        if rate <= floor or not _record_price(prices, edges, u, v, edge["twin"], rate):
            continue
        if u != problem.start and not prices.waits[u]:
            prices.waits[u] = True
            prices.queue[last] = u
            last = (last + 1) % size
    return last


@inner
def compute_flow_prices(prices, problem, state):
    """Fill the prices for the present multipliers.

    Returns
    -------
    int
        A token on, or behind, a loop that earns; `NO_LOOP` where there is none, and the prices hold.
    """
    size, first, last = prices.queue.size, 0, 1
    prices.best[:] = 0.0
    prices.other[:] = 0.0
    prices.waits[:] = False
    prices.queue[0] = problem.end
    for _ in range(VISITS * size):
        if first == last:
            return NO_LOOP
        v = prices.queue[first]
        first = (first + 1) % size
        prices.waits[v] = False
        last = _follow_edges_to(v, last, prices, problem, state)
    return prices.queue[first] if first != last else NO_LOOP


@inner
def trace_dearest_flow(prices, problem, token, path, dual_price):
    """Write the edges along which a token has its price, and the price of what each gives.

    Returns
    -------
    int
        Their number: as many as fit where the path runs into a loop.
    """
    edges, length, came = problem.graph.forward.edges, 0, -1
    while token != problem.end and length < path.size and prices.best[token] > 0.0:
        e = prices.via[token]
        if came >= 0 and edges[e]["other"] == came:
            e = prices.other_via[token]
        came, token = token, edges[e]["other"]
        path[length], dual_price[length] = e, _look_up_price(prices, problem, token, came)
        length += 1
    return length
