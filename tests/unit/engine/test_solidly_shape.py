"""The curve of Solidly's stable pools: against the equation with 60 digits, its inverse, and the compiled twin."""

from __future__ import annotations

import random
from decimal import Decimal, localcontext

import numpy as np
import pytest

from routing_engine.curves.kernels import solidly
from routing_engine.curves.shape import REFUSED
from tests.support.kernels import expose

removed, added_for, solidly_in = expose(solidly.removed), expose(solidly.added_for), expose(solidly.solidly_in)


def exact(x: float, y: float, added: float) -> float:
    with localcontext(prec=60):
        before, rest, grown = Decimal(x), Decimal(y), Decimal(x) + Decimal(added)
        k = before**3 * rest + before * rest**3
        for _ in range(300):
            rest -= (grown**3 * rest + grown * rest**3 - k) / (grown**3 + 3 * grown * rest**2)
        return float(Decimal(y) - rest)


def random_cases(seed: int, count: int):
    """Yield balances up to a million apart and inputs from dust to a million times the pool."""
    rng = random.Random(seed)
    for _ in range(count):
        x = 10 ** rng.uniform(-1, 11)
        yield x, x * 10 ** rng.uniform(-6, 6), x * 10 ** rng.uniform(-20, 6)


def test_the_value_solves_the_equation():
    for x, y, added in random_cases(71, 1_000):
        assert removed(x, y, added) == pytest.approx(exact(x, y, added), rel=1e-11)


def test_the_inverse_undoes_it():
    for x, y, added in random_cases(72, 1_000):
        out = removed(x, y, added)
        if out < y * (1 - 1e-6):
            assert removed(x, y, added_for(x, y, out)) == pytest.approx(out, rel=1e-11)


def test_the_whole_balance_is_never_paid_out():
    params = np.array([1e6, 2e6, 1e-18, 1e6])
    assert solidly_in(params, 0, 2e12) == REFUSED
    assert solidly_in(params, 0, 1.9e12) > 0
