"""Prices that a division suggests for the tokens on its way: where the search for a certificate begins; see `bound`.

At the optimum all prices that can be read off a division agree. It is optimal to within a tolerance only: what is said
by edges of next to no flow, or of a flow that ends at a kink of its curve, is left to others that know better.
"""

from __future__ import annotations

import numpy as np

from routing_engine.jit.decorators import inner
from routing_engine.kernels.marginal_price import derivatives, gas_used

BESIDE = 2e-4
"""How far beside a flow, relatively, marginal prices are compared to see a kink."""

KINK = 1e-2
"""Relative drop of the marginal price that counts as a kink."""

DUST = 1e-5
"""Part of the division's output that an edge must be worth to have a say on the price of what it takes."""

FAINT = 1e-6
"""The same, for a say on the price of what it gives, which is asked for where nobody else knows."""


FAIR = 0.1
"""Part of the output that decides on the worth of a unit at the start."""


@inner
def length_of(step, p):
    """Count the hops of path p."""
    length = 0
    while length < step.shape[1] and step[p, length] >= 0:
        length += 1
    return length


@inner
def _slope(i, at_kinks, network, board):
    """Marginal price of edge i of the network; 0 at a kink, unless kinks are asked for: then that just above it.

    Above the largest input nothing is given; a small price stands for that.
    """
    edge, flow = board.forward.edges[network.edge[i]], network.flow[i]
    _, below, _ = derivatives(edge, board.tables, flow * (1.0 - BESIDE))
    above = 0.0
    if flow * (1.0 + BESIDE) <= edge["x_max"]:
        _, above, _ = derivatives(edge, board.tables, flow * (1.0 + BESIDE))
    if below <= above * (1.0 + KINK):
        return network.slope[i]
    return max(above, 1e-6 * below) if at_kinks else 0.0


@inner
def _rate(i, worth, at_kinks, network, board, task):
    """Worth of a unit of what edge i takes, where what it gives is worth `worth`; 0 where it has no say.

    It is the marginal price, or where gas outweighs, the average one.
    """
    edge, flow = board.forward.edges[network.edge[i]], network.flow[i]
    average = (worth * network.out[i] - gas_used(edge, board.tables, task.gas, flow)) / flow
    return max(0.0, min(worth * _slope(i, at_kinks, network, board), average))


@inner
def _level(count, network, net):
    """Worth of a unit at the start: the least price that a fair share of the output has come for, that or less.

    Over full edges more is given, but not to be had; a path of little may be anywhere.
    """
    level = np.inf
    for p in range(count):
        together = 0.0
        for q in range(count):
            if network.price[q] <= network.price[p]:
                together += network.carried[q]
        if together > FAIR * net:
            level = min(level, network.price[p])
    return level


@inner
def _has_largest(i, k, count, network, source):
    """Whether no path with k hops left sends more through another edge from the same token than through edge i."""
    largest, step = True, network.step
    for p in range(count):
        j = step[p, length_of(step, p) - k] if length_of(step, p) >= k else i
        if j != i and source[network.edge[j]] == source[network.edge[i]]:
            largest &= network.flow[j] < network.flow[i]
    return largest


@inner
def price_rounds(count, network, board, task, worths, net):
    """Fill `worths.target`, by hops left and token, with prices of the division's paths.

    An edge that ends at a kink says little about the price of what it takes. So first the others speak, backwards from
    the end, then what it costs to get there, forwards; what is unknown then is taken from the kinks.
    """
    target, step, hops = worths.target, network.step, task.max_hops
    edges, source = board.forward.edges, board.source
    target[0, task.end] = 1.0
    for at_kinks in range(2):
        for k in range(1, hops + 1):
            for p in range(count):
                if length_of(step, p) < k:
                    continue
                i = step[p, length_of(step, p) - k]
                u, worth = source[network.edge[i]], target[k - 1, edges[network.edge[i]]["other"]]
                if worth * network.out[i] < DUST * net or (at_kinks == 1 and target[k, u] > 0.0):
                    continue
                rate = _rate(i, worth, at_kinks == 1, network, board, task)
                if rate > 0.0 and (target[k, u] == 0.0 or _has_largest(i, k, count, network, source)):
                    target[k, u] = rate
        # Shorter and longer paths are worth the same at the start.
        for k in range(1, hops + 1):
            target[k, task.start] = _level(count, network, net)
        for k in range(hops, 1, -1):
            for p in range(count):
                if length_of(step, p) < k:
                    continue
                i = step[p, length_of(step, p) - k]
                u, v = source[network.edge[i]], edges[network.edge[i]]["other"]
                slope = _slope(i, False, network, board)
                if target[k - 1, v] == 0.0 and target[k, u] * network.flow[i] > FAINT * net and slope > 0.0:
                    target[k - 1, v] = target[k, u] / slope


@inner
def _price_backwards(at_kinks, total, network, board, task, price, net):
    """Price tokens that have none by what the largest edge that leaves them gives, from the end on."""
    edges, source = board.forward.edges, board.source
    for i in range(total - 1, -1, -1):
        u, v = source[network.edge[i]], edges[network.edge[i]]["other"]
        worth = 1.0 if v == task.end else price[v]
        if u == task.start or worth * network.out[i] < DUST * net:
            continue
        largest = True
        for j in range(total):
            if source[network.edge[j]] == u and network.flow[j] > network.flow[i]:
                largest &= _slope(j, at_kinks, network, board) == 0.0
        if price[u] == 0.0 or (largest and not at_kinks):
            price[u] = _rate(i, worth, at_kinks, network, board, task)


@inner
def price_tokens(count, total, network, board, task, worths, net):
    """Fill `worths.target` with one price for each token on the way, whatever number of hops is left.

    Like `price_rounds`, with more to say where paths of different lengths meet, and less where hops are what is scarce.
    """
    edges, source, price = board.forward.edges, board.source, worths.target[0]
    _price_backwards(False, total, network, board, task, price, net)
    price[task.start] = _level(count, network, net)
    for i in range(total):
        u, v = source[network.edge[i]], edges[network.edge[i]]["other"]
        slope = _slope(i, False, network, board)
        if v != task.end and price[v] == 0.0 and price[u] * network.flow[i] > FAINT * net and slope > 0.0:
            price[v] = price[u] / slope
    _price_backwards(True, total, network, board, task, price, net)
    for i in range(total):
        for k in range(1, task.max_hops + 1):
            worths.target[k, source[network.edge[i]]] = price[source[network.edge[i]]]
    worths.target[0, task.end] = 1.0
