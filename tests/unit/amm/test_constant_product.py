"""Constant product, by hand."""

from __future__ import annotations

import pytest

from routing_engine.amm.constant_product import get_amount_in, get_amount_out, holds_invariant, library_amount_in


@pytest.mark.parametrize(
    ("amount_in", "reserve_in", "reserve_out", "fee_pips", "amount_out"),
    [
        (1_000, 1_000, 1_000, 0, 500),  # doubling one reserve halves the other
        (1_000, 1_000, 1_000, 3000, 499),  # 997 * 1000 / 1997 = 499.2
        (1_000, 1_000, 1_000, 500_000, 333),  # half is charged: 500 * 1000 / 1500
        (1, 10**18, 10**18, 3000, 0),  # a unit less the fee buys nothing
        (10**18, 10**21, 10**12, 3000, 996_006_981),  # UniswapV2Router02 answers the same
    ],
)
def test_amount_out(amount_in, reserve_in, reserve_out, fee_pips, amount_out):
    assert get_amount_out(amount_in, reserve_in, reserve_out, fee_pips) == amount_out


def test_a_fee_in_another_scale_gives_the_same_integers():
    amount_in, reserve_in, reserve_out = 123_456_789, 10**20 + 7, 10**17 + 3
    charged = amount_in * 9_975
    assert get_amount_out(amount_in, reserve_in, reserve_out, 2500) == charged * reserve_out // (
        reserve_in * 10_000 + charged
    )


def test_the_library_asks_one_unit_too_much_where_the_division_is_exact():
    # 997e12 * out * 1000 / (left * 997) is whole for left = 10**11.
    amount_out = 9 * 10**11
    least = get_amount_in(amount_out, 997 * 10**12, 10**12, 3000)
    assert least == 9 * 10**15
    assert library_amount_in(amount_out, 997 * 10**12, 10**12, 3000) == least + 1
    assert holds_invariant(least, amount_out, 997 * 10**12, 10**12, 3000)
    assert not holds_invariant(least - 1, amount_out, 997 * 10**12, 10**12, 3000)
