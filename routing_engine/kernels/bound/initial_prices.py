"""Prices that an allocation suggests for the tokens on its way: the search for a certificate begins with them.

At the optimum all prices that can be read off an allocation agree. It is optimal to within a tolerance only. So edges
of next to no flow, and flows that end at a kink of their curve, are not asked where others know better.
"""

from __future__ import annotations

import numpy as np

from routing_engine.jit.decorators import inner
from routing_engine.kernels.marginal_price import compute_derivatives, value_gas

PROBE = 2e-4
"""How far from a flow, relatively, marginal prices are compared to see a kink."""

KINK = 1e-2
"""Relative drop of the marginal price that counts as a kink."""

LEAST_GIVEN = 1e-5
"""Part of the allocation's output that an edge must be worth to have a say on the price of what it takes."""

LEAST_TAKEN = 1e-6
"""The same, for a say on the price of what it gives, which is asked for where no other edge knows it."""

START_SHARE = 0.1
"""Part of the output that decides on the dual price at the start."""

NOT_AT_KINKS, AT_KINKS = np.bool_(False), np.bool_(True)
"""Whether edges whose flow ends at a kink have a say."""


@inner
def count_hops(step, p):
    """Count the hops of path p."""
    length = 0
    while length < step.shape[1] and step[p, length] >= 0:
        length += 1
    return length


@inner
def _measure_slope(i, at_kinks, merged):
    """Marginal price of edge i of the network; 0 at a kink, unless kinks are asked for: then that just above it.

    Above the largest input nothing is given; a small price stands for that.
    """
    graph, network = merged.graph, merged.network
    edge, flow = graph.forward.edges[network.edge[i]], network.flow[i]
    _, below, _ = compute_derivatives(edge, graph.pieces, flow * (1.0 - PROBE))
    above = 0.0
    if flow * (1.0 + PROBE) <= edge["x_max"]:
        _, above, _ = compute_derivatives(edge, graph.pieces, flow * (1.0 + PROBE))
    if below <= above * (1.0 + KINK):
        return network.slope[i]
    return max(above, 1e-6 * below) if at_kinks else 0.0


@inner
def _value_input(i, dual_price, at_kinks, merged, gas):
    """Value of a unit of what edge i takes, where what it gives has this dual price; 0 where it has no say.

    It is the marginal price, or where gas outweighs, the average one.
    """
    network = merged.network
    edge, flow = merged.graph.forward.edges[network.edge[i]], network.flow[i]
    average = (dual_price * network.out[i] - value_gas(edge, merged.graph.pieces, gas, flow)) / flow
    return max(0.0, min(dual_price * _measure_slope(i, at_kinks, merged), average))


@inner
def _price_start(merged, net):
    """Dual price of the start: the least price at which, or below, a fair share of the output has come.

    Over full edges no more can be had at their price; a path of little may have any price.
    """
    network, level = merged.network, np.inf
    for p in range(merged.path_count):
        total = 0.0
        for q in range(merged.path_count):
            if network.price[q] <= network.price[p]:
                total += network.carried[q]
        if total > START_SHARE * net:
            level = min(level, network.price[p])
    return level


@inner
def _has_largest_flow(i, k, merged):
    """Whether no path with k hops left sends more through another edge from the same token than through edge i."""
    source, network, largest = merged.graph.source, merged.network, True
    step = network.step
    for p in range(merged.path_count):
        hops = count_hops(step, p)
        j = step[p, hops - k] if hops >= k else i
        if j != i and source[network.edge[j]] == source[network.edge[i]]:
            largest &= network.flow[j] < network.flow[i]
    return largest


