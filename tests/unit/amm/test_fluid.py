"""Fluid's arithmetic: published vectors, an independent derivation, and each check by name.

Vectors: KyberSwap dex-lib, ``pkg/liquidity-source/fluid/dex-t1``: ``math_test.go`` (no fee), ``pool_simulator_test.go``
(fee 0.01 %, state of the wstETH-ETH pool near block 20836530).
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routing_engine.amm.fluid import (
    Breach,
    Reserves,
    Split,
    adjust,
    find_breach,
    get_amount_out,
    move,
    route_in,
    split_in,
    unadjust,
)
from tests.support.strategies import magnitudes

PRICE_ONE = 10**27
OFF = Reserves(0, 0, 0, 0)
COLLATERAL = Reserves(20000000006000000, 20000000000500000, 389736659726997981, 389736659619871949)
DEBT = Reserves(9486832995556050, 9486832993079885, 184868330099560759, 184868330048879109)
STETH_COLLATERAL = Reserves(2169934539358, 19563846299171, 62490032619260838, 73741038977020279)
STETH_DEBT = Reserves(2169108220421, 19572550738602, 62511862774117387, 73766803277429176)
WIDE = 2**100


def turned(reserves):
    return Reserves(reserves[1], reserves[0], reserves[3], reserves[2])


def total(split):
    return split.collateral_out + split.debt_out


@pytest.mark.parametrize(
    ("forward", "collateral", "debt", "expected"),
    [
        (True, COLLATERAL, DEBT, 998262697204710),
        (True, OFF, DEBT, 994619847016724),
        (True, COLLATERAL, OFF, 997440731289905),
        (False, COLLATERAL, DEBT, 998262697752553),
        (False, OFF, DEBT, 994619847560607),
        (False, COLLATERAL, OFF, 997440731837532),
    ],
)
def test_published_vectors_without_a_fee(forward, collateral, debt, expected, record_property):
    record_property("vector_cases", ("fluid: published vectors", 1))
    pools = (collateral, debt) if forward else (turned(collateral), turned(debt))
    assert total(split_in(10**15, pools, 0)) == expected


@pytest.mark.parametrize(
    ("forward", "amount_in", "expected"),
    [(True, 10**12, 1179917402128), (True, 5 * 10**11, 589961060629), (False, 8 * 10**11, 677868867152)],
)
def test_published_vectors_with_a_fee(forward, amount_in, expected, record_property):
    """The simulator takes the fee before it divides the input, the contract after: up to two adjusted units less."""
    record_property("vector_cases", ("fluid: vectors of a simulator that rounds earlier, to two units of 1e-12", 1))
    pools = (STETH_COLLATERAL, STETH_DEBT) if forward else (turned(STETH_COLLATERAL), turned(STETH_DEBT))
    assert expected - 2 <= total(split_in(amount_in, pools, 100)) <= expected


def test_the_published_vector_against_the_resolver(record_property):
    """Without a fee: one wstETH gives 1.180035404724 ETH, as the resolver's estimate at the same reserves."""
    assert total(split_in(adjust(10**18, 18), (STETH_COLLATERAL, STETH_DEBT), 0)) == 1180035404724
    record_property("vector_cases", ("fluid: published vectors", 1))


imaginary = magnitudes(10**13, 10**22)


@given(x=imaginary, y=imaginary, x2=imaginary, y2=imaginary, permille=st.integers(1, 400))
@settings(max_examples=300, deadline=None, derandomize=True)
def test_the_division_makes_both_pools_end_at_one_price(x, y, x2, y2, permille):
    """From the condition (y + a)^2 / (x y) = (y2 + t - a)^2 / (x2 y2), in 80 digits."""
    amount = (y + y2) * permille // 1000
    found = route_in(amount, Reserves(1, 1, y, x), Reserves(1, 1, y2, x2))
    with localcontext() as context:
        context.prec = 80
        root, root2 = (Decimal(x) * y).sqrt(), (Decimal(x2) * y2).sqrt()
        exact = (root * (y2 + amount) - root2 * y) / (root + root2)
        assert abs(found - exact) <= 2
        if 0 < exact < amount:
            first = (y + exact) ** 2 / (Decimal(x) * y)
            second = (y2 + amount - exact) ** 2 / (Decimal(x2) * y2)
            assert abs(first / second - 1) < Decimal("1e-60")


