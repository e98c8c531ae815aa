"""The invariant of crypto pools, derived a second time with 80 digits; bounds, fees and roots."""

from __future__ import annotations

import math
import random
from decimal import Decimal, localcontext
from math import prod

import numpy as np
import pytest

from routing_engine.amm.cryptoswap.curves import fee_rate, geometric_mean
from routing_engine.amm.cryptoswap.exchange import CryptoRules, Method, Profit, find_invariant, settle, solve
from routing_engine.amm.cryptoswap.roots import cube_root, divide, signed
from routing_engine.curves.kernels import cryptoswap as kernel
from routing_engine.fixed_point import WAD
from routing_engine.markets.cryptoswap.direction import CryptoDirection

ROUNDS = 400


def imbalance_of(xs, d, ann, gamma):
    """Return the invariant's left side less its right, divided by D**N, in the whitepaper's form; `ann` is A * N**N."""
    n, total, product = len(xs), sum(xs) / d, prod(xs) / d ** len(xs)
    k0 = n**n * product
    k = ann / n**n * k0 * gamma**2 / (gamma + 1 - k0) ** 2
    return k * total + product - k - Decimal(1) / n**n


def root(function, low, high):
    """Bisect a rising function."""
    for _ in range(ROUNDS):
        middle = (low + high) / 2
        low, high = (low, middle) if function(middle) > 0 else (middle, high)
    return high


def random_states(seed, count):
    rng = random.Random(seed)
    for _ in range(count):
        n = rng.choice((2, 3))
        worth = 10 ** rng.uniform(21, 29)
        xs = [int(worth * rng.uniform(0.5, 2.0)) for _ in range(n)]
        ann = int(rng.uniform(20, 3_000)) * n**n * 100
        yield rng, xs, ann, int(10 ** rng.uniform(13, 16))


@pytest.mark.parametrize("method", [Method.CLOSED_FORM, Method.NEWTON])
def test_the_balance_solves_the_invariant(method):
    with localcontext(prec=80):
        for rng, xs, ann, gamma in random_states(41, 60):
            rules = CryptoRules(method, ann, gamma, 0, 0, 0)
            d, j = find_invariant(xs, rules), rng.randrange(len(xs))
            i = (j + 1) % len(xs)
            xs[i] = int(xs[i] * rng.uniform(1.0, 2.0))
            others = [Decimal(x) for x in xs]

            def excess(y, others=others, j=j, d=d, ann=ann, gamma=gamma):
                balances = [y if k == j else x for k, x in enumerate(others)]
                return imbalance_of(balances, Decimal(d), Decimal(ann) / 10_000, Decimal(gamma) / WAD)

            expected = root(excess, Decimal(1), others[j])
            assert abs(solve(xs, j, d, rules)[0] - expected) < Decimal(d) / 10**13


def test_d_solves_the_invariant():
    with localcontext(prec=80):
        for _, xs, ann, gamma in random_states(42, 60):
            exact = [Decimal(x) for x in xs]

            def excess(d, exact=exact, ann=ann, gamma=gamma):
                return -imbalance_of(exact, d, Decimal(ann) / 10_000, Decimal(gamma) / WAD)

            mean = Decimal(geometric_mean(xs)) if len(xs) == 2 else (prod(exact)) ** (Decimal(1) / 3)
            expected = root(excess, len(xs) * mean * Decimal("0.999999999999"), sum(exact))
            found = find_invariant(xs, CryptoRules(Method.CLOSED_FORM, ann, gamma, 0, 0, 0))
            assert abs(found - expected) < expected / 10**12


def test_the_float_curve_solves_the_invariant_for_amounts_of_every_size():
    params = np.zeros(16)
    balances = {kernel.BALANCE_IN: "0.25", kernel.BALANCE_OUT: "0.42", kernel.BALANCE_THIRD: "0.345"}
    with localcontext(prec=80):
        x, y, z = map(Decimal, balances.values())
        gamma = Decimal("0.0000118")
        k0 = 27 * x * y * z
        # The coefficient that makes these balances lie on the curve.
        ann = (1 - k0) / (x + y + z - 1) / (k0 * gamma**2 / (gamma + 1 - k0) ** 2)
        for place, value in balances.items():
            params[place] = float(value)
        params[kernel.AMPLIFICATION], params[kernel.GAMMA] = float(ann), float(gamma)
        params[kernel.GAP], params[kernel.EXCESS] = float(gamma + 1 - k0), float(x + y + z - 1)
        _, by_added, by_removed = kernel.imbalance(params, 0, 0.0, 0.0)
        params[kernel.SLOPE] = -by_added / by_removed
        for added in ("1e-12", "1e-9", "1e-6", "0.001", "0.1", "1.5"):

            def excess(left, added=added):
                return imbalance_of([x + Decimal(added), left, z], Decimal(1), ann, gamma)

            removed = float(y - root(excess, Decimal("1e-9"), y))
            assert kernel.removed_for(params, 0, float(added)) == pytest.approx(removed, rel=1e-10)
            assert kernel.added_for(params, 0, removed) == pytest.approx(float(added), rel=1e-10)


