"""Divisions over paths that earn their gas: divide, drop what brings nothing, drop what costs more than it brings."""

from __future__ import annotations

import numpy as np

from routing_engine.jit.decorators import inner, kernel
from routing_engine.kernels.marginal_price import gas_of, gas_used
from routing_engine.kernels.split.flow_network import INFEASIBLE, MAX_EDGES, crosses, merge, new_network
from routing_engine.kernels.split.newton_allocation import FINE, ROUGH, divide
from routing_engine.kernels.vectors import least_of

NEGLIGIBLE = 1e-9
"""Share of the amount below which a path is dropped."""

PRUNED = 3
"""Paths or edges that are tried for dropping, of which the best is dropped."""


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
def _loss(i, worth, network):
    """Return what leaving out edge i would cost at least, where a unit of what it gives is worth `worth`."""
    return worth * (network.out[i] - network.slope[i] * network.flow[i])


@inner
def _find_doubtful(count, total, board, network, task, margin):
    """Fill `margin` with what leaving something out would save in gas, less what it would cost at least, by duality.

    First come the paths, each with the edges that only it crosses; then the edges that several paths cross. Where a
    full edge makes a path's price larger than that of others, it is taken to be worth what they are.
    """
    level = least_of(network.price, count)
    for m in range(count + total):
        margin[m] = 0.0
    for p in range(count):
        worth = level
        for s in range(network.step.shape[1]):
            i = network.step[p, s]
            if i < 0:
                break
            if network.slope[i] <= 0.0:
                continue
            worth /= network.slope[i]  # of what the edge gives
            saved = gas_of(board.forward.edges[network.edge[i]], task.gas) - _loss(i, worth, network)
            if network.first[i + 1] - network.first[i] == 1:
                margin[p] += saved
            else:
                margin[count + i] = saved


@inner
def _beside(i, total, board, network):
    """Return another edge of the network between the same tokens as edge i, or -1."""
    edges, source, e = board.forward.edges, board.source, network.edge[i]
    for j in range(total):
        other = network.edge[j]
        if other != e and source[other] == source[e] and edges[other]["other"] == edges[e]["other"]:
            return other
    return -1


@inner
def _place_of(path, paths, count):
    """Return the row of a path among the first `count`; `count` if it is none of them."""
    for p in range(count):
        same = True
        for s in range(paths.shape[1]):
            same &= paths[p, s] == path[s]
        if same:
            return p
    return count


@kernel
def _leave_out(m, paths, count, x, total, board, network, trial_paths, trial_x):
    """Write the paths without path m, or without edge m - count: what crossed it goes beside it if there is a way.

    Returns
    -------
    int
        Number of paths left.
    """
    beside = _beside(m - count, total, board, network) if m >= count else -1
    kept = np.int64(0)
    for p in range(count):
        crossed = m >= count and crosses(network, p, m - count)
        if p == m or (crossed and beside < 0):
            continue
        trial_paths[kept] = paths[p]
        if crossed:
            for s in range(paths.shape[1]):
                if paths[p, s] == network.edge[m - count]:
                    trial_paths[kept, s] = beside
        place = _place_of(trial_paths[kept], trial_paths, kept)
        trial_x[place] = x[p] + (trial_x[place] if place < kept else 0.0)
        kept = max(kept, np.int64(place + 1))
    return kept


@kernel
def prune(paths, count, amount, x, net, total, board, task, network):
    """Drop paths and edges while the net output grows by it: each time, of the most doubtful, what brings most.

    The network is that of these paths.
    """
    trial_paths, trial_x = np.empty_like(paths), np.empty_like(x)
    best_paths, best_x = np.empty_like(paths), np.empty_like(x)
    margin = np.zeros(x.size + MAX_EDGES)
    while count > 1:
        _find_doubtful(count, total, board, network, task, margin)
        before, best_count = net, count
        for attempt in range(2 * PRUNED):
            m = np.argmax(margin[:count])  # paths first: what is left of an edge's paths may pay for it
            if attempt >= PRUNED or margin[m] <= 0.0:
                m = count + np.argmax(margin[count : count + total])
            if margin[m] <= 0.0 or (m >= count and net > before):
                break
            margin[m] = 0.0
            if attempt > 0:  # the attempt before has left another network
                merge(paths, count, board, network)
            kept = _leave_out(m, paths, count, x, total, board, network, trial_paths, trial_x)
            if kept == 0:
                continue
            trial_x[:kept] *= amount / trial_x[:kept].sum()
            trial_net, left, _ = optimise(trial_paths, kept, amount, trial_x, board, task, network, ROUGH)
            if trial_net > net:
                net, best_count = trial_net, left
                best_paths[:left], best_x[:left] = trial_paths[:left], trial_x[:left]
        if net <= before:
            break
        count = best_count
        paths[:count], x[:count] = best_paths[:count], best_x[:count]
        net, count, total = optimise(paths, count, amount, x, board, task, network, ROUGH)
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
