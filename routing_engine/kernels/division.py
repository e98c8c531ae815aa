"""Division of an amount over given paths: Newton's method until marginal prices are equal.

At the optimum every path in use has the same marginal price, the product of its edges' marginal prices, but for paths
that cross an edge at its largest input: those are worth more than is to be had.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from routing_engine.kernels.layout import FULL
from routing_engine.kernels.network import INFEASIBLE, evaluate, find_full, is_open, wastes

ITERATIONS = 40
TOLERANCE = 1e-10
"""Relative spread of the marginal prices of used paths at which the division counts as optimal."""

SHORT = 0.2
"""Newton steps cut shorter than this are helped by an exchange between two paths."""

HALVINGS, BISECTIONS = 8, 24
MAX_FULL = 8


@njit(cache=True, nogil=True)
def _back(count, x, safe, trial, board, total, network):
    """Go back from `x` towards the division `safe`, as little as frees all edges of waste."""
    low, high = 0.0, 1.0  # how far from `safe`
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        trial[:] = safe + middle * (x - safe)
        if evaluate(count, trial, board, total, network) != INFEASIBLE and not wastes(board, total, network):
            low = middle
        else:
            high = middle
    x[:] = safe + low * (x - safe)


@njit(cache=True, nogil=True)
def _solve(matrix, vector):
    """Solve a small dense system in place by elimination with partial pivoting; False if it is singular."""
    n = vector.size
    for i in range(n):
        pivot = i
        for j in range(i + 1, n):
            if abs(matrix[j, i]) > abs(matrix[pivot, i]):
                pivot = j
        if abs(matrix[pivot, i]) < 1e-300:
            return False
        if pivot != i:
            for j in range(n):
                matrix[i, j], matrix[pivot, j] = matrix[pivot, j], matrix[i, j]
            vector[i], vector[pivot] = vector[pivot], vector[i]
        for j in range(i + 1, n):
            factor = matrix[j, i] / matrix[i, i]
            if factor != 0.0:
                for m in range(i, n):
                    matrix[j, m] -= factor * matrix[i, m]
                vector[j] -= factor * vector[i]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            vector[i] -= matrix[i, j] * vector[j]
        vector[i] /= matrix[i, i]
    return True


@njit(cache=True, nogil=True)
def _fill_hessian(count, total, network, place, scale, matrix):
    """Fill the second derivatives of the output: paths bend each other's prices over the edges that they share."""
    first, who, at = network.first, network.who, network.at
    for i in range(total):
        if network.bend[i] == 0.0 or network.slope[i] <= 0.0:
            continue
        steep = network.bend[i] / network.slope[i] * scale
        for n in range(first[i], first[i + 1]):
            p = who[n]
            if place[p] < 0:
                continue
            for m in range(first[i], first[i + 1]):
                q = who[m]
                if place[q] >= 0:
                    matrix[place[p], place[q]] += network.price[p] * steep * network.before[q, at[m]]


@njit(cache=True, nogil=True)
def _newton_step(free, size, count, total, amount, board, network, full, fulls, step):
    """Fill `step` with the Newton direction on the free paths; False if there is none.

    Its sum is zero, and edges that are full stay so, but for those that want to give flow back. In units of the amount
    and of the largest price, so that the system is well scaled.
    """
    scale = 0.0
    place = np.full(count, -1, np.int64)
    for a in range(size):
        scale = max(scale, network.price[free[a]])
        place[free[a]] = a
    vector = np.zeros(0)
    for _ in range(fulls + 1):
        rank = size + 1 + fulls
        matrix, vector = np.zeros((rank, rank)), np.zeros(rank)
        _fill_hessian(count, total, network, place, amount / scale, matrix)
        for a in range(size):
            matrix[a, a] -= 1e-9
            matrix[a, size] = matrix[size, a] = 1.0
            vector[a] = -network.price[free[a]] / scale
        for n in range(fulls):
            i, row = full[n], size + 1 + n
            matrix[row, row] = -1e-12
            # Into the middle of what counts as full, where the next step has room on both sides.
            vector[row] = board.forward.edges[network.edge[i]]["x_max"] * 0.5 * (1.0 + FULL) / network.flow[i] - 1.0
            for m in range(network.first[i], network.first[i + 1]):
                a = place[network.who[m]]
                if a >= 0:
                    before = network.before[network.who[m], network.at[m]]
                    matrix[row, a] = matrix[a, row] = before * amount / network.flow[i]
        if not _solve(matrix, vector):
            return False
        kept = 0
        for n in range(fulls):
            if vector[size + 1 + n] <= 0.0:
                full[kept] = full[n]
                kept += 1
        if kept == fulls:
            break
        fulls = kept
    for a in range(size):
        step[free[a]] = vector[a] * amount
        if not math.isfinite(vector[a]):
            return False
    return True


