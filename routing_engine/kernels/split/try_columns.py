"""Additions to a division: paths that would improve it, tried until one does."""

from __future__ import annotations

import numpy as np

from routing_engine.jit.decorators import inner, kernel
from routing_engine.kernels.arrays import FULL
from routing_engine.kernels.split.column_pricing import best_additions
from routing_engine.kernels.split.flow_network import crosses, merge
from routing_engine.kernels.split.newton_allocation import ROUGH
from routing_engine.kernels.split.pruning import optimise, prune
from routing_engine.kernels.vectors import least_of, sort_by

GAIN = 1e-10
"""Relative growth of the net output that counts as one."""

SEED_SHARE = 0.15
"""Share that a path is given to start with where it cannot start from nothing, as on a lane with a minimum."""

ATTEMPTS = 6
"""Ways to add: all paths that promise something at once, then one by one, then the best with a share to start."""


@inner
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


@inner
def _put_on(count, edges, total, network, load):
    """Write the network's flows and marginal prices into `load`; return the least marginal price of its paths.

    A full edge is given the price at which the best path over it is worth no more than the others: what is better than
    that path may take its place.
    """
    level = least_of(network.price, count)
    for i in range(total):
        e = network.edge[i]
        load.flow[e] = network.flow[i]
        load.slope[e] = network.slope[i]
        load.owner[edges[e]["market"]] = e
        if network.flow[i] >= edges[e]["x_max"] * FULL:
            best = level
            for p in range(count):
                if crosses(network, p, i):
                    best = max(best, network.price[p])
            load.slope[e] *= level / best
    return level


@inner
def _take_off(edges, used, load):
    """Undo `_put_on`."""
    for e in used:
        load.flow[e] = 0.0
        load.owner[edges[e]["market"]] = -1


@kernel
def _append(paths, count, x, amount, path, share):
    """Add a path with a share of the amount, taken from all others alike."""
    x[:count] *= 1.0 - share
    paths[count] = path
    x[count] = amount * share
    return count + 1


@kernel
def _extended(paths, count, x, amount, found, price, rows, level, attempt, board, network):
    """Add found paths that promise more than `level`: all that go together, or one of them; return the new count."""
    size, passed = count, 0
    for row in range(rows):
        if price[row] <= level * (1.0 + GAIN) or size == paths.shape[0]:
            break
        if _contains(paths, size, found[row]):
            continue
        passed += 1
        if 0 < attempt < ATTEMPTS - 1 and attempt != passed:
            continue
        before = size
        size = _append(paths, size, x, amount, found[row], SEED_SHARE if attempt == ATTEMPTS - 1 else 0.0)
        if merge(paths, size, board, network) < 0:
            size = before
        elif attempt > 0:
            break
    return size


@kernel
def find_additions(board, load, task, enough, toll, scratch, found, price):
    """Find additions to what `_put_on` has written, the best first; return their number."""
    fresh, worth = np.full(found.shape, -1, np.int32), np.zeros(price.size)
    rows = best_additions(board, load, task, enough, toll, scratch, fresh, worth)
    order = np.arange(rows)
    sort_by(-worth[:rows], order, rows)
    for row in range(rows):
        found[row], price[row] = fresh[order[row]], worth[order[row]]
    return rows


@kernel
def grow(paths, count, amount, x, net, found, price, rows, level, board, task, network):
    """Try the found paths in several ways until the net output grows; return it and the number of paths."""
    trial_paths, trial_x = np.empty_like(paths), np.empty_like(x)
    for attempt in range(ATTEMPTS):
        trial_paths[:count], trial_x[:count] = paths[:count], x[:count]
        size = _extended(trial_paths, count, trial_x, amount, found, price, rows, level, attempt, board, network)
        if size == count:
            continue
        trial_net, left, total = optimise(trial_paths, size, amount, trial_x, board, task, network, ROUGH)
        if trial_net > -np.inf:
            trial_net, left = prune(trial_paths, left, amount, trial_x, trial_net, total, board, task, network)
        if trial_net > net + GAIN * abs(net):
            paths[:left], x[:left] = trial_paths[:left], trial_x[:left]
            return trial_net, left
    return net, count


@kernel
def additions(count, amount, net, toll, board, load, task, scratch, total, network, found, price):
    """Find additions to the network; return their number, and what a unit at the start is worth without them."""
    used = network.edge[:total].copy()
    level = _put_on(count, board.forward.edges, total, network, load)
    rows = find_additions(board, load, task, amount * level * (1.0 + GAIN), toll * max(net, 0.0), scratch, found, price)
    _take_off(board.forward.edges, used, load)
    return rows, level
