"""Laws of the invariants, over all magnitudes."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from routing_engine.amm.concentrated.swap_loop import MAX_AMOUNT, least_input, swap
from routing_engine.amm.concentrated.tick_math import MAX_TICK, MIN_TICK, sqrt_ratio_at_tick, tick_at_sqrt_ratio
from routing_engine.amm.constant_product import (
    MAX_RESERVE,
    get_amount_in,
    get_amount_out,
    holds_invariant,
    library_amount_in,
)
from tests.support.strategies import concentrated_pools, magnitudes

RESERVES = magnitudes(2, MAX_RESERVE)
FEES = st.integers(0, 999_999)
settings.register_profile("repeatable", deadline=None, derandomize=True)
REPEATABLE = settings.get_profile("repeatable")


@given(reserve_in=RESERVES, reserve_out=RESERVES, fee=FEES, amount_in=magnitudes(1, MAX_RESERVE))
@settings(REPEATABLE, max_examples=500)
def test_the_output_is_the_largest_that_keeps_the_product(reserve_in, reserve_out, fee, amount_in):
    amount_out = get_amount_out(amount_in, reserve_in, reserve_out, fee)
    assert amount_out < reserve_out
    assert holds_invariant(amount_in, amount_out, reserve_in, reserve_out, fee)
    assert not holds_invariant(amount_in, amount_out + 1, reserve_in, reserve_out, fee)
    assert (reserve_in + amount_in) * (reserve_out - amount_out) >= reserve_in * reserve_out


@given(reserve_in=RESERVES, reserve_out=RESERVES, fee=FEES, data=st.data())
@settings(REPEATABLE, max_examples=500)
def test_the_input_is_the_least_that_suffices(reserve_in, reserve_out, fee, data):
    amount_out = data.draw(magnitudes(1, reserve_out - 1))
    amount_in = get_amount_in(amount_out, reserve_in, reserve_out, fee)
    assert get_amount_out(amount_in, reserve_in, reserve_out, fee) >= amount_out
    assert get_amount_out(amount_in - 1, reserve_in, reserve_out, fee) < amount_out
    assert amount_in <= library_amount_in(amount_out, reserve_in, reserve_out, fee) <= amount_in + 1


@given(tick=st.integers(MIN_TICK, MAX_TICK - 1), data=st.data())
@settings(REPEATABLE, max_examples=500)
def test_ticks_and_ratios_are_inverse(tick, data):
    low, high = sqrt_ratio_at_tick(tick), sqrt_ratio_at_tick(tick + 1)
    assert low < high
    assert tick_at_sqrt_ratio(data.draw(st.integers(low, high - 1))) == tick


@given(pool=concentrated_pools(), zero_for_one=st.booleans(), data=st.data())
@settings(REPEATABLE, max_examples=150)
def test_a_swap_leaves_a_pool_that_is_consistent(pool, zero_for_one, data):
    capacity = swap(pool, zero_for_one, MAX_AMOUNT).amount_in
    amount = data.draw(magnitudes(1, max(1, capacity)))
    done = swap(pool, zero_for_one, amount)
    assert done.filled == (amount <= capacity)
    assert 0 <= done.fee_amount <= done.amount_in
    assert (done.sqrt_price_x96 <= pool.sqrt_price_x96) is zero_for_one or done.sqrt_price_x96 == pool.sqrt_price_x96
    if done.amount_out and done.filled:
        sold, bought = pool.tokens if zero_for_one else pool.tokens[::-1]
        pool.swap_exact_in(sold, bought, amount)[1].validate()


@given(pool=concentrated_pools(), zero_for_one=st.booleans(), data=st.data())
@settings(REPEATABLE, max_examples=150)
def test_exact_out_of_the_contract_is_never_below_the_least_input(pool, zero_for_one, data):
    everything = swap(pool, zero_for_one, MAX_AMOUNT)
    if everything.amount_out == 0:
        assert least_input(pool, zero_for_one, 1) is None
        return
    wanted = data.draw(magnitudes(1, everything.amount_out))
    asked, least = swap(pool, zero_for_one, wanted, exact_in=False), least_input(pool, zero_for_one, wanted)
    assert asked.amount_out == wanted
    assert least.amount_in <= asked.amount_in
    assert least.amount_out >= wanted > swap(pool, zero_for_one, least.amount_in - 1).amount_out
