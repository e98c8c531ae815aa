"""Allocation of an amount to given paths: Newton's method until marginal prices are equal.

At the optimum every path in use has the same marginal price, the product of its edges' marginal prices, but for paths
that cross an edge at its largest input: no more can be had at their price.
"""

from __future__ import annotations

import numpy as np

from routing_engine.jit.decorators import inner, part
from routing_engine.kernels.arrays import FULL
from routing_engine.kernels.split.flow_network import INFEASIBLE, crosses, find_full, has_waste, is_open, send_flows
from routing_engine.kernels.split.kkt_step import compute_kkt_step
from routing_engine.kernels.split.pairwise_shift import shift_between_pair
from routing_engine.kernels.vectors import copy_first
from routing_engine.kernels.work import ALLOCATION, ITERATION, is_spent, spend

ITERATIONS = 40
TOLERANCE = 1e-10
"""Relative spread of the marginal prices of used paths at which the allocation counts as optimal."""

SHORT_STEP = 0.2
"""Newton steps cut shorter than this are helped by an exchange between two paths."""

HALVINGS, BISECTIONS = 8, 24
MAX_FULL = 8

ROUGH, FINE = 1e-8, 1e-15
"""Progress at which an allocation ends while paths are tried, and at the end."""

ALL_PATHS = np.int64(-1)
"""In place of one path: what is given comes from all of them alike."""


@inner
def _interpolate(low, high, part, result):
    """Fill `result` with the allocation `part` of the way from `low` to `high`, without temporary arrays."""
    for p in range(result.size):
        result[p] = low[p] + part * (high[p] - low[p])


@inner
def _step_back(x, safe, trial, merged):
    """Go back from `x` towards the allocation `safe`, as little as it takes until no edge wastes anything."""
    low, high = 0.0, 1.0  # how far from `safe`
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        _interpolate(safe, x, middle, trial)
        if send_flows(trial, merged) != INFEASIBLE and not has_waste(merged):
            low = middle
        else:
            high = middle
    _interpolate(safe, x, low, x)


@inner
def _relieve(amount, x, full, merged):
    """Give what edges would waste to paths with spare capacity; whether that was possible."""
    graph, network, count = merged.graph, merged.network, merged.path_count
    for _ in range(2 * count):
        if send_flows(x, merged) == INFEASIBLE:
            return False
        worst, excess = np.int64(-1), 1.0
        for i in range(merged.edge_count):
            ratio = network.flow[i] / graph.forward.edges[network.edge[i]]["x_max"]
            if ratio > excess:
                worst, excess = i, ratio
        if worst < 0:
            return True
        fulls = find_full(merged, full)
        moved, capacity = 0.0, 0.0
        for p in range(count):
            if crosses(network, p, worst):
                less = x[p] * (1.0 - 0.5 * (1.0 + FULL) / excess)
                x[p] -= less
                moved += less
            elif is_open(network, p, ALL_PATHS, full, fulls):
                capacity += x[p] + 1e-3 * amount
        if capacity == 0.0:
            return False
        for p in range(count):
            if not crosses(network, p, worst) and is_open(network, p, ALL_PATHS, full, fulls):
                x[p] += moved * (x[p] + 1e-3 * amount) / capacity
    return False


@inner
def _try_step(amount, x, step, length, trial, best, merged):
    """Go along `step`, halving the length until the output grows; return it, and the length (0 if it never does)."""
    for _ in range(HALVINGS):
        together = 0.0
        for p in range(merged.path_count):
            trial[p] = max(0.0, x[p] + length * step[p])
            if trial[p] < 1e-14 * amount:
                trial[p] = 0.0
            together += trial[p]
        trial *= amount / together
        value = send_flows(trial, merged)
        if value != INFEASIBLE and value > best:
            copy_first(trial, x, merged.path_count)
            return value, length
        length *= 0.5
    return best, 0.0


@inner
def _limit_step(count, x, step):
    """Return how far to go along `step`, at most 1, until a path is empty; empty ones stay so."""
    length = 1.0
    for p in range(count):
        if step[p] < 0.0:
            if x[p] <= 0.0:
                step[p] = 0.0
            else:
                length = min(length, x[p] / -step[p])
    return length


