"""Allocations to paths that earn their gas: drop what gets nothing, then what costs more than it brings."""

from __future__ import annotations

import numpy as np

from routing_engine.jit.decorators import allocating, inner, kernel
from routing_engine.kernels.marginal_price import value_base_gas, value_gas
from routing_engine.kernels.split.flow_network import (
    INFEASIBLE,
    MAX_EDGES,
    MergedPaths,
    Paths,
    create_network,
    crosses,
)
from routing_engine.kernels.split.merging import merge
from routing_engine.kernels.split.newton_allocation import FINE, ROUGH, allocate
from routing_engine.kernels.vectors import add_up, copy_first, copy_rows, find_least, scale_first
from routing_engine.kernels.work import PRODUCTS, is_spent, spend

NEGLIGIBLE = 1e-9
"""Share of the amount and of the output below which a path is dropped. Far beyond depth, next to none gives much."""

CANDIDATES = 3
"""Paths or edges that are tried for dropping, of which the best is dropped."""


@inner
def copy_paths(source, target, count):
    """Copy the first paths and their inputs."""
    copy_rows(source.rows, target.rows, count)
    copy_first(source.x, target.x, count)


@inner
def compute_net_output(value, merged, gas):
    """Output less the gas of all edges in use, in units of the target."""
    edges, network = merged.graph.forward.edges, merged.network
    for i in range(merged.edge_count):
        if network.flow[i] > 0.0:
            value -= value_gas(edges[network.edge[i]], merged.graph.pieces, gas, network.flow[i])
    return value


@allocating
def optimise(paths, count, problem, network, progress):
    """Allocate the amount to paths, dropping those that get nothing; the paths are changed in place.

    Returns
    -------
    net : float
        Net output; -inf if the paths do not go together.
    count : int
        Paths that are left.
    total : int
        Edges of the network.
    """
    rows, x, amount = paths.rows, paths.x, problem.amount
    while True:
        total = merge(rows, count, problem.graph, network)
        if total < 0:
            return -np.inf, count, total
        merged = MergedPaths(problem.graph, network, count, total)
        value = allocate(amount, x[:count], merged, progress)
        if value == INFEASIBLE:
            return -np.inf, count, total
        kept, share = np.int64(0), 0.0
        for p in range(count):
            if x[p] > NEGLIGIBLE * amount or network.carried[p] > NEGLIGIBLE * value:
                copy_first(rows[p], rows[kept], rows.shape[1])
                x[kept] = x[p]
                share += x[p]
                kept += 1
        if kept == count:
            return compute_net_output(value, merged, problem.gas), count, total
        scale_first(x, amount / share, kept)
        count = kept


@inner
def _bound_loss(i, dual_price, network):
    """Return what leaving out edge i would cost at least, where a unit of what it gives has this dual price."""
    return dual_price * (network.out[i] - network.slope[i] * network.flow[i])


@inner
def _find_doubtful(merged, gas, margin):
    """Fill `margin` with what leaving something out would save in gas, less what it would cost at least, by duality.

    First come the paths, each with the edges that only it crosses; then the edges that several paths cross. Where a
    full edge makes a path's price larger than that of others, the path is taken to be worth what they are.
    """
    network, count = merged.network, merged.path_count
    level = find_least(network.price, count)
    for m in range(count + merged.edge_count):
        margin[m] = 0.0
    for p in range(count):
        dual_price = level
        for s in range(network.step.shape[1]):
            i = network.step[p, s]
            if i < 0:
                break
            if network.slope[i] <= 0.0:
                continue
            dual_price /= network.slope[i]  # of what the edge gives
            cost = value_base_gas(merged.graph.forward.edges[network.edge[i]], gas)
            saved = cost - _bound_loss(i, dual_price, network)
            if network.first[i + 1] - network.first[i] == 1:
                margin[p] += saved
            else:
                margin[count + i] = saved


@inner
def _find_parallel_edge(i, merged):
    """Return another edge of the network between the same tokens as edge i, or -1."""
    edges, source, network = merged.graph.forward.edges, merged.graph.source, merged.network
    e = network.edge[i]
    for j in range(merged.edge_count):
        other = network.edge[j]
        if other != e and source[other] == source[e] and edges[other]["other"] == edges[e]["other"]:
            return other
    return -1


