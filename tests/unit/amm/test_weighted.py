"""Balancer v2's powers and weighted quotes against 60 digits."""

from __future__ import annotations

import random
from decimal import Decimal, localcontext

import pytest

from routing_engine.amm.balancer.log_exp import power
from routing_engine.amm.balancer.weighted import (
    MAX_RELATIVE_ERROR,
    amount_after_fee,
    amount_before_fee,
    in_given_out,
    out_given_in,
    power_up,
)
from routing_engine.fixed_point import WAD, mul_div_up


def true_power(base: int, exponent: int) -> Decimal:
    with localcontext(prec=80):
        return (Decimal(base) / WAD) ** (Decimal(exponent) / WAD) * WAD


def test_powers_are_within_the_error_that_is_charged():
    rng = random.Random(1)
    for _ in range(2_000):
        base, exponent = int(10 ** rng.uniform(17.5, 18.5)), int(10 ** rng.uniform(16, 19.5))
        raw, true = power(base, exponent), true_power(base, exponent)
        assert abs(raw - true) <= true * MAX_RELATIVE_ERROR / WAD + 1
        assert true <= power_up(base, exponent, multiplies=False) <= true + 2 * (true * MAX_RELATIVE_ERROR / WAD + 2)
        assert true <= power_up(base, exponent, multiplies=True)


@pytest.mark.parametrize(
    ("base", "exponent", "expected"),
    [
        (0, 0, WAD),
        (0, 1, 0),
        (7 * WAD, 0, WAD),
        (WAD, 3 * WAD, WAD),
        # e**(64 * ln 2) and e**(128 * ln 2) use the two largest known powers.
        (2 * WAD, 100 * WAD, 2**100 * WAD),
        (2 * WAD, 187 * WAD, 2**187 * WAD),
        (WAD // 2, 40 * WAD, WAD // 2**40),
        (10**38, WAD, 10**38),
        (10**50, WAD, 10**50),
        (10**74, WAD // 2, 10**46),
    ],
)
def test_named_powers(base, exponent, expected):
    assert power(base, exponent) == pytest.approx(expected, rel=1e-15, abs=1)


def test_results_outside_the_range_are_refused():
    with pytest.raises(ValueError, match="out of range"):
        power(WAD // 2, 60 * WAD)
    with pytest.raises(ValueError, match="out of range"):
        power(2 * WAD, 188 * WAD)


@pytest.mark.parametrize("times", [1, 2, 4])
def test_later_versions_multiply_small_powers_out(times):
    rng = random.Random(times)
    for _ in range(200):
        base = rng.randrange(7 * 10**17, WAD)
        multiplied = power_up(base, times * WAD, multiplies=True)
        assert 0 <= multiplied - true_power(base, times * WAD) < times
        assert multiplied <= power_up(base, times * WAD, multiplies=False)


def test_quotes_are_never_better_than_the_true_ones():
    rng = random.Random(2)
    for _ in range(500):
        balance_in, balance_out = (int(10 ** rng.uniform(18, 28)) for _ in range(2))
        weight_in = rng.randrange(10**16, 99 * 10**16)
        weight_out = rng.randrange(10**16, WAD - weight_in + 1)
        ratio = Decimal(weight_in) / weight_out
        amount_in = int(balance_in * 0.3 * 10 ** rng.uniform(-12, 0))
        paid = out_given_in(balance_in, weight_in * WAD // weight_out, balance_out, amount_in, multiplies=False)
        with localcontext(prec=60):
            true = balance_out * (1 - (Decimal(balance_in) / (balance_in + amount_in)) ** ratio)
            # The exponent is rounded down, the power up by at most twice its possible error, ratios have 18 decimals.
            step = balance_out * (Decimal(2 * MAX_RELATIVE_ERROR) + 4 * ratio + 4) / WAD
        assert true - step - 1 <= paid <= true
        if 0 < paid < 0.3 * balance_out:
            exponent = mul_div_up(weight_out, WAD, weight_in)
            assert in_given_out(balance_in, exponent, balance_out, paid, multiplies=False) >= 0
            asked = in_given_out(balance_in, exponent, balance_out, int(true), multiplies=False)
            assert asked >= amount_in - balance_in // 10**17


def test_the_fee_is_rounded_up_and_undone():
    assert amount_after_fee(1_001, 3 * 10**15) == 997
    rng = random.Random(3)
    for _ in range(500):
        fee, remains = rng.randrange(10**12, 10**17), rng.randrange(1, 10**20)
        amount = amount_before_fee(remains, fee)
        assert amount_after_fee(amount, fee) >= remains > amount_after_fee(amount - 1, fee)
