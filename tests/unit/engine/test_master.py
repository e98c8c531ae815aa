"""The linear program that grows, against HiGHS: after each column the same optimum, and prices that prove it."""

from __future__ import annotations

import random

import numpy as np
import pytest
from scipy.optimize import linprog

from routing_engine.kernels.bound import simplex
from routing_engine.kernels.bound.simplex import COLUMNS, ROWS
from tests.support.kernels import expose

create_program, add_row = expose(simplex.create_program), expose(simplex.add_row)
solve_with = expose(simplex.solve_with)


@pytest.mark.parametrize("seed", range(12))
def test_each_column_leads_to_the_optimum(seed):
    rng = random.Random(seed)
    program, rows, uses, gains = create_program(), 1, [], []
    for column in range(COLUMNS):
        use = np.zeros(ROWS)
        use[0] = 1.0
        for _ in range(rng.randint(0, 4)):
            row = rng.randint(1, min(rows, ROWS - 1))
            if row == rows:
                add_row(program, row)
                rows += 1
            use[row] = 10 ** rng.uniform(-2, 3)
        uses.append(use)
        gains.append(rng.choice([1.0, rng.uniform(0.9, 1.1), -0.5]))
        optimum = solve_with(program, rows, column, use, gains[-1])
        table = np.array(uses)[:, :rows].T
        expected = linprog(-np.array(gains), A_ub=table, b_ub=np.ones(rows), bounds=(0, None), method="highs")
        assert optimum == pytest.approx(-expected.fun, rel=1e-9, abs=1e-12)
        prices = program.tableau[ROWS, ROWS - rows : ROWS][::-1]
        assert (prices >= -1e-9).all()
        assert prices.sum() == pytest.approx(optimum, rel=1e-9, abs=1e-12)
        assert (table.T @ prices >= np.array(gains) - 1e-9).all()
