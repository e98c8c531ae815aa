"""Balancer v1's powers and quotes against 60 digits, and against numbers recorded from other implementations."""

from __future__ import annotations

import random
from decimal import Decimal, localcontext

import pytest

from routing_engine.amm.balancer.v1 import (
    divide,
    input_at_base,
    max_amount_in,
    multiply,
    out_given_in,
    power,
    spot_price,
)
from routing_engine.fixed_point import WAD


@pytest.mark.parametrize(
    ("a", "b", "product", "quotient"), [(3, WAD // 2, 2, 6), (1, WAD // 2, 1, 2), (1, 3, 0, WAD // 3)]
)
def test_products_and_quotients_are_rounded_half_up(a, b, product, quotient):
    assert (multiply(a, b), divide(a, b)) == (product, quotient)


def test_a_series_recorded_from_kyberswaps_tests():
    assert power(999_999_998_494_616_385, 750_000_000_000_000_000) == 999_999_998_870_962_289


def test_a_quote_recorded_from_kyberswaps_tests(record_property):
    """WETH for WBTC in a pool of equal weights, fee 0.4 %."""
    record_property("vector_cases", ("balancer v1: answers stated by another library", 1))
    weth, wbtc = (181_453_339_134_494_385_762, 25 * WAD), (982_184_296, 25 * WAD)
    assert out_given_in(*weth, *wbtc, 81_275_824_825_923_290, 4 * 10**15) == 437_981


def test_whole_powers_are_multiplied_out():
    assert power(WAD // 2, 3 * WAD) == WAD // 8
    assert power(WAD // 2, 10 * WAD) == WAD // 1024 + (WAD % 1024 >= 512)
    assert power(WAD, 7 * WAD // 2) == WAD
    assert power(3 * WAD // 2, 0) == WAD


def test_powers_err_by_the_first_term_that_is_left_out():
    rng = random.Random(1)
    for _ in range(1_000):
        base, exponent = rng.randrange(WAD // 2, 19 * WAD // 10), rng.randrange(WAD // 50, 50 * WAD)
        with localcontext(prec=60):
            true = (Decimal(base) / WAD) ** (Decimal(exponent) / WAD) * WAD
        found = power(base, exponent)
        # Beside the cut, each product errs by half a unit, and whole powers multiply that.
        assert abs(found - true) <= true * Decimal("3e-10") + 200 * max(1, true / WAD)
        if base < WAD:
            assert found >= true - 200


def test_outputs_are_those_of_the_formula():
    rng = random.Random(2)
    for _ in range(500):
        sides = [(int(10 ** rng.uniform(15, 26)), rng.randrange(WAD, 50 * WAD)) for _ in range(2)]
        fee, amount_in = rng.randrange(10**12, 10**17), int(sides[0][0] * 10 ** rng.uniform(-6, -0.31))
        with localcontext(prec=60):
            kept = Decimal(sides[0][0]) / (sides[0][0] + amount_in * (1 - Decimal(fee) / WAD))
            true = sides[1][0] * (1 - kept ** (Decimal(sides[0][1]) / sides[1][1]))
        found = out_given_in(*sides[0], *sides[1], amount_in, fee)
        assert found == pytest.approx(float(true), rel=1e-8, abs=200 * (1 + sides[1][0] / WAD))


def test_the_least_input_at_a_base():
    rng = random.Random(3)
    for _ in range(500):
        balance, base, fee = rng.randrange(10**6, 10**24), rng.randrange(WAD // 2, WAD), rng.randrange(10**12, 10**17)
        amount = input_at_base(balance, base, fee)
        for given, reaches in ((amount, True), (amount - 1, False)):
            assert (divide(balance, balance + multiply(given, WAD - fee)) <= base) == reaches


def test_limits_and_prices():
    assert max_amount_in(7) == 4
    # A thousand of weight one against one of weight one: a thousand, and the fee of 1 % on top.
    assert spot_price(1000 * WAD, WAD, WAD, WAD, WAD // 100) == 1010_101_010_101_010_101_000
