"""StableSwap's invariant, derived a second time with 90 digits; fees, coefficients and what contracts revert on."""

from __future__ import annotations

import random
from decimal import Decimal, localcontext
from math import prod

import pytest

from routing_engine.amm.stableswap import (
    FEE_SCALE,
    Product,
    Rules,
    amplification,
    balance_after,
    balance_at,
    dynamic_fee,
    exchange,
    invariant,
)

PLAIN = Rules(
    amp=20_000,
    amp_precision=100,
    product=Product.EACH,
    fee=4_000_000,
    admin_fee=FEE_SCALE // 2,
    multiplier=0,
    spare=1,
    oracle=False,
)


def imbalance_of(xs, d, amp):
    """Return the whitepaper's A n**n sum(x) + D - A D n**n - D**(n + 1) / (n**n prod(x)); `amp` is A * n**(n - 1)."""
    n = len(xs)
    return amp * n * sum(xs) + d - amp * n * d - d ** (n + 1) / (n**n * prod(xs))


def root(function, low, high):
    """Bisect a rising function."""
    for _ in range(350):
        middle = (low + high) / 2
        low, high = (low, middle) if function(middle) > 0 else (middle, high)
    return high


@pytest.mark.parametrize("product", Product)
def test_d_and_the_balances_solve_the_invariant(product):
    rng = random.Random(51)
    with localcontext(prec=90):
        for _ in range(60):
            n = rng.randint(2, 5)
            xs = [int(10 ** rng.uniform(24, 26)) for _ in range(n)]
            rules = PLAIN._replace(product=product, amp=rng.randint(1_000, 500_000))
            amp, exact = Decimal(rules.amp) / 100, [Decimal(x) for x in xs]
            d = invariant(xs, rules)
            expected = root(lambda value, xs=exact, amp=amp: -imbalance_of(xs, value, amp), Decimal(1), sum(exact))
            assert abs(d - expected) <= 32
            i, j = rng.sample(range(n), 2)
            x = xs[i] + int(10 ** rng.uniform(20, 26))

            def excess(y, xs=exact, i=i, j=j, x=x, amp=amp, d=d):
                others = [Decimal(x) if k == i else y if k == j else value for k, value in enumerate(xs)]
                return imbalance_of(others, Decimal(d), amp)

            assert abs(balance_after(xs, i, j, x, d, rules) - root(excess, Decimal(1), Decimal(4 * d))) <= 2
            assert abs(balance_at(xs, j, d, rules) - xs[j]) <= 32 * (1 + d // min(xs))


def test_the_fee_grows_away_from_balance_up_to_its_multiple():
    assert dynamic_fee(10**24, 10**24, 4_000_000, 5 * FEE_SCALE) == 4_000_000
    assert 19_600_000 < dynamic_fee(10**27, 10**24, 4_000_000, 5 * FEE_SCALE) < 20_000_000
    for multiplier in (0, FEE_SCALE):
        assert dynamic_fee(10**27, 10**24, 4_000_000, multiplier) == 4_000_000


@pytest.mark.parametrize(("now", "amp"), [(0, 100), (25, 175), (100, 400), (101, 400)])
def test_the_coefficient_rises_and_falls_in_a_straight_line(now, amp):
    assert amplification(100, 400, 0, 100, now) == amp
    assert amplification(400, 100, 0, 100, now) == 500 - amp


def test_what_stays_behind_is_one_unit():
    xs = [10**24, 10**24]
    d = invariant(xs, PLAIN)
    kept, bare = (exchange(xs, 0, 1, 10**20, d, PLAIN._replace(spare=spare)) for spare in (1, 0))
    assert (kept.y, bare.removed - kept.removed) == (bare.y, 1)
    assert kept.fee == kept.removed * PLAIN.fee // FEE_SCALE


@pytest.mark.parametrize(
    ("xs", "rules", "error"),
    [
        ([10**24, 0], PLAIN, ZeroDivisionError),
        ([10**30, 10**30, 10**30, 1, 1], PLAIN, OverflowError),
        ([10**70, 10**70], PLAIN, OverflowError),
    ],
)
def test_balances_without_an_invariant(xs, rules, error):
    with pytest.raises(error):
        invariant(xs, rules)


def test_a_swap_that_leaves_uint256_is_refused():
    xs = [10**24, 10**24]
    with pytest.raises(OverflowError, match="uint256"):
        exchange(xs, 0, 1, 2**256, invariant(xs, PLAIN), PLAIN)
    with pytest.raises(OverflowError, match="uint256"):
        exchange(xs, 0, 1, 2**130, invariant(xs, PLAIN), PLAIN._replace(multiplier=2 * FEE_SCALE))


def test_ng_refuses_what_its_oracle_cannot_price():
    xs, rules = [10**27, 10**27], PLAIN._replace(oracle=True, product=Product.LAST)
    d = invariant(xs, rules)
    assert exchange(xs, 0, 1, 10**32, d, PLAIN).removed > 0
    with pytest.raises(ArithmeticError):
        exchange(xs, 0, 1, 10**50, d, rules)
