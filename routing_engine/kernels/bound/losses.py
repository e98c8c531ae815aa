"""What the markets of a route earn and lose at fixed prices of tokens.

Value every token at any price. A market that is used gains at most its surplus ``g`` at these prices, and pays its gas
``c``. A route nets at most what the amount is worth and what its markets earn, ``g - c`` each. The loss of an edge is
``c - g``; where it is negative, the edge earns.

Whatever sells a token must have got it: where an edge out of a token is used, so is one into it. So losses of edges
into a token may be charged against what edges out of it earn, as often as the least of them lasts; and likewise, what
is bought must be sold again. After that, sums over the edges of a route are no more than before, and single pools of
next to nothing at a wrong price no longer seem to earn anything.
"""

from __future__ import annotations

import numpy as np

from routing_engine.jit.decorators import inner
from routing_engine.kernels.bound.settled_prices import find_gain
from routing_engine.kernels.marginal_price import value_base_gas

CHARGES = 3
"""How often losses are charged: each time reaches one market further."""

ROUNDS = 12
"""Hops of the paths whose losses are compared, at most; where longer ones would lose less, nothing is said to be lost.
"""

ALL, MAIN = np.bool_(False), np.bool_(True)
"""Which edges paths may cross: all, or all but the minor ones."""


@inner
def _find_losses(problem, state, reached):
    """Fill the loss of each edge that leaves a token that is reached; infinite where none can be used."""
    graph, losses = problem.graph, state.losses
    for i in range(reached):
        u = state.inflow.reached[i]
        for e in range(graph.forward.first[u], graph.forward.first[u + 1]):
            edge = graph.forward.edges[e]
            v = edge["other"]
            losses.loss[e] = np.inf
            is_open = not state.closed[e] and problem.allowed[edge["market"]]
            if is_open and u != problem.end and v != problem.start and losses.price[v] > 0.0:
                gain = find_gain(edge, graph.pieces, losses.price[u], losses.price[v], state.limit[u])
                losses.loss[e] = value_base_gas(edge, problem.gas) - gain


@inner
def _measure_departures(v, graph, losses):
    """Return what edges out of a token earn together, and the least loss among them."""
    earned, least = 0.0, np.inf
    for e in range(graph.forward.first[v], graph.forward.first[v + 1]):
        earned += max(0.0, -losses.loss[e])
        least = min(least, losses.loss[e])
    return earned, least


@inner
def _measure_arrivals(v, graph, losses):
    """Return what edges into a token earn together, and the least loss among them."""
    earned, least = 0.0, np.inf
    for row in range(graph.reverse.first[v], graph.reverse.first[v + 1]):
        edge = graph.reverse.edges[row]
        if losses.price[edge["other"]] > 0.0:
            earned += max(0.0, -losses.loss[edge["twin"]])
            least = min(least, losses.loss[edge["twin"]])
    return earned, least


@inner
def _charge_departures(v, lost, kept, graph, losses):
    """Take `lost` off the losses of edges out of a token, or leave them the part `kept` of what they earn."""
    for e in range(graph.forward.first[v], graph.forward.first[v + 1]):
        if losses.loss[e] < 0.0:
            losses.loss[e] *= kept
        else:
            losses.loss[e] -= lost


@inner
def _charge_arrivals(v, lost, kept, graph, losses):
    """Take `lost` off the losses of edges into a token, or leave them the part `kept` of what they earn."""
    for row in range(graph.reverse.first[v], graph.reverse.first[v + 1]):
        edge = graph.reverse.edges[row]
        if losses.price[edge["other"]] > 0.0:
            if losses.loss[edge["twin"]] < 0.0:
                losses.loss[edge["twin"]] *= kept
            else:
                losses.loss[edge["twin"]] -= lost


@inner
def _charge_losses(problem, state, reached):
    """Charge losses into each token against what is earned out of it, and losses out of it against earnings into it."""
    graph, losses = problem.graph, state.losses
    for i in range(reached):
        v = state.inflow.reached[i]
        if v == problem.start or v == problem.end:
            continue
        earned, _ = _measure_departures(v, graph, losses)
        if earned > 0.0:
            _, least = _measure_arrivals(v, graph, losses)
            charged = min(least, earned)
            if charged > 0.0:
                _charge_departures(v, 0.0, 1.0 - charged / earned, graph, losses)
                _charge_arrivals(v, charged, 1.0, graph, losses)
        earned, _ = _measure_arrivals(v, graph, losses)
        if earned > 0.0:
            _, least = _measure_departures(v, graph, losses)
            charged = min(least, earned)
            if charged > 0.0:
                _charge_arrivals(v, 0.0, 1.0 - charged / earned, graph, losses)
                _charge_departures(v, charged, 1.0, graph, losses)


@inner
def _add_up_earnings(problem, state, reached):
    """Return what all markets earn, each over its best edge."""
    graph, loss, earned = problem.graph, state.losses.loss, 0.0
    for i in range(reached):
        u = state.inflow.reached[i]
        for e in range(graph.forward.first[u], graph.forward.first[u + 1]):
            market = graph.forward.edges[e]["market"]
            if -loss[e] > state.multiplier[market]:
                earned -= loss[e] + state.multiplier[market]
                state.multiplier[market] = -loss[e]
    for i in range(reached):
        u = state.inflow.reached[i]
        for e in range(graph.forward.first[u], graph.forward.first[u + 1]):
            state.multiplier[graph.forward.edges[e]["market"]] = 0.0
    return earned


@inner
def weigh_edges(problem, state, reached):
    """Fill `state.losses.loss` at the present prices and limits; return what all markets together may earn.

    Parameters
    ----------
    state : FlowState
        Whose `losses.price` holds prices of the tokens that are reached, and `multiplier` is all zero.
    """
    _find_losses(problem, state, reached)
    for _ in range(CHARGES):
        _charge_losses(problem, state, reached)
    return _add_up_earnings(problem, state, reached)


@inner
def spread_losses(problem, state, reached, lost, to_lose, is_main):
    """Fill the least loss of a path from the start to each token, and on to the end.

    Parameters
    ----------
    lost, to_lose : float64 arrays, shape (tokens,)
    is_main : bool
        Whether only paths without minor edges count.
    """
    graph, losses = problem.graph, state.losses
    for i in range(reached):
        lost[state.inflow.reached[i]] = to_lose[state.inflow.reached[i]] = np.inf
    lost[problem.start] = to_lose[problem.end] = 0.0
    for _ in range(ROUNDS):
        is_less = False
        for i in range(reached):
            u = state.inflow.reached[i]
            for e in range(graph.forward.first[u], graph.forward.first[u + 1]):
                if losses.loss[e] == np.inf or (is_main and losses.is_minor[e]):
                    continue
                v, loss = graph.forward.edges[e]["other"], max(0.0, losses.loss[e])
                if lost[u] + loss < lost[v]:
                    lost[v], is_less = lost[u] + loss, True
                if to_lose[v] + loss < to_lose[u]:
                    to_lose[u], is_less = to_lose[v] + loss, True
        if not is_less:
            return
    for i in range(reached):
        lost[state.inflow.reached[i]] = to_lose[state.inflow.reached[i]] = 0.0
