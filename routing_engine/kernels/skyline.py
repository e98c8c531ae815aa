"""Symmetric linear systems whose rows begin late: a factorisation within the skyline of the matrix.

Row i of the lower triangle holds the columns ``first[i]`` to i, at ``place[i] + column``. Where rows of few neighbours
come first, most rows are short; of a market's tokens, those of the hubs are long. (A. George, J. Liu: *Computer
Solution of Large Sparse Positive Definite Systems*, 1981, chapter 4.)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from routing_engine.jit.decorators import inlined, inner


class Skyline(NamedTuple):
    """A matrix, later its factors: unit lower triangle, and `diagonal`."""

    first: npt.NDArray[np.int64]
    place: npt.NDArray[np.int64]
    entries: npt.NDArray[np.float64]
    diagonal: npt.NDArray[np.float64]


@inlined
def add_entry(matrix, i, j, value):
    """Add to an entry within the skyline, in either triangle."""
    low, high = min(i, j), max(i, j)
    matrix.entries[matrix.place[high] + low] += value


@inner
def factorise(matrix):
    """Replace a matrix by its factors ``L D L^T``; return whether it is positive definite."""
    first, place, entries, diagonal = matrix.first, matrix.place, matrix.entries, matrix.diagonal
    for i in range(first.size):
        row = place[i]
        for j in range(first[i], i):
            above, total = place[j], entries[row + j]
            for k in range(max(first[i], first[j]), j):
                total -= entries[row + k] * entries[above + k]
            entries[row + j] = total
        left = entries[row + i]
        for j in range(first[i], i):
            part = entries[row + j]
            entries[row + j] = part / diagonal[j]
            left -= part * entries[row + j]
        if not left > 0.0:
            return False
        diagonal[i] = left
    return True


@inner
def solve(matrix, x):
    """Solve the system that was factorised, for the right side in `x`, which holds the solution then."""
    first, place, entries = matrix.first, matrix.place, matrix.entries
    for i in range(first.size):
        for j in range(first[i], i):
            x[i] -= entries[place[i] + j] * x[j]
    for i in range(first.size):
        x[i] /= matrix.diagonal[i]
    for i in range(first.size - 1, -1, -1):
        for j in range(first[i], i):
            x[j] -= entries[place[i] + j] * x[i]
