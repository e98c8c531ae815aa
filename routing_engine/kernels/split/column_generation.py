"""Splits: which paths to use, and how much to send down each, gas counted.

Column generation: divide the amount over the present paths until marginal prices are equal, price the whole market with
these marginal prices, add the paths that are worth more than they cost, drop those that no longer earn their gas, and
go on while the net output grows.
"""

from __future__ import annotations

import numpy as np

from routing_engine.jit.decorators import inner, kernel
from routing_engine.kernels.bound.cutting_planes import refine
from routing_engine.kernels.bound.dual_bound import CLOSE, certify
from routing_engine.kernels.bound.fixed_cost_bound import bound_by_count
from routing_engine.kernels.bound.flow_limits import tighten
from routing_engine.kernels.marginal_price import gas_of
from routing_engine.kernels.search.labels import LABELS
from routing_engine.kernels.split.flow_network import new_network
from routing_engine.kernels.split.newton_allocation import FINE, ROUGH
from routing_engine.kernels.split.pruning import optimise
from routing_engine.kernels.split.try_columns import additions, grow

TOLLS = (1e-5, 1e-7, 1e-9)
"""Parts of the net output that another market must bring where gas is free: first those that bring most, then the
rest. Where gas counts, it is the toll."""

NEARLY_FREE = 1e-7
"""Part of the net output below which a market's gas does not count."""

FAILURES = 8
"""Additions in a row that may fail before the search ends."""

ENOUGH, ENOUGH_WITHOUT_GAS = 1e-6, 1e-7
"""Relative gaps to the certificate at which the search ends without trying again.

Where gas counts, the certificate is rarely tighter than that, and trying again rarely finds anything.
"""


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
        rows, level = additions(
            count, amount, net, TOLLS[stage], board, load, task, scratch, total, network, found, price
        )
        before = net
        if rows > 0:
            net, count = grow(paths, count, amount, x, net, found, price, rows, level, board, task, network)
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
