"""One step of Newton's method towards equal marginal prices."""

from __future__ import annotations

import math

import numpy as np

from routing_engine.jit.decorators import allocating, inner
from routing_engine.kernels.arrays import FULL
from routing_engine.kernels.work import PRODUCTS, spend


@inner
def _solve_system(matrix, vector, work):
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
        upper, rows = matrix[i, i:], 0
        for j in range(i + 1, n):
            lower = matrix[j, i:]  # rows of their own are subtracted several numbers at a time
            factor = lower[0] / upper[0]
            if factor != 0.0:
                rows += 1
                for m in range(lower.size):
                    lower[m] -= factor * upper[m]
                vector[j] -= factor * vector[i]
        spend(work, rows * upper.size // PRODUCTS)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            vector[i] -= matrix[i, j] * vector[j]
        vector[i] /= matrix[i, i]
    return True


@allocating
def _fill_hessian(merged, place, scale, matrix):
    """Fill the second derivatives of the output: paths move each other's prices over the edges that they share."""
    network = merged.network
    first, who, at = network.first, network.who, network.at
    # Places without a sign are not looked at for whether they count from the end.
    places, before = np.empty(matrix.shape[0], np.uint64), np.empty(matrix.shape[0])
    for i in range(merged.edge_count):
        if network.second_derivative[i] == 0.0 or network.slope[i] <= 0.0:
            continue
        steep, sharing = network.second_derivative[i] / network.slope[i] * scale, 0
        for n in range(first[i], first[i + 1]):
            p = who[n]
            if place[p] >= 0:
                places[sharing], before[sharing] = place[p], network.before[p, at[n]]
                sharing += 1
        for n in range(first[i], first[i + 1]):
            p = who[n]
            if place[p] >= 0:
                row, steepness = matrix[place[p]], network.price[p] * steep
                for m in range(sharing):
                    row[places[m]] += steepness * before[m]


@allocating
def compute_kkt_step(free, size, amount, merged, full, fulls, step):
    """Fill `step` with the Newton direction on the free paths; False if there is none.

    Its sum is zero, and edges that are full stay so, but for those that want to give flow back. It is computed in
    units of the amount and of the largest price, so that the system is well scaled.
    """
    graph, network, scale = merged.graph, merged.network, 0.0
    place = np.full(merged.path_count, -1, np.int64)
    for a in range(size):
        scale = max(scale, network.price[free[a]])
        place[free[a]] = a
    vector = np.zeros(0)
    for _ in range(fulls + 1):
        rank = size + 1 + fulls
        matrix, vector = np.zeros((rank, rank)), np.zeros(rank)
        _fill_hessian(merged, place, amount / scale, matrix)
        for a in range(size):
            matrix[a, a] -= 1e-9
            matrix[a, size] = matrix[size, a] = 1.0
            vector[a] = -network.price[free[a]] / scale
        for n in range(fulls):
            i, row = full[n], size + 1 + n
            matrix[row, row] = -1e-12
            # Into the middle of what counts as full, where the next step has room on both sides.
            vector[row] = graph.forward.edges[network.edge[i]]["x_max"] * 0.5 * (1.0 + FULL) / network.flow[i] - 1.0
            for m in range(network.first[i], network.first[i + 1]):
                a = place[network.who[m]]
                if a >= 0:
                    before = network.before[network.who[m], network.at[m]]
                    matrix[row, a] = matrix[a, row] = before * amount / network.flow[i]
        if not _solve_system(matrix, vector, network.work):
            return False
        kept = np.int64(0)
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