@given(x=imaginary, y=imaginary, amount=magnitudes(1, 10**22))
@settings(max_examples=200, deadline=None, derandomize=True)
def test_one_pool_keeps_its_product(x, y, amount):
    pool = Reserves(0, 0, x, y)
    out = get_amount_out(amount, pool)
    after = move(pool, amount, out, 0)
    assert after.imaginary_in * after.imaginary_out >= x * y > (x + amount) * (y - out - 1)
    assert Fraction(out) <= Fraction(amount * y, x + amount)


def check(split, pools=None, *, forward=True, price=PRICE_ONE, withdrawable=WIDE, borrowable=WIDE):
    return find_breach(split, pools or (COLLATERAL, DEBT), forward, price, withdrawable, borrowable)


def test_a_swap_within_all_bounds_passes():
    assert check(split_in(10**15, (COLLATERAL, DEBT), 100)) is None


@pytest.mark.parametrize(
    ("split", "options", "expected"),
    [
        (Split(999_999, 1, 0, 0), {}, Breach.TOO_LITTLE),
        (Split(2**96, 1, 0, 0), {}, Breach.HALF_OF_RESERVES),
        (Split((389736659726997981 + 184868330099560759) // 2 + 1, 1, 0, 0), {}, Breach.HALF_OF_RESERVES),
        (Split(10**15, COLLATERAL.real_out + 1, 0, 0), {}, Breach.RESERVES),
        (Split(0, 0, 10**15, DEBT.real_out + 1), {}, Breach.RESERVES),
        (Split(10**15, COLLATERAL.real_out, 0, 0), {}, Breach.RESERVES_TOO_LOW),
        (Split(0, 0, 10**15, DEBT.real_out), {"forward": False}, Breach.RESERVES_TOO_LOW),
        (Split(10**15, 10**15, 0, 0), {"withdrawable": 10**15 - 1}, Breach.WITHDRAWABLE),
        (Split(0, 0, 10**15, 10**15), {"borrowable": 10**15 - 1}, Breach.BORROWABLE),
        (Split(12 * 10**15, 11 * 10**15, 0, 0), {}, Breach.PRICE),
        (Split(12 * 10**15, 11 * 10**15, 0, 0), {"forward": False}, Breach.PRICE),
    ],
)
def test_each_check_of_the_contract(split, options, expected):
    assert check(split, **options) is expected


@pytest.mark.parametrize("forward", [True, False])
def test_the_price_may_move_by_five_percent_of_the_new_one(forward):
    """A falling price may lose 1 - 1 / 1.05 of the old one, a rising price gain 1 / 0.95 - 1."""
    pool = Reserves(10**18, 10**18, 10**18, 10**18)
    fall = 1 / 1.05 if forward else 0.95
    reach = int(10**18 * (fall**-0.5 - 1))
    for amount, expected in ((reach * 9999 // 10_000, None), (reach * 10_001 // 10_000, Breach.PRICE)):
        split = split_in(amount, (pool, OFF), 0)
        assert check(split, (pool, OFF), forward=forward) is expected


def test_the_least_reserve_is_a_ten_thousandth_of_the_other_at_the_centre_price():
    pool = Reserves(10**16, 3 * 10**12, 10**20, 2 * 10**20)
    left = (10**16 + 10**9) * 2 // 10**4
    for taken, expected in ((3 * 10**12 - left, None), (3 * 10**12 - left + 1, Breach.RESERVES_TOO_LOW)):
        assert check(Split(10**9, taken, 0, 0), (pool, OFF), price=2 * PRICE_ONE) is expected


@pytest.mark.parametrize(("decimals", "amount", "adjusted"), [(6, 7, 7 * 10**6), (12, 7, 7), (18, 1_999_999, 1)])
def test_amounts_are_adjusted_to_twelve_decimals(decimals, amount, adjusted):
    assert adjust(amount, decimals) == adjusted
    assert unadjust(adjusted, decimals) <= amount
    assert adjust(unadjust(adjusted, decimals), decimals) == adjusted
