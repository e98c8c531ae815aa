"""Bancor v2.1: a published vector, an independent derivation, limits, impossible states."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routing_engine.amm.bancor import MAX_RESERVE, get_amount_in, get_amount_out
from routing_engine.errors import InvalidMarket, QuoteRefused, Refusal
from routing_engine.markets.bancor import BancorPool
from tests.support.strategies import TOKEN0, TOKEN1, magnitudes

# BNT and ETH, block 19337522; KyberSwap dex-lib, bancor-v21/pool_simulator_test.go.
POOL = BancorPool(
    id="1:0xbancor",
    protocol="bancor_v2",
    token0=TOKEN0,
    token1=TOKEN1,
    reserve0=5331662883334921599711153,
    reserve1=1365946516730429156513,
    fee_pips=1_000,
)


def test_the_published_vector(record_property):
    record_property("vector_cases", ("bancor v2.1: published vector", 1))
    assert POOL.swap_exact_in(TOKEN1, TOKEN0, 1000)[0].amount_out == 3_899_370


def test_the_fee_is_taken_from_the_output_and_stays_in_the_pool():
    hop, after = POOL.swap_exact_in(TOKEN1, TOKEN0, 10**18)
    target = POOL.reserve0 * 10**18 // (POOL.reserve1 + 10**18)
    assert [(fee.amount, fee.token, fee.included) for fee in hop.fees] == [(target // 1000, TOKEN0, True)]
    assert hop.amount_out == target - target // 1000
    assert (after.reserve0, after.reserve1) == (POOL.reserve0 - hop.amount_out, POOL.reserve1 + 10**18)


@given(x=magnitudes(1, 10**40), y=magnitudes(1, 10**40), fee=st.integers(0, 999_999), amount=magnitudes(1, 10**30))
@settings(max_examples=500, deadline=None, derandomize=True)
def test_amounts_follow_from_the_product_in_fractions(x, y, fee, amount):
    out, taken = get_amount_out(amount, x, y, fee)
    ideal = y - Fraction(x * y, x + amount)
    assert 0 <= ideal - (out + taken) < 1
    assert 0 <= Fraction((out + taken) * fee, 10**6) - taken < 1
    if out:
        least = get_amount_in(out, x, y, fee)
        assert least <= amount
        assert get_amount_out(least, x, y, fee)[0] >= out
        assert get_amount_out(least - 1, x, y, fee)[0] < out
    assert get_amount_in(y + 1, x, y, fee) is None


def test_reserves_are_bounded_by_their_storage_word():
    room = MAX_RESERVE - POOL.reserve0
    assert POOL.limits(TOKEN0, TOKEN1).max_amount_in == room
    with pytest.raises(QuoteRefused) as refused:
        POOL.swap_exact_in(TOKEN0, TOKEN1, room + 1)
    assert refused.value.reason is Refusal.AMOUNT_TOO_HIGH


def test_an_empty_pool_is_closed():
    empty = replace(POOL, reserve0=0)
    assert empty.edges() == ()
    assert empty.spot_price(TOKEN0, TOKEN1) == 0.0
    for edge in ((TOKEN0, TOKEN1), (TOKEN1, TOKEN0)):
        for swap in (empty.swap_exact_in, empty.swap_exact_out):
            with pytest.raises(QuoteRefused):
                swap(*edge, 1000)


@pytest.mark.parametrize(("field", "value"), [("reserve0", -1), ("reserve1", 2**128), ("fee_pips", 10**6)])
def test_impossible_states_name_their_field(field, value):
    with pytest.raises(InvalidMarket) as invalid:
        replace(POOL, **{field: value})
    assert invalid.value.field == field
