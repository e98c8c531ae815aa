"""Splits: which paths to use, and how much to send down each, gas counted.

Column generation: divide the amount over the present paths until marginal prices are equal, price the whole market with
these marginal prices, add the paths that are worth more than they cost, drop those that no longer earn their gas, and
go on while the net output grows.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from routing_engine.kernels.curves import PIECES, X0, last_row_at_most
from routing_engine.kernels.flows import INFEASIBLE, divide, merge, new_network, sort_by
from routing_engine.kernels.paths import LABELS
from routing_engine.kernels.pricing import best_additions

NEGLIGIBLE = 1e-9
"""Share of the amount below which a path is dropped."""

GAIN = 1e-10
"""Relative growth of the net output that counts as one."""

SEED_SHARE = 0.15
"""Share that a path is given to start with where it cannot start from nothing, as on a lane with a minimum."""

ATTEMPTS = 6
"""Ways to add: all paths that promise something at once, then one by one, then the best with a share to start."""

PRUNED = 3
"""Paths that are tried for dropping after an addition."""

FAILURES = 8
"""Additions in a row that may fail before the search ends."""


ROUGH, FINE = 1e-9, 1e-15
"""Progress at which a division ends while paths are tried, and at the end."""


@njit(cache=True, nogil=True)
def net_output(value, edges, tables, total, network, load):
    """Output less the gas of all edges in use, in units of the target."""
    for i in range(total):
        if network.flow[i] <= 0.0:
            continue
        e = network.edge[i]
        value -= load.cost[e]
        edge = edges[e]
        if edge["shape"] == PIECES and edge["n_pieces"] > 1 and load.piece_cost[e] > 0.0:
            row = last_row_at_most(tables.pieces, X0, edge["piece"], edge["n_pieces"], network.flow[i])
            value -= load.piece_cost[e] * (row - edge["piece"])
    return value


@njit(cache=True, nogil=True)
def optimise(paths, count, amount, x, edges, source, tables, load, network, progress):
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
    total, value = 0, 0.0
    for _ in range(3):
        total = merge(paths, count, edges, source, network)
        if total < 0:
            return -np.inf, count, total
        value = divide(count, amount, x[:count], edges, tables, total, network, progress)
        if value == INFEASIBLE:
            return -np.inf, count, total
        kept, share = 0, 0.0
        for p in range(count):
            if x[p] > NEGLIGIBLE * amount:
                paths[kept] = paths[p]
                x[kept] = x[p]
                share += x[p]
                kept += 1
        if kept == count:
            break
        x[:kept] *= amount / share
        count = kept
    return net_output(value, edges, tables, total, network, load), count, total


@njit(cache=True, nogil=True)
def prune(paths, count, amount, x, net, edges, source, tables, load, network):
    """Drop paths while the net output grows by it, the smallest first."""
    trial_paths, trial_x = np.empty_like(paths), np.empty_like(x)
    sizes, by_size = np.empty_like(x), np.empty(x.size, np.int64)
    dropped = True
    while dropped and count > 1:
        dropped = False
        sizes[:count] = x[:count]
        for p in range(count):
            by_size[p] = p
        sort_by(sizes, by_size, count)
        for place in range(min(PRUNED, count)):
            candidate = by_size[place]
            kept = 0
            for p in range(count):
                if p != candidate:
                    trial_paths[kept] = paths[p]
                    trial_x[kept] = x[p]
                    kept += 1
            trial_x[:kept] *= amount / (amount - x[candidate])
            trial_net, left, _ = optimise(
                trial_paths, kept, amount, trial_x, edges, source, tables, load, network, ROUGH
            )
            if trial_net > net:
                net, count = trial_net, left
                paths[:count] = trial_paths[:count]
                x[:count] = trial_x[:count]
                dropped = True
                break
    return net, count


@njit(cache=True, nogil=True)
def _contains(paths, count, path):
    for p in range(count):
        same = True
        for step in range(paths.shape[1]):
            if paths[p, step] != path[step]:
                same = False
                break
        if same:
            return True
    return False


@njit(cache=True, nogil=True)
def put_on(count, edges, total, network, load):
    """Write the network's flows into `load`; return the best marginal price of its paths."""
    for i in range(total):
        e = network.edge[i]
        load.flow[e] = network.flow[i]
        load.owner[edges[e]["market"]] = e
    best = 0.0
    for p in range(count):
        best = max(best, network.price[p])
    return best


@njit(cache=True, nogil=True)
def take_off(edges, used, load):
    """Undo `put_on`."""
    for e in used:
        load.flow[e] = 0.0
        load.owner[edges[e]["market"]] = -1


