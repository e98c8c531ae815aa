"""The float curve of StableSwap pools against the invariant, solved with 60 digits."""

from __future__ import annotations

import random
from decimal import Decimal, localcontext
from math import prod

import numpy as np
import pytest

from routing_engine.markets.stableswap.float_curve import build_stable_curve, build_stable_params, marginal_price

PRECISION = 1000


def solve(others: list[Decimal], raised: Decimal, invariant: Decimal) -> Decimal:
    """Return the last balance of a pool: the positive root of the invariant."""
    count = len(others) + 1
    c = invariant ** (count + 1) / (Decimal(count) ** count * prod(others) * raised)
    b = sum(others) + invariant / raised - invariant
    root = (b * b + 4 * c).sqrt()
    return 2 * c / (b + root) if b > 0 else (root - b) / 2


def pool(rng: random.Random, depth: float) -> tuple[list[int], int, int]:
    """Return balances that lie on the invariant to a unit, the stored amplification, and the invariant."""
    count = rng.choice((2, 2, 3, 4, 8))
    invariant = int(10 ** rng.uniform(21, 30))
    amplification = int(10 ** rng.uniform(3, 7))
    others = [int(invariant / count * 10 ** rng.uniform(-depth, depth / 4)) for _ in range(count - 1)]
    with localcontext(prec=80):
        raised = Decimal(amplification * count) / PRECISION
        last = solve([Decimal(balance) for balance in others], raised, Decimal(invariant))
    return [*others, int(last)], amplification, invariant


@pytest.mark.parametrize(("depth", "error"), [(0.5, 1e-12), (3.0, 1e-9)])
def test_outputs_and_inputs_solve_the_invariant(depth, error):
    rng = random.Random(5)
    for _ in range(300):
        balances, stored, invariant = pool(rng, depth)
        count = len(balances)
        index_in, index_out = rng.randrange(count - 1), count - 1
        if rng.random() < 0.5:
            index_in, index_out = index_out, index_in
        params = build_stable_params(
            balances, index_in, index_out, invariant, (stored * count, PRECISION), (0.999, 1e-12)
        )
        curve = build_stable_curve(params)
        x = balances[index_in] * 10 ** rng.uniform(-12, 2)
        with localcontext(prec=80):
            raised = Decimal(stored * count) / PRECISION
            others = [Decimal(balance) for i, balance in enumerate(balances) if i != index_out]
            before = solve(others, raised, Decimal(invariant))
            others[index_in - (index_in > index_out)] += Decimal(params[0]) * Decimal(x)
            expected = (before - solve(others, raised, Decimal(invariant))) * Decimal(params[1])
        assert curve(x) == pytest.approx(float(expected), rel=error)
        if float(expected) < 0.999 * balances[index_out] * params[1]:
            assert curve(curve.inverse(curve(x))) == pytest.approx(curve(x), rel=1e-12)


def test_the_tangent_is_the_limit_and_depth_is_the_bend():
    rng = random.Random(6)
    for _ in range(100):
        balances, stored, invariant = pool(rng, 1.0)
        scales = (10 ** rng.uniform(-3, 12), 10 ** rng.uniform(-12, 3))
        params = build_stable_params(balances, 0, 1, invariant, (stored * len(balances), PRECISION), scales)
        curve = build_stable_curve(params)
        price, depth = marginal_price(params), curve.pieces[0][3]
        assert curve(depth * 1e-12) / (depth * 1e-12) == pytest.approx(price, rel=1e-10)
        # A constant-product pool of this depth loses the same share of the price to a small amount.
        assert 1.0 - curve(depth * 1e-7) / (depth * 1e-7 * price) == pytest.approx(1e-7, rel=1e-2)


def test_nothing_costs_more_than_the_pool_holds():
    params = build_stable_params([10**24, 10**24], 0, 1, 2 * 10**24, (400_000, PRECISION), (1.0, 1.0))
    curve = build_stable_curve(params, x_min=1.0)
    assert np.isnan(curve.inverse(1e24))
    assert np.isnan(curve.inverse(2e24))
    assert curve.inverse(1e-9) == 1.0
    assert curve(1e36) == pytest.approx(1e24, rel=1e-9)
