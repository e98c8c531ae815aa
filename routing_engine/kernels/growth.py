"""Splits: which paths to use, and how much to send down each, gas counted.

Column generation: divide the amount over the present paths until marginal prices are equal, price the whole market with
these marginal prices, add the paths that are worth more than they cost, drop those that no longer earn their gas, and
go on while the net output grows.
"""

from __future__ import annotations

import numpy as np

from routing_engine.kernels import inner, kernel
from routing_engine.kernels.bound import CLOSE, certify
from routing_engine.kernels.counting import bound_by_count
from routing_engine.kernels.labels import LABELS
from routing_engine.kernels.layout import FULL
from routing_engine.kernels.network import crosses, merge, new_network
from routing_engine.kernels.payments import refine
from routing_engine.kernels.pricing import best_additions
from routing_engine.kernels.pruning import FINE, ROUGH, optimise, prune
from routing_engine.kernels.reach import tighten
from routing_engine.kernels.slopes import gas_of
from routing_engine.kernels.vectors import least_of, sort_by

GAIN = 1e-10
"""Relative growth of the net output that counts as one."""

TOLLS = (1e-5, 1e-7, 1e-9)
"""Parts of the net output that another market must bring where gas is free: first those that bring most, then the
rest. Where gas counts, it is the toll."""

NEARLY_FREE = 1e-7
"""Part of the net output below which a market's gas does not count."""

SEED_SHARE = 0.15
"""Share that a path is given to start with where it cannot start from nothing, as on a lane with a minimum."""

ATTEMPTS = 6
"""Ways to add: all paths that promise something at once, then one by one, then the best with a share to start."""

FAILURES = 8
"""Additions in a row that may fail before the search ends."""

ENOUGH, ENOUGH_WITHOUT_GAS = 1e-6, 1e-7
"""Relative gaps to the certificate at which the search ends without trying again.

Where gas counts, the certificate is rarely tighter than that, and trying again rarely finds anything.
"""


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
def put_on(count, edges, total, network, load):
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
def take_off(edges, used, load):
    """Undo `put_on`."""
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
    """Find additions to what `put_on` has written, the best first; return their number."""
    fresh, worth = np.full(found.shape, -1, np.int32), np.zeros(price.size)
    rows = best_additions(board, load, task, enough, toll, scratch, fresh, worth)
    order = np.arange(rows)
    sort_by(-worth[:rows], order, rows)
    for row in range(rows):
        found[row], price[row] = fresh[order[row]], worth[order[row]]
    return rows


@kernel
def _grow(paths, count, amount, x, net, found, price, rows, level, board, task, network):
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


@inner
def _first_new(path, used, load):
    """Return the first edge of a path that is neither in use nor shut, or -1."""
    for e in path:
        if e >= 0 and not load.shut[e] and e not in used:
            return e
    return -1


@inner
def _is_nearly_free(net, total, board, task, network):
    """Whether some market in use costs next to no gas."""
    least = np.inf
    for i in range(total):
        least = min(least, gas_of(board.forward.edges[network.edge[i]], task.gas))
    return least < NEARLY_FREE * net


@kernel
def _judge(board, load, task, worths, near, count, total, network, amount, net, is_tight):
    """Bound what any division nets; where that proves too little and gas counts, with a closer look.

    Returns
    -------
    bound, price : float, float
        As of `certify`.
    is_tight : bool
        Whether `load.limit` has been tightened for the amount.
    """
    bound, slope = certify(board, load, task, worths, near, count, total, network, amount, net)
    if bound <= net * (1.0 + CLOSE) or not task.gas.any():
        return bound, slope, is_tight
    if not is_tight:
        tighten(board, load, task, amount, near)
    closer, its_slope = refine(board, load, task, worths, near, count, total, network, amount, net, bound)
    if closer < bound:
        return closer, its_slope, True
    return bound, slope, True


@kernel
def improve(paths, count, amount, x, board, load, task, scratch, worths, rounds, wraps, reached):
    """Grow a division, beginning with the `count` paths given, and judge it.

    Parameters
    ----------
    paths : int32 array, shape (room, max_hops)
        Forward edges, -1 past the end; changed in place.
    x : float64 array, shape (room,)
        Input of each path; changed in place.
    load : Load
        With `most` filled for the amount.
    rounds : int
        Additions that may be tried; 0 judges the paths as they are.
    wraps : bool array, shape (markets,)
        Markets that wrap a native coin.
    reached : int
        From `fill_most`; 0 for a bound that is linear in the amount: one that `slope` tells for less of it.

    Returns
    -------
    net : float
        Net output; -inf if the first paths are not feasible.
    count : int
        Paths in use.
    bound : float
        What no division of the amount over routes of at most `task.max_hops` hops exceeds.
    slope : float
        What less of the amount takes off the bound, for each unit.
    """
    network = new_network(paths.shape[0], task.max_hops)
    found = np.empty((task.max_hops * LABELS, task.max_hops), np.int32)
    price = np.zeros(task.max_hops * LABELS)
    shut, failures, bound = np.zeros(FAILURES, np.int64), 0, np.inf
    enough = ENOUGH if task.gas.any() else ENOUGH_WITHOUT_GAS
    net, count, total = optimise(paths, count, amount, x, board, task, network, ROUGH)
    if net == -np.inf:
        return net, count, bound, 0.0
    stage = 0 if _is_nearly_free(net, total, board, task, network) else len(TOLLS) - 1
    slope, is_tight = 0.0, False
    for _ in range(rounds):
        used = network.edge[:total].copy()
        level = put_on(count, board.forward.edges, total, network, load)
        toll = TOLLS[stage] * max(net, 0.0)
        rows = find_additions(board, load, task, amount * level * (1.0 + GAIN), toll, scratch, found, price)
        take_off(board.forward.edges, used, load)
        before = net
        if rows > 0:
            net, count = _grow(paths, count, amount, x, net, found, price, rows, level, board, task, network)
        _, count, total = optimise(paths, count, amount, x, board, task, network, ROUGH)
        if net > before:
            bound = np.inf
            continue
        if stage + 1 < len(TOLLS):
            stage += 1
            continue
        if rows == 0:
            break
        if bound == np.inf:
            bound, slope, is_tight = _judge(
                board, load, task, worths, scratch.near, count, total, network, amount, net, is_tight
            )
        fresh = _first_new(found[0], used, load)
        if bound <= net * (1.0 + enough) or failures == FAILURES or fresh < 0:
            break
        load.shut[fresh] = True
        shut[failures] = fresh
        failures += 1
    for i in range(failures):
        load.shut[shut[i]] = False
    net, count, total = optimise(paths, count, amount, x, board, task, network, FINE)
    if bound == np.inf or not task.gas.any():
        bound, slope, _ = _judge(board, load, task, worths, scratch.near, count, total, network, amount, net, is_tight)
    if reached > 0 and count == 1 and bound > net * (1.0 + CLOSE) and task.gas.any():
        counted = bound_by_count(board, load, task, worths, scratch.near, wraps, reached, total, network, amount, net)
        bound = min(bound, counted)
    return net, count, bound, slope
