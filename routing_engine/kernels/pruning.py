"""Divisions over paths that earn their gas: divide, drop what brings nothing, drop what costs more than it brings."""

from __future__ import annotations

import numpy as np

from routing_engine.kernels import inner, kernel
from routing_engine.kernels.division import divide
from routing_engine.kernels.network import INFEASIBLE, merge, new_network
from routing_engine.kernels.slopes import gas_of, gas_used
from routing_engine.kernels.vectors import least_of

NEGLIGIBLE = 1e-9
"""Share of the amount below which a path is dropped."""

PRUNED = 3
"""Paths that are tried for dropping, of which the best is dropped."""

ROUGH, FINE = 1e-9, 1e-15
"""Progress at which a division ends while paths are tried, and at the end."""


@inner
def net_output(value, board, total, network, task):
    """Output less the gas of all edges in use, in units of the target."""
    for i in range(total):
        if network.flow[i] <= 0.0:
            continue
        value -= gas_used(board.forward.edges[network.edge[i]], board.tables, task.gas, network.flow[i])
    return value


@kernel
def optimise(paths, count, amount, x, board, task, network, progress):
    """Divide the amount over paths, dropping those that get nothing; `paths` and `x` are changed in place.

    Returns
    -------
    net : float
        Net output; -inf if the paths do not go together.
    count : int
        Paths that are left.
    total : int
        Edges of the network.
    """
    while True:
        total = merge(paths, count, board, network)
        if total < 0:
            return -np.inf, count, total
        value = divide(count, amount, x[:count], board, total, network, progress)
        if value == INFEASIBLE:
            return -np.inf, count, total
        kept, share = np.int64(0), 0.0
        for p in range(count):
            if x[p] > NEGLIGIBLE * amount:
                paths[kept] = paths[p]
                x[kept] = x[p]
                share += x[p]
                kept += 1
        if kept == count:
            return net_output(value, board, total, network, task), count, total
        x[:kept] *= amount / share
        count = kept


@inner
def _doubtful(count, board, network, task, margin):
    """Fill `margin` with what dropping each path would save in gas, less what it would cost at least; return the best.

    What a path's own edges earn at the present prices is lost with it, by duality at least that. Where a full edge
    makes a path's price larger than that of others, it is taken to be worth what they are.
    """
    best, level = 0, least_of(network.price, count)
    for p in range(count):
        margin[p] = 0.0
        worth = level
        for s in range(network.step.shape[1]):
            i = network.step[p, s]
            if i < 0:
                break
            if network.slope[i] <= 0.0:
                continue
            worth /= network.slope[i]  # of what the edge gives
            if network.first[i + 1] - network.first[i] == 1:
                margin[p] += gas_of(board.forward.edges[network.edge[i]], task.gas)
                margin[p] -= worth * (network.out[i] - network.slope[i] * network.flow[i])
        if margin[p] > margin[best]:
            best = p
    return best


@kernel
def prune(paths, count, amount, x, net, board, task, network):
    """Drop paths while the net output grows by it: each time, of the most doubtful, the one that brings most.

    The network is that of these paths.
    """
    trial_paths, trial_x = np.empty_like(paths), np.empty_like(x)
    best_paths, best_x = np.empty_like(paths), np.empty_like(x)
    margin = np.zeros(x.size)
    while count > 1:
        p = _doubtful(count, board, network, task, margin)
        before, best_count = net, count
        for _ in range(PRUNED):
            if margin[p] <= 0.0:
                break
            kept = np.int64(0)
            for q in range(count):
                if q != p:
                    trial_paths[kept] = paths[q]
                    trial_x[kept] = x[q]
                    kept += 1
            trial_x[:kept] *= amount / (amount - x[p])
            trial_net, left, _ = optimise(trial_paths, kept, amount, trial_x, board, task, network, ROUGH)
            if trial_net > net:
                net, best_count = trial_net, left
                best_paths[:left], best_x[:left] = trial_paths[:left], trial_x[:left]
            margin[p] = 0.0
            p = np.argmax(margin[:count])
        if net <= before:
            break
        count = best_count
        paths[:count], x[:count] = best_paths[:count], best_x[:count]
        net, count, _ = optimise(paths, count, amount, x, board, task, network, ROUGH)
    return net, count


@kernel
def redivide(paths, count, amount, x, board, order, flow):
    """Divide another amount over the same paths, beginning with the present proportions.

    Parameters
    ----------
    order, flow : arrays of `MAX_EDGES`
        Filled with the network's edges, in an order in which they can run, and their inputs.

    Returns
    -------
    total : int
        Number of edges; 0 if the paths do not go together.
    value, price : float
        Output, and its growth by one more unit of input.
    """
    network = new_network(count, paths.shape[1])
    total = merge(paths, count, board, network)
    if total < 0:
        return 0, 0.0, 0.0
    x[:count] *= amount / x[:count].sum()
    value = divide(count, amount, x[:count], board, total, network, FINE)
    if value == INFEASIBLE:
        return 0, 0.0, 0.0
    order[:total] = network.edge[:total]
    flow[:total] = network.flow[:total]
    price = 0.0
    for p in range(count):
        price += network.price[p] * x[p] / amount
    return total, value, price
