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
def _find_losses(problem, state):
    """Fill the gain and the loss of each edge."""
    graph, losses, listed = problem.graph, state.losses, state.losses.edges
    for place in range(listed.size[0]):
        edge, u = graph.forward.edges[listed.edge[place]], listed.source[place]
        here, there = losses.price[u], losses.price[listed.target[place]]
        losses.gain[place] = find_gain(edge, graph.pieces, here, there, state.limit[u])
        losses.loss[place] = value_base_gas(edge, problem.gas) - losses.gain[place]


@inner
def _measure_departures(v, losses):
    """Return what edges out of a token earn together, and the least loss among them."""
    earned, least = 0.0, np.inf
    for place in range(losses.edges.span[v, 0], losses.edges.span[v, 1]):
        earned += max(0.0, -losses.loss[place])
        least = min(least, losses.loss[place])
    return earned, least


@inner
def _measure_arrivals(v, losses):
    """Return what edges into a token earn together, and the least loss among them."""
    earned, least = 0.0, np.inf
    for i in range(losses.edges.span[v, 2], losses.edges.span[v, 3]):
        loss = losses.loss[losses.edges.arriving[i]]
        earned += max(0.0, -loss)
        least = min(least, loss)
    return earned, least


@inner
def _charge(place, lost, kept, losses):
    """Take `lost` off an edge's loss, or leave it the part `kept` of what it earns."""
    if losses.loss[place] < 0.0:
        losses.loss[place] *= kept
    else:
        losses.loss[place] -= lost


@inner
def _charge_departures(v, lost, kept, losses):
    """Charge edges out of a token."""
    for place in range(losses.edges.span[v, 0], losses.edges.span[v, 1]):
        _charge(place, lost, kept, losses)


@inner
def _charge_arrivals(v, lost, kept, losses):
    """Charge edges into a token."""
    for i in range(losses.edges.span[v, 2], losses.edges.span[v, 3]):
        _charge(losses.edges.arriving[i], lost, kept, losses)


@inner
def _charge_losses(problem, state, reached):
    """Charge losses into each token against what is earned out of it, and losses out of it against earnings into it."""
    losses = state.losses
    for i in range(reached):
        v = state.inflow.reached[i]
        if v == problem.start or v == problem.end:
            continue
        earned, _ = _measure_departures(v, losses)
        if earned > 0.0:
            _, least = _measure_arrivals(v, losses)
            charged = min(least, earned)
            if charged > 0.0:
                _charge_departures(v, 0.0, 1.0 - charged / earned, losses)
                _charge_arrivals(v, charged, 1.0, losses)
        earned, _ = _measure_arrivals(v, losses)
        if earned > 0.0:
            _, least = _measure_departures(v, losses)
            charged = min(least, earned)
            if charged > 0.0:
                _charge_arrivals(v, 0.0, 1.0 - charged / earned, losses)
                _charge_departures(v, charged, 1.0, losses)


@inner
def _add_up_earnings(problem, state):
    """Return what all markets earn, each over its best edge."""
    edges, loss, listed, earned = problem.graph.forward.edges, state.losses.loss, state.losses.edges, 0.0
    for place in range(listed.size[0]):
        if loss[place] < 0.0:
            market = edges[listed.edge[place]]["market"]
            if -loss[place] > state.multiplier[market]:
                earned -= loss[place] + state.multiplier[market]
                state.multiplier[market] = -loss[place]
    for place in range(listed.size[0]):
        if loss[place] < 0.0:
            state.multiplier[edges[listed.edge[place]]["market"]] = 0.0
    return earned


@inner
def weigh_edges(problem, state, reached):
    """Fill `state.losses.loss` at the present prices and limits; return what all markets together may earn.

    Parameters
    ----------
    state : FlowState
        Whose `losses.edges` are listed, `losses.price` holds prices of the tokens that are reached, and `multiplier` is
        all zero.
    """
    _find_losses(problem, state)
    for _ in range(CHARGES):
        _charge_losses(problem, state, reached)
    return _add_up_earnings(problem, state)


@inner
def spread_losses(problem, state, reached, lost, to_lose, is_main):
    """Fill the least loss of a path from the start to each token, and on to the end.

    Parameters
    ----------
    lost, to_lose : float64 arrays, shape (tokens,)
    is_main : bool
        Whether only paths without minor edges count.
    """
    losses, listed = state.losses, state.losses.edges
    for i in range(reached):
        lost[state.inflow.reached[i]] = to_lose[state.inflow.reached[i]] = np.inf
    lost[problem.start] = to_lose[problem.end] = 0.0
    for _ in range(ROUNDS):
        is_less = False
        for place in range(listed.size[0]):
            if is_main and losses.is_minor[place]:
                continue
            u, v, loss = listed.source[place], listed.target[place], max(0.0, losses.loss[place])
            if lost[u] + loss < lost[v]:
                lost[v], is_less = lost[u] + loss, True
            if to_lose[v] + loss < to_lose[u]:
                to_lose[u], is_less = to_lose[v] + loss, True
        if not is_less:
            return
    for i in range(reached):
        lost[state.inflow.reached[i]] = to_lose[state.inflow.reached[i]] = 0.0