def test_a_first_guess_that_the_invariant_cannot_hold_is_too_little():
    """Steep pools far from balance: so little is added at the current price that the left side turns negative."""
    xs, rules = (64 * 10**24, 182 * 10**24), CryptoRules(Method.CLOSED_FORM, 1_167_600, 86 * 10**15, 0, 0, 0)
    params = CryptoDirection(xs, (1, 1), (WAD,), find_invariant(xs, rules), rules, 0, 1).params
    removed = 0.5 * params[kernel.LIMIT]
    guess = removed / params[kernel.SLOPE]
    assert kernel.imbalance(params, 0, guess, removed)[0] == -math.inf
    added = kernel.added_for(params, 0, removed)
    assert added > 1.3 * guess
    assert kernel.removed_for(params, 0, added) == pytest.approx(removed, rel=1e-12)


@pytest.mark.parametrize("value", [1, 10**18, 8 * 10**18, 10**40, 10**45, 10**60, 2**256 - 1])
def test_the_cube_root_has_eighteen_decimals(value):
    with localcontext(prec=100):
        exact = (Decimal(value) / WAD) ** (Decimal(1) / 3) * WAD
        assert abs(cube_root(value) - exact) <= max(2, exact / 10**17)


def test_signed_division_goes_towards_zero():
    assert [divide(a, b) for a, b in ((7, 2), (-7, 2), (7, -2), (-7, -2), (0, 3))] == [3, -3, -3, 3, 0]
    assert signed(-(2**255)) == -(2**255)
    with pytest.raises(OverflowError, match="int256"):
        signed(2**255)


def test_the_fee_goes_from_its_middle_to_its_outer_value():
    balanced, skewed = (10**24,) * 3, (10**24, 10**24, 10**22)
    assert fee_rate(balanced, 1_000_000, 140_000_000, 4 * 10**14) == 1_000_000
    assert 139_000_000 < fee_rate(skewed, 1_000_000, 140_000_000, 4 * 10**14) < 140_000_000
    assert fee_rate((10**24, 10**24), 1_000_000, 140_000_000, 0) == 1_000_000
    assert fee_rate((10**24, 10**22), 1_000_000, 140_000_000, 0) > 100_000_000


CLOSED = CryptoRules(Method.CLOSED_FORM, 540_000, 10**14, 1, 2, 3)


@pytest.mark.parametrize(
    ("xs", "d", "rules", "message"),
    [
        ([10**24] * 3, 10**16, CLOSED, "out of bounds"),
        ([10**24] * 3, 3 * 10**24, CLOSED._replace(gamma=10**17), "out of bounds"),
        ([10**24] * 3, 3 * 10**24, CLOSED._replace(ann=1), "out of bounds"),
        ([10**24, 10**20, 10**24], 3 * 10**24, CLOSED, "too far from balance"),
        ([10**24] * 2, 10**16, CLOSED, "out of bounds"),
        ([10**24, 10**20], 2 * 10**24, CLOSED, "too far from balance"),
        ([10**24, 10**26], 2 * 10**24, CLOSED._replace(gamma=10**17), "too far from balance"),
    ],
)
def test_what_the_contract_asserts_is_refused(xs, d, rules, message):
    with pytest.raises(ArithmeticError, match=message):
        solve(xs, 0, d, rules)


@pytest.mark.parametrize("xs", [[10**8, 10**8], [10**24, 10**19], [10**24, 10**24, 10**21]])
def test_d_of_balances_out_of_bounds_is_refused(xs):
    with pytest.raises(ArithmeticError, match=r"bounds|balance"):
        find_invariant(xs, CLOSED)


def test_a_swap_that_costs_the_pool_money_is_refused():
    xs = [10**24, 10**24]
    worth = geometric_mean([find_invariant(xs, CLOSED) // 2] * 2)
    profit = Profit((WAD,), WAD, WAD + 1, worth, 10**8, 10**14)
    with pytest.raises(ArithmeticError, match="loss"):
        settle(xs, 0, (WAD,), CLOSED, profit)