@inner
def _find_path(path, rows, count):
    """Return the row of a path among the first `count`; `count` if it is none of them."""
    for p in range(count):
        same = True
        for s in range(rows.shape[1]):
            same &= rows[p, s] == path[s]
        if same:
            return p
    return count


@inner
def _leave_out(m, paths, merged, trial):
    """Write to `trial` the paths without path m, or without edge m - count.

    Paths that crossed this edge take a parallel one if there is any.

    Returns
    -------
    int
        Number of paths left.
    """
    network, count = merged.network, merged.path_count
    parallel = _find_parallel_edge(m - count, merged) if m >= count else -1
    kept = np.int64(0)
    spend(network.work, count * count // PRODUCTS)
    for p in range(count):
        crossed = m >= count and crosses(network, p, m - count)
        if p == m or (crossed and parallel < 0):
            continue
        copy_first(paths.rows[p], trial.rows[kept], paths.rows.shape[1])
        if crossed:
            for s in range(paths.rows.shape[1]):
                if paths.rows[p, s] == network.edge[m - count]:
                    trial.rows[kept, s] = parallel
        place = _find_path(trial.rows[kept], trial.rows, kept)
        trial.x[place] = paths.x[p] + (trial.x[place] if place < kept else 0.0)
        kept = max(kept, np.int64(place + 1))
    return kept


@allocating
def prune(paths, count, net, total, problem, network):
    """Drop paths and edges while the net output grows by it: each time, of the most doubtful, what brings most.

    The network is that of these paths.
    """
    amount = problem.amount
    trial = Paths(np.empty_like(paths.rows), np.empty_like(paths.x))
    best = Paths(np.empty_like(paths.rows), np.empty_like(paths.x))
    margin = np.zeros(paths.x.size + MAX_EDGES)
    while count > 1 and not is_spent(network.work):
        merged = MergedPaths(problem.graph, network, count, total)
        _find_doubtful(merged, problem.gas, margin)
        before, best_count = net, count
        for attempt in range(2 * CANDIDATES):
            m = np.argmax(margin[:count])  # paths first: what is left of an edge's paths may pay for it
            if attempt >= CANDIDATES or margin[m] <= 0.0:
                m = count + np.argmax(margin[count : count + total])
            if margin[m] <= 0.0 or (m >= count and net > before) or is_spent(network.work):
                break
            margin[m] = 0.0
            if attempt > 0:  # the attempt before has left another network
                merge(paths.rows, count, problem.graph, network)
            kept = _leave_out(m, paths, merged, trial)
            if kept == 0:
                continue
            scale_first(trial.x, amount / add_up(trial.x, kept), kept)
            trial_net, left, _ = optimise(trial, kept, problem, network, ROUGH)
            if trial_net > net:
                net, best_count = trial_net, left
                copy_paths(trial, best, left)
        if net <= before:
            break
        count = best_count
        copy_paths(best, paths, count)
        net, count, total = optimise(paths, count, problem, network, ROUGH)
    return net, count


@kernel
def reallocate(paths, count, amount, graph, work, order, flow):
    """Allocate another amount to the same paths, beginning with the present proportions.

    Parameters
    ----------
    order, flow : arrays of `MAX_EDGES`
        Filled with the network's edges, in an order in which they can run, and their inputs.

    Returns
    -------
    total : int
        Number of edges; 0 if the paths do not go together.
    value, price, least_price : float
        Output, its growth by one more unit of input in these proportions, and the least marginal price: paths over full
        edges have more, and can't be given any.
    """
    rows, x = paths.rows, paths.x
    network = create_network(count, rows.shape[1], work)
    total = merge(rows, count, graph, network)
    if total < 0:
        return 0, 0.0, 0.0, 0.0
    scale_first(x, amount / add_up(x, count), count)
    value = allocate(amount, x[:count], MergedPaths(graph, network, count, total), FINE)
    if value == INFEASIBLE:
        return 0, 0.0, 0.0, 0.0
    copy_first(network.edge, order, total)
    copy_first(network.flow, flow, total)
    price, least_price = 0.0, np.inf
    for p in range(count):
        price += network.price[p] * x[p] / amount
        if x[p] > NEGLIGIBLE * amount:
            least_price = min(least_price, network.price[p])
    return total, value, price, least_price
