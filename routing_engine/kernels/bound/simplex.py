"""A small linear program that grows: the simplex method on a dense tableau, for `relaxation`.

Maximise ``sum(gain * share)`` over shares of at least 0, so that ``sum(use[i] * share) <= 1`` in each row i. A column
may be added at any time, and a row that no column so far takes part in: the shares found before stay feasible, and a
few exchanges lead on to the new optimum. The prices of the rows are the solution of the dual program. (Dantzig, Linear
Programming and Extensions, 1963, chapters 5 and 9.)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from routing_engine.jit.decorators import allocating, inner

ROWS, COLUMNS = 64, 80
"""Capacity of a program. Its first `ROWS` columns belong to what rows leave over, the last is the right-hand side."""

PIVOTS = 200
"""Exchanges after each addition at most: against cycles."""

SMALL = 1e-11
"""Less than that counts as zero."""


class LinearProgram(NamedTuple):
    """A program: its tableau, whose last row is the objective, and the column that each row's basis holds."""

    tableau: npt.NDArray[np.float64]
    basis: npt.NDArray[np.int64]


@allocating
def create_program():
    """Allocate a program of one row: the shares add up to 1 at most."""
    program = LinearProgram(np.zeros((ROWS + 1, ROWS + COLUMNS + 1)), np.zeros(ROWS, np.int64))
    add_row(program, 0)
    return program


@inner
def add_row(program, row):
    """Add a row, the next after those there are."""
    program.tableau[row, row] = 1.0
    program.tableau[row, -1] = 1.0
    program.basis[row] = row


@inner
def _pivot(tableau, basis, rows, columns, row, column):
    """Let a column enter the basis in place of that of a row."""
    pivot = tableau[row, column]
    for j in range(tableau.shape[1]):
        if j < rows or ROWS <= j < columns or j == tableau.shape[1] - 1:
            tableau[row, j] /= pivot
    for i in range(tableau.shape[0]):
        factor = tableau[i, column]
        if i == row or factor == 0.0 or (i >= rows and i < ROWS):
            continue
        for j in range(tableau.shape[1]):
            if j < rows or ROWS <= j < columns or j == tableau.shape[1] - 1:
                tableau[i, j] -= factor * tableau[row, j]
    basis[row] = column


@inner
def solve_with(program, rows, column, use, gain):
    """Add column number `column` and find the new optimum.

    Parameters
    ----------
    rows : int
        Rows that there are.
    use : float64 array
        Use of each row.

    Returns
    -------
    float
        The optimum; the price of row i is ``tableau[ROWS, i]``.
    """
    tableau, basis, last = program.tableau, program.basis, ROWS + column
    for i in range(ROWS + 1):
        if i < rows or i == ROWS:
            tableau[i, last] = 0.0
            for j in range(rows):
                tableau[i, last] += tableau[i, j] * use[j]
    tableau[ROWS, last] -= gain
    for _ in range(PIVOTS):
        entering, least = -1, -SMALL
        for j in range(last + 1):
            if (j < rows or j >= ROWS) and tableau[ROWS, j] < least:
                entering, least = j, tableau[ROWS, j]
        leaving, ratio = -1, np.inf
        for i in range(rows):
            if entering >= 0 and tableau[i, entering] > SMALL and tableau[i, -1] < ratio * tableau[i, entering]:
                leaving, ratio = i, tableau[i, -1] / tableau[i, entering]
        if leaving < 0:
            break
        _pivot(tableau, basis, rows, last + 1, leaving, entering)
    return tableau[ROWS, -1]
