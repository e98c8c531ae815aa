"""Columns for an allocation: paths that would improve it are found, and tried until one does."""

from __future__ import annotations

import numpy as np

from routing_engine.jit.decorators import allocating, inner, kernel, part
from routing_engine.kernels.arrays import FULL
from routing_engine.kernels.search.labels import LABELS
from routing_engine.kernels.split.column_pricing import Columns, Threshold, price_columns
from routing_engine.kernels.split.flow_network import MergedPaths, Paths, create_network, crosses, send_flows
from routing_engine.kernels.split.merging import merge
from routing_engine.kernels.split.newton_allocation import ROUGH
from routing_engine.kernels.split.pruning import copy_paths, optimise, prune
from routing_engine.kernels.vectors import copy_first, find_least, scale_first, sort_by
from routing_engine.kernels.work import is_spent

GAIN = 1e-10
"""Relative growth of the net output that counts as one."""

SEED_SHARE = 0.15
"""Share that a path is given to start with where it cannot start from nothing, as on a lane with a minimum."""

ATTEMPTS = 6
"""Ways to add: all paths that promise something at once, then one by one, then the best with a share to start."""


@inner
def contains(rows, count, path):
    """Whether a path is among the first of these."""
    for p in range(count):
        same = True
        for step in range(rows.shape[1]):
            if rows[p, step] != path[step]:
                same = False
                break
        if same:
            return True
    return False


@inner
def _write_flows(merged, state):
    """Write the network's flows and marginal prices into `state`; return the least marginal price of its paths.

    A full edge is given the price at which the best path over it is worth no more than the others: what is better than
    that path may take its place.
    """
    edges, network = merged.graph.forward.edges, merged.network
    level = find_least(network.price, merged.path_count)
    for i in range(merged.edge_count):
        e = network.edge[i]
        state.flow[e] = network.flow[i]
        state.slope[e] = network.slope[i]
        state.owner[edges[e]["market"]] = e
        if network.flow[i] >= edges[e]["x_max"] * FULL:
            best = level
            for p in range(merged.path_count):
                if crosses(network, p, i):
                    best = max(best, network.price[p])
            state.slope[e] *= level / best
    return level


@inner
def _clear_flows(edges, used, state):
    """Undo `_write_flows`."""
    for e in used:
        state.flow[e] = 0.0
        state.owner[edges[e]["market"]] = -1


@inner
def _append(paths, count, amount, path, share):
    """Add a path with a share of the amount, taken from all others alike."""
    scale_first(paths.x, 1.0 - share, count)
    copy_first(path, paths.rows[count], paths.rows.shape[1])
    paths.x[count] = amount * share
    return count + 1


@allocating
def _extend_paths(paths, count, columns, size, level, attempt, problem, network):
    """Add columns that promise more than `level`: all that go together, or one of them; return the new count."""
    new_count, passed = count, 0
    for row in range(size):
        if columns.price[row] <= level * (1.0 + GAIN) or new_count == paths.rows.shape[0]:
            break
        if contains(paths.rows, new_count, columns.found[row]):
            continue
        passed += 1
        if 0 < attempt < ATTEMPTS - 1 and attempt != passed:
            continue
        before, share = new_count, SEED_SHARE if attempt == ATTEMPTS - 1 else 0.0
        new_count = _append(paths, new_count, problem.amount, columns.found[row], share)
        if merge(paths.rows, new_count, problem.graph, network) < 0:
            new_count = before
        elif attempt > 0:
            break
    return new_count


@part("int64")
def rank_columns(problem, state, threshold, scratch, columns):
    """Find columns for what `_write_flows` has written, the best first; return their number."""
    fresh = Columns(np.full(columns.found.shape, -1, np.int32), np.zeros(columns.price.size), columns.hope)
    size = price_columns(problem, state, threshold, scratch, fresh)
    order, falling = np.zeros(size, np.int64), np.zeros(size)
    for row in range(size):
        order[row], falling[row] = row, -fresh.price[row]
    sort_by(falling, order, size)
    for row in range(size):
        copy_first(fresh.found[order[row]], columns.found[row], columns.found.shape[1])
        columns.price[row] = fresh.price[order[row]]
    return size


@allocating
def settle(trial, count, problem, network):
    """Allocate the amount to paths, which are changed in place, and drop what does not earn its gas.

    Returns
    -------
    net, count : float, int
        Net output, -inf if the paths do not go together; and how many are left.
    """
    net, left, total = optimise(trial, count, problem, network, ROUGH)
    if net > -np.inf:
        net, left = prune(trial, left, net, total, problem, network)
    return net, left


@allocating
def try_columns(paths, count, net, columns, size, level, problem, network):
    """Add columns in several ways until the net output grows; return it and the number of paths."""
    trial = Paths(np.empty_like(paths.rows), np.empty_like(paths.x))
    for attempt in range(ATTEMPTS):
        if is_spent(problem.work):
            break
        copy_paths(paths, trial, count)
        new_count = _extend_paths(trial, count, columns, size, level, attempt, problem, network)
        if new_count == count:
            continue
        trial_net, left = settle(trial, new_count, problem, network)
        if trial_net > net + GAIN * abs(net):
            copy_paths(trial, paths, left)
            return trial_net, left
    return net, count


@allocating
def find_columns(merged, net, min_gain, problem, state, scratch, columns):
    """Find columns for the network; return their number, and what a unit at the start is worth without them.

    A market that is not in use must bring `min_gain`, a part of the net output.
    """
    used = merged.network.edge[: merged.edge_count].copy()
    level = _write_flows(merged, state)
    threshold = Threshold(problem.amount * level * (1.0 + GAIN), min_gain * max(net, 0.0))
    size = rank_columns(problem, state, threshold, scratch, columns)
    _clear_flows(merged.graph.forward.edges, used, state)
    return size, level


@kernel
def append_open_paths(paths, count, problem, state, scratch):
    """Append paths that could take more than all those of an allocation do, whatever they are worth; with no part.

    Parameters
    ----------
    paths : Paths
        With capacity for more; changed in place.
    state : FlowState
        With `inflow` filled for the amount that they are to take.

    Returns
    -------
    int
        The new number of paths.
    """
    network = create_network(paths.rows.shape[0], problem.max_hops, problem.work)
    total = merge(paths.rows, count, problem.graph, network)
    if total < 0:
        return count
    merged = MergedPaths(problem.graph, network, count, total)
    send_flows(paths.x[:count], merged)
    edges, used = problem.graph.forward.edges, network.edge[:total].copy()
    for i in range(total):
        state.shut[used[i]] = network.flow[i] >= edges[used[i]]["x_max"] * FULL
    _write_flows(merged, state)
    most = problem.max_hops * LABELS
    columns = Columns(np.empty((most, problem.max_hops), np.int32), np.zeros(most), np.zeros(problem.max_hops + 1))
    size = rank_columns(problem, state, Threshold(0.0, 0.0), scratch, columns)
    _clear_flows(edges, used, state)
    for i in range(total):
        state.shut[used[i]] = False
    for row in range(size):
        if count == paths.rows.shape[0] or contains(paths.rows, count, columns.found[row]):
            continue
        copy_first(columns.found[row], paths.rows[count], problem.max_hops)
        paths.x[count] = 0.0
        if merge(paths.rows, count + 1, problem.graph, network) >= 0:
            count += 1
    return count
