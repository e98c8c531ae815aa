"""Division of an amount over given paths: Newton's method until marginal prices are equal.

At the optimum every path in use has the same marginal price, the product of its edges' marginal prices, but for paths
that cross an edge at its largest input: those are worth more than is to be had.
"""

from __future__ import annotations

import numpy as np

from routing_engine.jit.decorators import inner, kernel
from routing_engine.kernels.arrays import FULL
from routing_engine.kernels.split.flow_network import INFEASIBLE, crosses, evaluate, find_full, is_open, wastes
from routing_engine.kernels.split.kkt_step import newton_step
from routing_engine.kernels.split.pairwise_shift import exchange
from routing_engine.kernels.vectors import copy

ITERATIONS = 40
TOLERANCE = 1e-10
"""Relative spread of the marginal prices of used paths at which the division counts as optimal."""

SHORT = 0.2
"""Newton steps cut shorter than this are helped by an exchange between two paths."""

HALVINGS, BISECTIONS = 8, 24
MAX_FULL = 8

ROUGH, FINE = 1e-8, 1e-15
"""Progress at which a division ends while paths are tried, and at the end."""

NOBODY = np.int64(-1)
"""Giver of what comes from all paths alike."""


@inner
def _between(low, high, part, result):
    """Fill `result` with what lies between two divisions, `part` of the way; without temporary arrays."""
    for p in range(result.size):
        result[p] = low[p] + part * (high[p] - low[p])


@inner
def _back(count, x, safe, trial, board, total, network):
    """Go back from `x` towards the division `safe`, as little as frees all edges of waste."""
    low, high = 0.0, 1.0  # how far from `safe`
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        _between(safe, x, middle, trial)
        if evaluate(count, trial, board, total, network) != INFEASIBLE and not wastes(board, total, network):
            low = middle
        else:
            high = middle
    _between(safe, x, low, x)


@inner
def _relieve(count, amount, x, full, board, total, network):
    """Give what edges would waste to paths that have room; whether that was possible."""
    for _ in range(2 * count):
        if evaluate(count, x, board, total, network) == INFEASIBLE:
            return False
        worst, excess = np.int64(-1), 1.0
        for i in range(total):
            ratio = network.flow[i] / board.forward.edges[network.edge[i]]["x_max"]
            if ratio > excess:
                worst, excess = i, ratio
        if worst < 0:
            return True
        fulls = find_full(board, total, network, full)
        moved, room = 0.0, 0.0
        for p in range(count):
            if crosses(network, p, worst):
                less = x[p] * (1.0 - 0.5 * (1.0 + FULL) / excess)
                x[p] -= less
                moved += less
            elif is_open(network, p, NOBODY, full, fulls):
                room += x[p] + 1e-3 * amount
        if room == 0.0:
            return False
        for p in range(count):
            if not crosses(network, p, worst) and is_open(network, p, NOBODY, full, fulls):
                x[p] += moved * (x[p] + 1e-3 * amount) / room
    return False


@inner
def _try_step(count, amount, x, step, length, trial, best, board, total, network):
    """Go along `step`, halving the length until the output grows; return it, and the length (0 if it never does)."""
    for _ in range(HALVINGS):
        together = 0.0
        for p in range(count):
            trial[p] = max(0.0, x[p] + length * step[p])
            if trial[p] < 1e-14 * amount:
                trial[p] = 0.0
            together += trial[p]
        trial *= amount / together
        value = evaluate(count, trial, board, total, network)
        if value != INFEASIBLE and value > best:
            copy(trial, x, count)
            return value, length
        length *= 0.5
    return best, 0.0


@inner
def _longest(count, x, step):
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
def _stiffen(count, amount, x, step, trial, board, total, network, slope, flow):
    """Fill the network at `x`, its edges bent as much as they are on the way along `step`.

    Where a curve has a steep stretch before it, its bend here promises too much, and all edges would have to go slow
    for that one.
    """
    length = _longest(count, x, step)
    together = 0.0
    for p in range(count):
        trial[p] = max(0.0, x[p] + length * step[p])
        together += trial[p]
    trial *= amount / together
    known = evaluate(count, trial, board, total, network) != INFEASIBLE
    copy(network.slope, slope, total)
    copy(network.flow, flow, total)
    evaluate(count, x, board, total, network)
    for i in range(total):
        change = flow[i] - network.flow[i]
        if known and abs(change) > 1e-12 * network.flow[i]:
            network.bend[i] = min(network.bend[i], (slope[i] - network.slope[i]) / change)


@inner
def _find_free(count, amount, x, value, full, fulls, network, free):
    """List in `free` the paths that are in use, and those that are worth it.

    Returns
    -------
    size : int
        How many.
    spread : float
        The largest relative difference between their marginal prices and the mean of those that may be given more.
    """
    level, together = 0.0, 0.0
    for p in range(count):
        if fulls == 0 or is_open(network, p, NOBODY, full, fulls):
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


@kernel
def divide(count, amount, x, board, total, network, progress):
    """Divide `amount` over the merged paths so that most arrives; `x` is the start and the result.

    Parameters
    ----------
    progress : float
        Relative growth of the output in one iteration below which the division counts as optimal.

    Returns
    -------
    float
        What arrives, with the network filled accordingly; `INFEASIBLE` if not even the start is feasible.
    """
    step, trial = np.zeros(count), np.zeros(count)
    free = np.zeros(count, np.int64)
    full = np.zeros(MAX_FULL, np.int64)
    slope, flow = np.zeros(total), np.zeros(total)
    best = evaluate(count, x, board, total, network)
    if best == INFEASIBLE:
        return INFEASIBLE
    if wastes(board, total, network):
        if not _relieve(count, amount, x, full, board, total, network):
            return INFEASIBLE
        best = evaluate(count, x, board, total, network)
    if count == 1:
        return best
    safe = x.copy()
    for _ in range(ITERATIONS):
        fulls = find_full(board, total, network, full)
        size, spread = _find_free(count, amount, x, best, full, fulls, network, free)
        step[:] = 0.0
        if size < 2 or spread < TOLERANCE:
            break
        before, length = best, 0.0
        for attempt in range(2):
            if attempt == 1:
                if length >= SHORT:
                    break
                _stiffen(count, amount, x, step, trial, board, total, network, slope, flow)
                fulls = find_full(board, total, network, full)
            if newton_step(free, size, count, total, amount, board, network, full, fulls, step):
                most = _longest(count, x, step)
                best, length = _try_step(count, amount, x, step, most, trial, best, board, total, network)
        if length < SHORT:
            evaluate(count, x, board, total, network)
            best = exchange(count, x, full, fulls, trial, best, board, total, network)
            evaluate(count, x, board, total, network)
        if not wastes(board, total, network):
            copy(x, safe, count)
        if best <= before * (1.0 + progress):
            break
    best = evaluate(count, x, board, total, network)
    if wastes(board, total, network):
        _back(count, x, safe, trial, board, total, network)
        best = evaluate(count, x, board, total, network)
    return best
