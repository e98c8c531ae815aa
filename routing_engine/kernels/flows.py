"""Division of an amount over given paths that may share markets: Newton's method until marginal prices are equal.

Paths are rows of forward edge numbers. What several paths send into one edge is merged, and its output is shared in
proportion. At the optimum every used path has the same marginal price, the product of its edges' marginal prices.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from routing_engine.kernels.slopes import derivatives

ITERATIONS = 40
TOLERANCE = 1e-10
"""Relative spread of the marginal prices of used paths at which the division counts as optimal."""

SHORT = 0.2
"""Newton steps cut shorter than this are helped by an exchange between two paths."""

HALVINGS, BISECTIONS = 8, 24
INFEASIBLE = -1.0
MAX_EDGES = 256


class Network(NamedTuple):
    """Paths merged into one network: work space of `divide`.

    `edge` lists the different edges such that each comes after all that lead to it; `step[p, s]` is the place in it of
    step s of path p, -1 past the end. `flow`, `out`, `slope` and `bend` are each edge's input, output, marginal price
    and the derivative of that. `before[p, s]` is the product of the marginal prices before step s, `price[p]` of all.
    """

    edge: npt.NDArray[np.int64]
    step: npt.NDArray[np.int64]
    flow: npt.NDArray[np.float64]
    out: npt.NDArray[np.float64]
    slope: npt.NDArray[np.float64]
    bend: npt.NDArray[np.float64]
    before: npt.NDArray[np.float64]
    price: npt.NDArray[np.float64]
    carried: npt.NDArray[np.float64]


@njit(cache=True, nogil=True)
def new_network(room, max_hops):
    """Allocate for up to `room` paths."""
    return Network(
        np.zeros(MAX_EDGES, np.int64),
        np.zeros((room, max_hops), np.int64),
        np.zeros(MAX_EDGES),
        np.zeros(MAX_EDGES),
        np.zeros(MAX_EDGES),
        np.zeros(MAX_EDGES),
        np.ones((room, max_hops)),
        np.zeros(room),
        np.zeros(room),
    )


@njit(cache=True, nogil=True)
def sort_by(keys, values, count):
    """Sort the first `count` values by rising keys, in place and stably: few enough for insertion."""
    for i in range(1, count):
        key, value = keys[i], values[i]
        j = i
        while j > 0 and keys[j - 1] > key:
            keys[j], values[j] = keys[j - 1], values[j - 1]
            j -= 1
        keys[j], values[j] = key, value


@njit(cache=True, nogil=True)
def merge(paths, count, edges, source, network):
    """Merge the first `count` paths into a network.

    Returns
    -------
    int
        Number of different edges; -1 if the paths together run in a circle, use one market in two ways, or have too
        many edges.
    """
    order = network.edge
    total = 0
    for p in range(count):
        for e in paths[p]:
            if e < 0:
                break
            known = False
            for i in range(total):
                if order[i] == e:
                    known = True
                    break
                if edges[order[i]]["market"] == edges[e]["market"]:
                    return -1
            if not known:
                if total == MAX_EDGES:
                    return -1
                order[total] = e
                total += 1
    rank = np.zeros(total, np.int64)
    changed = True
    for _ in range(paths.shape[1] * 2 + 2):
        changed = False
        for i in range(total):
            for j in range(total):
                if edges[order[j]]["other"] == source[order[i]] and rank[i] < rank[j] + 1:
                    rank[i] = rank[j] + 1
                    changed = True
        if not changed:
            break
    if changed:
        return -1
    sort_by(rank, order, total)
    for p in range(count):
        for s in range(paths.shape[1]):
            network.step[p, s] = -1
            if paths[p, s] < 0:
                network.step[p, s:] = -1
                break
            for i in range(total):
                if order[i] == paths[p, s]:
                    network.step[p, s] = i
                    break
    return total


@njit(cache=True, nogil=True)
def evaluate(count, x, edges, tables, total, network):
    """Send `x[p]` down each path, filling the network.

    Returns
    -------
    float
        What arrives at the ends together; `INFEASIBLE` where an edge declines its flow.
    """
    step, flow, carried = network.step, network.flow, network.carried
    hops = step.shape[1]
    carried[:count] = x[:count]
    for i in range(total):
        f = 0.0
        for p in range(count):
            if carried[p] > 0.0:
                for s in range(hops):
                    if step[p, s] == i:
                        f += carried[p]
        flow[i] = f
        edge = edges[network.edge[i]]
        if f <= 0.0:
            network.out[i], network.slope[i], network.bend[i] = 0.0, edge["a"] / edge["b"], 0.0
            continue
        if f < edge["x_min"] or f > edge["x_max"]:
            return INFEASIBLE
        y, slope, bend = derivatives(edge, tables, f)
        if not y > 0.0:
            return INFEASIBLE
        network.out[i], network.slope[i], network.bend[i] = y, slope, bend
        share = y / f
        for p in range(count):
            if carried[p] > 0.0:
                for s in range(hops):
                    if step[p, s] == i:
                        carried[p] *= share
    result = 0.0
    for p in range(count):
        result += carried[p]
        product = 1.0
        for s in range(hops):
            i = step[p, s]
            if i < 0:
                break
            network.before[p, s] = product
            product *= network.slope[i]
        network.price[p] = product
    return result


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
def _newton_step(free, size, amount, network, step):
    """Fill `step` with the Newton direction on the free paths, whose sum is zero; False if there is none.

    In units of the amount and of the mean price, so that the system is well scaled.
    """
    scale = 0.0
    for a in range(size):
        scale = max(scale, network.price[free[a]])
    matrix = np.zeros((size + 1, size + 1))
    vector = np.zeros(size + 1)
    hops = network.step.shape[1]
    for a in range(size):
        p = free[a]
        for b in range(size):
            q = free[b]
            value = 0.0
            for s in range(hops):
                i = network.step[p, s]
                if i < 0:
                    break
                if network.slope[i] <= 0.0:
                    continue
                for r in range(hops):
                    if network.step[q, r] == i:
                        value += network.price[p] * network.bend[i] / network.slope[i] * network.before[q, r]
            matrix[a, b] = value * amount / scale
        matrix[a, a] -= 1e-9
        matrix[a, size] = 1.0
        matrix[size, a] = 1.0
        vector[a] = -network.price[p] / scale
    if not _solve(matrix, vector):
        return False
    for a in range(size):
        step[free[a]] = vector[a] * amount
        if not math.isfinite(vector[a]):
            return False
    return True


@njit(cache=True, nogil=True)
def _try_step(count, amount, x, step, length, trial, best, edges, tables, total, network):
    """Go along `step`, halving the length until the output grows; return it, and the length (0 if it never does)."""
    for _ in range(HALVINGS):
        together = 0.0
        for p in range(count):
            trial[p] = max(0.0, x[p] + length * step[p])
            if trial[p] < 1e-14 * amount:
                trial[p] = 0.0
            together += trial[p]
        trial *= amount / together
        value = evaluate(count, trial, edges, tables, total, network)
        if value != INFEASIBLE and value > best:
            x[:] = trial
            return value, length
        length *= 0.5
    return best, 0.0


@njit(cache=True, nogil=True)
def _exchange(count, x, trial, best, edges, tables, total, network):
    """Move amount from the path of least to that of greatest marginal price until they meet.

    By bisection, so that kinks and jumps of the marginal price do no harm.
    """
    to, giver = 0, -1
    for p in range(count):
        if network.price[p] > network.price[to]:
            to = p
        if x[p] > 0.0 and (giver < 0 or network.price[p] < network.price[giver]):
            giver = p
    if giver < 0 or giver == to:
        return best
    low, high = 0.0, 1.0
    for attempt in range(BISECTIONS):
        share = 1.0 if attempt == 0 else 0.5 * (low + high)
        trial[:] = x
        trial[giver] = x[giver] * (1.0 - share)
        trial[to] += x[giver] * share
        value = evaluate(count, trial, edges, tables, total, network)
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
    value = evaluate(count, trial, edges, tables, total, network)
    if value != INFEASIBLE and value > best:
        x[:] = trial
        return value
    return best


@njit(cache=True, nogil=True)
def divide(count, amount, x, edges, tables, total, network, progress):
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
    best = evaluate(count, x, edges, tables, total, network)
    if best == INFEASIBLE or count == 1:
        return best
    for _ in range(ITERATIONS):
        level = 0.0
        for p in range(count):
            level += network.price[p] * x[p] / amount
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
        if _newton_step(free, size, amount, network, step):
            length = 1.0
            for p in range(count):
                if step[p] < 0.0:
                    if x[p] <= 0.0:
                        step[p] = 0.0
                    else:
                        length = min(length, x[p] / -step[p])
            best, length = _try_step(count, amount, x, step, length, trial, best, edges, tables, total, network)
        if length < SHORT:
            evaluate(count, x, edges, tables, total, network)
            best = _exchange(count, x, trial, best, edges, tables, total, network)
            evaluate(count, x, edges, tables, total, network)
        if best <= before * (1.0 + progress):
            break
    return evaluate(count, x, edges, tables, total, network)