@njit(cache=True, nogil=True)
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
            x[:] = trial
            return value, length
        length *= 0.5
    return best, 0.0


@njit(cache=True, nogil=True)
def _exchange(count, x, full, fulls, trial, best, board, total, network):
    """Move amount to the path of greatest marginal price from that of least until they meet.

    By bisection, so that kinks and jumps of the marginal price do no harm.
    """
    to, giver = -1, -1
    for q in range(count):
        if x[q] <= 0.0:
            continue
        for p in range(count):
            if p != q and is_open(network, p, q, full, fulls):
                gain = network.price[p] - network.price[q]
                if gain > 0.0 and (to < 0 or gain > network.price[to] - network.price[giver]):
                    to, giver = p, q
    if to < 0:
        return best
    low, high = 0.0, 1.0
    for attempt in range(BISECTIONS):
        share = 1.0 if attempt == 0 else 0.5 * (low + high)
        trial[:] = x
        trial[giver] = x[giver] * (1.0 - share)
        trial[to] += x[giver] * share
        value = evaluate(count, trial, board, total, network)
        if value != INFEASIBLE and network.price[to] >= network.price[giver]:
            low = share
            if attempt == 0:
                break
        else:
            high = share
        if high - low < 1e-4 * low:
            break
    trial[:] = x
    trial[giver] = x[giver] * (1.0 - low)
    trial[to] += x[giver] * low
    value = evaluate(count, trial, board, total, network)
    if value != INFEASIBLE and value > best:
        x[:] = trial
        return value
    return best


@njit(cache=True, nogil=True)
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
    best = evaluate(count, x, board, total, network)
    if best == INFEASIBLE or wastes(board, total, network):
        return INFEASIBLE
    if count == 1:
        return best
    safe = x.copy()
    for _ in range(ITERATIONS):
        fulls = find_full(board, total, network, full)
        level, together = 0.0, 0.0
        for p in range(count):
            if fulls == 0 or is_open(network, p, -1, full, fulls):
                level += network.price[p] * x[p]
                together += x[p]
        if together <= 0.0:
            level, together = best, amount
        level /= together
        size, spread = 0, 0.0
        for p in range(count):
            step[p] = 0.0
            if x[p] > 0.0 or network.price[p] > level * (1.0 + TOLERANCE):
                free[size] = p
                size += 1
                spread = max(spread, abs(network.price[p] / level - 1.0))
        if size < 2 or spread < TOLERANCE:
            break
        before, length = best, 0.0
        if _newton_step(free, size, count, total, amount, board, network, full, fulls, step):
            length = 1.0
            for p in range(count):
                if step[p] < 0.0:
                    if x[p] <= 0.0:
                        step[p] = 0.0
                    else:
                        length = min(length, x[p] / -step[p])
            best, length = _try_step(count, amount, x, step, length, trial, best, board, total, network)
        if length < SHORT:
            evaluate(count, x, board, total, network)
            best = _exchange(count, x, full, fulls, trial, best, board, total, network)
            evaluate(count, x, board, total, network)
        if not wastes(board, total, network):
            safe[:] = x
        if best <= before * (1.0 + progress):
            break
    best = evaluate(count, x, board, total, network)
    if wastes(board, total, network):
        _back(count, x, safe, trial, board, total, network)
        best = evaluate(count, x, board, total, network)
    return best