@inner
def _price_rounds_backwards(at_kinks, merged, problem, target, net):
    """Price tokens by hops left from what edges give, from the end on; at kinks only tokens without a price."""
    network, edges, source = merged.network, merged.graph.forward.edges, merged.graph.source
    for k in range(1, problem.max_hops + 1):
        for p in range(merged.path_count):
            hops = count_hops(network.step, p)
            if hops < k:
                continue
            i = network.step[p, hops - k]
            u, dual_price = source[network.edge[i]], target[k - 1, edges[network.edge[i]]["other"]]
            if dual_price * network.out[i] < LEAST_GIVEN * net or (at_kinks and target[k, u] > 0.0):
                continue
            rate = _value_input(i, dual_price, at_kinks, merged, problem.gas)
            if rate > 0.0 and (target[k, u] == 0.0 or _has_largest_flow(i, k, merged)):
                target[k, u] = rate


@inner
def _price_rounds_forwards(merged, problem, target, net):
    """Price tokens without a price by what it costs to get there, from the start on."""
    network, edges, source = merged.network, merged.graph.forward.edges, merged.graph.source
    for k in range(problem.max_hops, 1, -1):
        for p in range(merged.path_count):
            hops = count_hops(network.step, p)
            if hops < k:
                continue
            i = network.step[p, hops - k]
            u, v = source[network.edge[i]], edges[network.edge[i]]["other"]
            slope = _measure_slope(i, NOT_AT_KINKS, merged)
            if target[k - 1, v] == 0.0 and target[k, u] * network.flow[i] > LEAST_TAKEN * net and slope > 0.0:
                target[k - 1, v] = target[k, u] / slope


@inner
def price_rounds(merged, problem, duals, net):
    """Fill `duals.target`, by hops left and token, with prices of the allocation's paths.

    An edge that ends at a kink says little about the price of what it takes. So first the others speak, backwards from
    the end, then what it costs to get there, forwards; what is unknown then is taken from the kinks.
    """
    target = duals.target
    target[0, problem.end] = 1.0
    for turn in range(2):
        _price_rounds_backwards(turn == 1, merged, problem, target, net)
        # Shorter and longer paths are worth the same at the start.
        for k in range(1, problem.max_hops + 1):
            target[k, problem.start] = _price_start(merged, net)
        _price_rounds_forwards(merged, problem, target, net)


@inner
def _price_backwards(at_kinks, merged, problem, price, net):
    """Price tokens that have none by what the largest edge that leaves them gives, from the end on."""
    network, edges, source = merged.network, merged.graph.forward.edges, merged.graph.source
    for i in range(merged.edge_count - 1, -1, -1):
        u, v = source[network.edge[i]], edges[network.edge[i]]["other"]
        dual_price = 1.0 if v == problem.end else price[v]
        if u == problem.start or dual_price * network.out[i] < LEAST_GIVEN * net:
            continue
        largest = True
        for j in range(merged.edge_count):
            if source[network.edge[j]] == u and network.flow[j] > network.flow[i]:
                largest &= _measure_slope(j, at_kinks, merged) == 0.0
        if price[u] == 0.0 or (largest and not at_kinks):
            price[u] = _value_input(i, dual_price, at_kinks, merged, problem.gas)


@inner
def price_tokens(merged, problem, duals, net):
    """Fill `duals.target` with one price for each token on the way, whatever number of hops is left.

    Like `price_rounds`, with more to say where paths of different lengths meet, and less where hops are what is scarce.
    """
    network, edges, source = merged.network, merged.graph.forward.edges, merged.graph.source
    price = duals.target[0]
    _price_backwards(NOT_AT_KINKS, merged, problem, price, net)
    price[problem.start] = _price_start(merged, net)
    for i in range(merged.edge_count):
        u, v = source[network.edge[i]], edges[network.edge[i]]["other"]
        slope = _measure_slope(i, NOT_AT_KINKS, merged)
        if v != problem.end and price[v] == 0.0 and price[u] * network.flow[i] > LEAST_TAKEN * net and slope > 0.0:
            price[v] = price[u] / slope
    _price_backwards(AT_KINKS, merged, problem, price, net)
    for i in range(merged.edge_count):
        for k in range(1, problem.max_hops + 1):
            duals.target[k, source[network.edge[i]]] = price[source[network.edge[i]]]
    duals.target[0, problem.end] = 1.0