@inner
def _stiffen(amount, x, step, trial, merged, slope, flow):
    """Fill the network at `x`, with second derivatives as they are on the way along `step`.

    Where a curve has a steep stretch before it, its second derivative here promises too much. All edges would have to
    take short steps because of that one.
    """
    network, count, total = merged.network, merged.path_count, merged.edge_count
    length = _limit_step(count, x, step)
    together = 0.0
    for p in range(count):
        trial[p] = max(0.0, x[p] + length * step[p])
        together += trial[p]
    trial *= amount / together
    known = send_flows(trial, merged) != INFEASIBLE
    copy_first(network.slope, slope, total)
    copy_first(network.flow, flow, total)
    send_flows(x, merged)
    for i in range(total):
        change = flow[i] - network.flow[i]
        if known and abs(change) > 1e-12 * network.flow[i]:
            network.second_derivative[i] = min(network.second_derivative[i], (slope[i] - network.slope[i]) / change)
            network.known[i] = -1.0


@inner
def _find_free(amount, x, value, full, fulls, merged, free):
    """List in `free` the paths that are in use, and those whose marginal price is above the mean.

    Returns
    -------
    size : int
        How many.
    spread : float
        The largest relative difference between their marginal prices and the mean of those that may be given more.
    """
    network, count = merged.network, merged.path_count
    level, together = 0.0, 0.0
    for p in range(count):
        if fulls == 0 or is_open(network, p, ALL_PATHS, full, fulls):
            level += network.price[p] * x[p]
            together += x[p]
    if together <= 0.0:
        level, together = value, amount
    level /= together
    size, spread = np.int64(0), 0.0
    for p in range(count):
        if x[p] > 0.0 or network.price[p] > level * (1.0 + TOLERANCE):
            free[size] = p
            size += 1
            spread = max(spread, abs(network.price[p] / level - 1.0))
    return size, spread


@part("float64")
def allocate(amount, x, merged, progress):
    """Allocate `amount` to the merged paths so that most arrives; `x` is the start and the result.

    Parameters
    ----------
    progress : float
        Relative growth of the output in one iteration below which the allocation counts as optimal. Where the network's
        `work` is spent, it ends as well.

    Returns
    -------
    float
        What arrives, with the network filled accordingly; `INFEASIBLE` if not even the start is feasible.
    """
    count, total = merged.path_count, merged.edge_count
    spend(merged.network.work, ALLOCATION)
    step, trial = np.zeros(count), np.zeros(count)
    free = np.zeros(count, np.int64)
    full = np.zeros(MAX_FULL, np.int64)
    slope, flow = np.zeros(total), np.zeros(total)
    best = send_flows(x, merged)
    if best == INFEASIBLE:
        return INFEASIBLE
    if has_waste(merged):
        if not _relieve(amount, x, full, merged):
            return INFEASIBLE
        best = send_flows(x, merged)
    if count == 1:
        return best
    safe = x.copy()
    for _ in range(ITERATIONS):
        if is_spent(merged.network.work):
            break
        spend(merged.network.work, ITERATION * (count + total))
        fulls = find_full(merged, full)
        size, spread = _find_free(amount, x, best, full, fulls, merged, free)
        step[:] = 0.0
        if size < 2 or spread < TOLERANCE:
            break
        before, length = best, 0.0
        for attempt in range(2):
            if attempt == 1:
                if length >= SHORT_STEP:
                    break
                _stiffen(amount, x, step, trial, merged, slope, flow)
                fulls = find_full(merged, full)
            if compute_kkt_step(free, size, amount, merged, full, fulls, step):
                most = _limit_step(count, x, step)
                best, length = _try_step(amount, x, step, most, trial, best, merged)
        if length < SHORT_STEP:
            send_flows(x, merged)
            best = shift_between_pair(x, full, fulls, trial, best, merged)
            send_flows(x, merged)
        if not has_waste(merged):
            copy_first(x, safe, count)
        if best <= before * (1.0 + progress):
            break
    if has_waste(merged):
        _step_back(x, safe, trial, merged)
        best = send_flows(x, merged)
    return best
