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
"""Capacity of a program."""

PIVOTS = 200
"""Exchanges after each addition at most: against cycles."""

SMALL = 1e-11
"""Less than that counts as zero."""


class LinearProgram(NamedTuple):
    """A program: its tableau, whose last row is the objective, and the column that each row's basis holds.

    What row i leaves over is in the tableau's column ``ROWS - 1 - i``, the right-hand side in `ROWS`, the program's own
    columns are behind it: so those in use lie side by side.
    """

    tableau: npt.NDArray[np.float64]
    basis: npt.NDArray[np.int64]


@allocating
def create_program():
    """Allocate a program of one row: the shares add up to 1 at most."""
    program = LinearProgram(np.zeros((ROWS + 1, ROWS + COLUMNS + 1)), np.zeros(ROWS, np.int64))
    add_row(program, 0)
    return program


@inner
def clear_program(program, rows, columns):
    """Leave one row of so many, and none of so many columns."""
    for i in range(ROWS + 1):
        if i < rows or i == ROWS:
            for j in range(ROWS - rows, ROWS + columns + 1):
                program.tableau[i, j] = 0.0
    add_row(program, 0)


@inner
def add_row(program, row):
    """Add a row, the next after those there are."""
    program.tableau[row, ROWS - 1 - row] = 1.0
    program.tableau[row, ROWS] = 1.0
    program.basis[row] = ROWS - 1 - row


@inner
def get_price(program, row):
    """Return the price of a row at the optimum."""
    return program.tableau[ROWS, ROWS - 1 - row]


@inner
def _subtract(factor, taken, left):
    """Take a multiple of one row off another."""
    for j in range(taken.size):
        left[j] -= factor * taken[j]


@inner
def _pivot(program, rows, last, row, column):
    """Let a column enter the basis in place of that of a row; `last` is the tableau's last column in use."""
    tableau, first = program.tableau, ROWS - rows
    taken = tableau[row, first : last + 1]
    pivot = tableau[row, column]
    for j in range(taken.size):
        taken[j] /= pivot
    for i in range(rows):
        if i != row and tableau[i, column] != 0.0:
            _subtract(tableau[i, column], taken, tableau[i, first : last + 1])
    _subtract(tableau[ROWS, column], taken, tableau[ROWS, first : last + 1])
    program.basis[row] = column


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
        The optimum.
    """
    tableau, first, last = program.tableau, ROWS - rows, ROWS + 1 + column
    for i in range(ROWS + 1):
        tableau[i, last] = 0.0
    for j in range(rows):
        if use[j] != 0.0:  # a path takes part in a few rows only
            for i in range(rows):
                tableau[i, last] += tableau[i, ROWS - 1 - j] * use[j]
            tableau[ROWS, last] += tableau[ROWS, ROWS - 1 - j] * use[j]
    tableau[ROWS, last] -= gain
    for _ in range(PIVOTS):
        entering, least = -1, -SMALL
        for j in range(first, last + 1):
            if tableau[ROWS, j] < least and j != ROWS:
                entering, least = j, tableau[ROWS, j]
        leaving, ratio = -1, np.inf
        for i in range(rows):
            if entering >= 0 and tableau[i, entering] > SMALL and tableau[i, ROWS] < ratio * tableau[i, entering]:
                leaving, ratio = i, tableau[i, ROWS] / tableau[i, entering]
        if leaving < 0:
            break
        _pivot(program, rows, last, leaving, entering)
    return tableau[ROWS, ROWS]