@njit(cache=True, nogil=True)
def _append(paths, count, x, amount, path, share):
    """Add a path with a share of the amount, taken from all others alike."""
    x[:count] *= 1.0 - share
    paths[count] = path
    x[count] = amount * share
    return count + 1


@njit(cache=True, nogil=True)
def _extended(paths, count, x, amount, found, price, by_price, rows, level, attempt, edges, source, network):
    """Add found paths that promise more than `level`: all that go together, or one of them; return the new count."""
    size, passed = count, 0
    for place in range(rows):
        row = by_price[place]
        if price[row] <= level * (1.0 + GAIN) or size == paths.shape[0]:
            break
        if _contains(paths, size, found[row]):
            continue
        passed += 1
        if 0 < attempt < ATTEMPTS - 1 and attempt != passed:
            continue
        before = size
        size = _append(paths, size, x, amount, found[row], SEED_SHARE if attempt == ATTEMPTS - 1 else 0.0)
        if merge(paths, size, edges, source, network) < 0:
            size = before
        elif attempt > 0:
            break
    return size


@njit(cache=True, nogil=True)
def improve(paths, count, amount, x, forward, reverse, source, tables, load, start, end, max_hops, scratch, rounds):
    """Grow a division, beginning with the `count` paths given.

    Parameters
    ----------
    paths : int32 array, shape (room, max_hops)
        Forward edges, -1 past the end; changed in place.
    x : float64 array, shape (room,)
        Input of each path; changed in place.
    rounds : int
        Additions that may be tried.

    Returns
    -------
    net : float
        Net output; -inf if the first paths are not feasible.
    count : int
        Paths in use.
    """
    edges = forward.edges
    network = new_network(paths.shape[0], max_hops)
    net, count, total = optimise(paths, count, amount, x, edges, source, tables, load, network, ROUGH)
    if net == -np.inf:
        return net, count
    trial_paths, trial_x = np.empty_like(paths), np.empty_like(x)
    found = np.empty((max_hops * LABELS, max_hops), np.int32)
    price = np.zeros(max_hops * LABELS)
    by_price, falling = np.zeros(price.size, np.int64), np.zeros(price.size)
    shut = np.zeros(FAILURES, np.int64)
    failures = 0
    for _ in range(rounds):
        _, count, total = optimise(paths, count, amount, x, edges, source, tables, load, network, ROUGH)
        used = network.edge[:total].copy()
        level = put_on(count, edges, total, network, load)
        found[:] = -1
        rows = best_additions(forward, reverse, tables, load, start, end, max_hops, scratch, found, price)
        take_off(edges, used, load)
        for row in range(rows):
            by_price[row] = row
            falling[row] = -price[row]
        sort_by(falling, by_price, rows)
        grown = False
        for attempt in range(ATTEMPTS):
            trial_paths[:count], trial_x[:count] = paths[:count], x[:count]
            size = _extended(
                trial_paths,
                count,
                trial_x,
                amount,
                found,
                price,
                by_price,
                rows,
                level,
                attempt,
                edges,
                source,
                network,
            )
            if size == count:
                continue
            trial_net, left, _ = optimise(
                trial_paths, size, amount, trial_x, edges, source, tables, load, network, ROUGH
            )
            if trial_net > -np.inf:
                trial_net, left = prune(
                    trial_paths, left, amount, trial_x, trial_net, edges, source, tables, load, network
                )
            if trial_net > net + GAIN * abs(net):
                net, count = trial_net, left
                paths[:count], x[:count] = trial_paths[:count], trial_x[:count]
                grown = True
                break
        if grown:
            continue
        if failures == FAILURES or rows == 0 or price[by_price[0]] <= level * (1.0 + GAIN):
            break
        fresh = -1  # the first new edge of the path that promised most and kept nothing
        for e in found[by_price[0]]:
            if e >= 0 and fresh < 0 and not load.closed[e] and not (used == e).any():
                fresh = e
        if fresh < 0:
            break
        load.closed[fresh] = True
        shut[failures] = fresh
        failures += 1
    for i in range(failures):
        load.closed[shut[i]] = False
    net, count, _ = optimise(paths, count, amount, x, edges, source, tables, load, network, FINE)
    return net, count


@njit(cache=True, nogil=True)
def redivide(paths, count, amount, x, edges, source, tables, order, flow):
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
    total = merge(paths, count, edges, source, network)
    if total < 0:
        return 0, 0.0, 0.0
    x[:count] *= amount / x[:count].sum()
    value = divide(count, amount, x[:count], edges, tables, total, network, FINE)
    if value == INFEASIBLE:
        return 0, 0.0, 0.0
    order[:total] = network.edge[:total]
    flow[:total] = network.flow[:total]
    price = 0.0
    for p in range(count):
        price += network.price[p] * x[p] / amount
    return total, value, price
