"""Certificates: an upper bound of what any division over routes of few hops can give, gas counted, by duality.

Let ``w`` be prices: ``w(k, v | u)`` is what a unit of token v is worth with k hops left, to a route that came from u.
Let each market be allowed to earn ``extra`` beside its gas. If at these prices no edge earns more than its gas and its
market's extra, then no division nets more than the start's price times the amount, plus all extras: at every market the
value that comes out exceeds the value that goes in by no more than what was allowed. (Weak Lagrangian duality; the
fixed cost of gas needs no convexity, as each market is used or not.)

Backwards from the target, `dearest` finds the least such prices for given extras: the price of a token is the best net
average price over its edges. What a route came from matters so that a price never counts a way straight back: with at
most four hops, and ends that are visited once, exactly the simple paths are left.

`certify` chooses the extras: what the markets in use earn at the marginal prices of the division, and then, where
a market that is not in use drives the start's price, what it would earn at the division's prices.
"""

from __future__ import annotations

import numpy as np

from routing_engine.jit.decorators import inner, kernel
from routing_engine.kernels.bound.dual_prices import clear_worths, dearest, dearest_path
from routing_engine.kernels.bound.initial_prices import length_of, price_rounds, price_tokens
from routing_engine.kernels.marginal_price import arbitrage, gas_used
from routing_engine.kernels.search.frontier import mark_beside

REFINEMENTS = 48

CLOSE = 1e-7
"""Relative gap at which a bound is good enough."""

TOGETHER = np.bool_(False)
"""Routes of many paths are judged, not of one alone."""


@inner
def _most_valued(target, token):
    """Return the highest target price of a token over all numbers of hops left."""
    most = 0.0
    for k in range(target.shape[0]):
        most = max(most, target[k, token])
    return most


@inner
def allow(count, total, network, board, task, load, worths):
    """Allow each market in use what it earns at the target prices; return the sum."""
    edges, source = board.forward.edges, board.source
    for k in range(1, task.max_hops + 1):
        for p in range(count):
            if length_of(network.step, p) < k:
                continue
            i = network.step[p, length_of(network.step, p) - k]
            edge = edges[network.edge[i]]
            u, v = source[network.edge[i]], edge["other"]
            earned = worths.target[k - 1, v] * network.out[i] - worths.target[k, u] * network.flow[i]
            market = edge["market"]
            gas = gas_used(edge, board.tables, task.gas, network.flow[i])
            load.extra[market] = max(load.extra[market], earned - gas)
    together = 0.0
    for i in range(total):
        together += load.extra[edges[network.edge[i]]["market"]]
    return together


@inner
def forget(total, network, board, task, worths):
    """Undo the target prices."""
    source = board.source
    for i in range(total):
        for k in range(task.max_hops + 1):
            worths.target[k, source[network.edge[i]]] = 0.0
    worths.target[0, task.end] = 0.0


@inner
def _cheapest_payment(length, path, worth, board, task, load, worths):
    """Return what to allow more, and to which market, so that the dearest path's price falls to the target's."""
    edges, source, tables = board.forward.edges, board.source, board.tables
    least, where, here = np.inf, -1, 0.0
    for i in range(length):
        edge = edges[path[i]]
        u = source[path[i]]
        known = worths.target[length - i, u]
        if known == 0.0:
            known = _most_valued(worths.target, u)
        here = known if known > 0.0 or i == 0 else here / edges[path[i - 1]]["steepest"]
        if here <= 0.0 or edge["concave"] == 0:
            continue
        earned, flow = arbitrage(edge, tables, worth[i], here, load.limit[u])
        more = earned - gas_used(edge, tables, task.gas, flow) - load.extra[edge["market"]]
        if 0.0 < more < least:
            least, where = more, edge["market"]
    return least * (1.0 + 1e-9), where


@kernel
def certify(board, load, task, worths, near, count, total, network, amount, floor):
    """Bound the net output of every division of at most `amount`.

    Parameters
    ----------
    load : Load
        With `most` filled for the amount.
    count, total, network : int, int, Network
        The division that is to be judged: paths, edges, and their flows after `divide`.
    floor : float
        Its net output; a bound that is as good as this is not improved further.

    Returns
    -------
    bound : float
        Of the net output of the whole amount, in units of the target.
    price : float
        What less of the amount takes off the bound, for each unit.
    """
    forward, edges = board.forward, board.forward.edges
    start, max_hops = task.start, task.max_hops
    path, worth = np.zeros(max_hops, np.int64), np.zeros(max_hops)
    paid = np.zeros(REFINEMENTS, np.int64)
    mark_beside(forward, start, near, True)
    least, slope = np.inf, 0.0
    for rule in range(2):
        if rule == 0:
            price_rounds(count, network, board, task, worths, floor)
        else:
            price_tokens(count, total, network, board, task, worths, floor)
        extras = allow(count, total, network, board, task, load, worths)
        for turn in range(REFINEMENTS):
            price = dearest(board, load, task, worths, near, amount, floor - extras, TOGETHER)
            if price * amount + extras < least:
                least, slope = price * amount + extras, price
            length = dearest_path(worths, edges, max_hops, start, path, worth)
            clear_worths(worths)
            paid[turn] = -1
            if length == 0 or least <= floor * (1.0 + CLOSE):
                break
            more, where = _cheapest_payment(length, path, worth, board, task, load, worths)
            if where < 0 or more > price * amount:
                break
            load.extra[where] += more
            extras += more
            paid[turn] = where
        for turn in range(REFINEMENTS):
            if paid[turn] < 0:
                break
            load.extra[paid[turn]] = 0.0
        forget(total, network, board, task, worths)
        for i in range(total):
            load.extra[edges[network.edge[i]]["market"]] = 0.0
        if least <= floor * (1.0 + CLOSE):
            break
    mark_beside(forward, start, near, False)
    return least, slope
