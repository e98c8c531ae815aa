"""Ekubo's arithmetic: vectors of the contract's own tests, of a public simulator, and an independent derivation.

Contract: EkuboProtocol/evm-contracts, ``test/math/sqrtRatio.t.sol`` and ``src/math/constants.sol``. Simulator:
KyberSwap dex-lib, ``pkg/liquidity-source/ekubo``: ``pool_simulator_test.go``, ``math/swap_test.go``, ``math/tick.go``.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routing_engine.amm.ekubo.swap_loop import (
    FEE_SCALE,
    MAX_AMOUNT,
    amount0_delta,
    amount1_delta,
    amount_before_fee,
    compute_fee,
    next_ratio_from_amount0,
    next_ratio_from_amount1,
    swap,
)
from routing_engine.amm.ekubo.ticks import (
    MAX_SQRT_RATIO,
    MAX_TICK,
    MIN_SQRT_RATIO,
    MIN_TICK,
    Q128,
    round_ratio,
    sqrt_ratio_at_tick,
    tick_at_sqrt_ratio,
)
from tests.support.deep_strategies import ekubo_pools
from tests.support.strategies import magnitudes

HALF = 1 << 63

SIMULATED = SimpleNamespace(
    sqrt_ratio=round_ratio(13967539110995781342936001321080700, up=False),
    tick=-20201601,
    liquidity=99999,
    fee_x64=922337203685477,
    ticks=(
        (-88722000, 99999), (-24124600, 103926982998885), (-24124500, -103926982998885), (-20236100, 20192651866847),
        (-20235900, 676843433645), (-20235400, 620315686813), (-20235000, 3899271022058), (-20234900, 1985516133391),
        (-20233000, 2459469409600), (-20232100, -20192651866847), (-20231900, -663892969024),
        (-20231400, -620315686813), (-20231000, -3516445235227), (-20230900, -1985516133391),
        (-20229000, -2459469409600), (-20227900, -12950464621), (-20227000, -382825786831), (-2000, 140308196),
        (2000, -140308196), (88722000, -99999),
    ),
)  # fmt: skip


def test_the_simulated_pool_of_twenty_ticks(record_property):
    record_property("vector_cases", ("ekubo: vectors of the contract's tests and of a simulator", 1))
    done = swap(SIMULATED, False, 1_000_000)
    assert (done.amount_in, done.amount_out, done.filled) == (1_000_000, 2436479431, True)


def full_range(sqrt_ratio, liquidity, fee_x64=0):
    tick = tick_at_sqrt_ratio(sqrt_ratio)
    return SimpleNamespace(sqrt_ratio=sqrt_ratio, tick=tick, liquidity=liquidity, ticks=(), fee_x64=fee_x64)


def test_the_simulated_pool_over_the_whole_range(record_property):
    record_property("vector_cases", ("ekubo: vectors of the contract's tests and of a simulator", 1))
    assert swap(full_range(Q128, 10_000_000), False, 1000).amount_out == 999


@pytest.mark.parametrize("zero_for_one", [True, False])
def test_the_simulated_step_with_a_fee_of_a_half(zero_for_one, record_property):
    record_property("vector_cases", ("ekubo: vectors of the contract's tests and of a simulator", 1))
    done = swap(full_range(Q128, 100_000, HALF), zero_for_one, 10_000)
    assert (done.amount_out, done.fee_amount) == (4_761, 5_000)


@pytest.mark.parametrize(
    ("liquidity", "amount", "exact"),
    [
        (1 << 96, 10_000, 340282366920938463463374564482095251457),
        (10**6, 1000, 339942424496442021441932674757011200256),
    ],
)
def test_token_0_moves_the_price_down_as_in_the_contract(liquidity, amount, exact, record_property):
    record_property("vector_cases", ("ekubo: vectors of the contract's tests and of a simulator", 1))
    assert next_ratio_from_amount0(Q128, liquidity, amount) == round_ratio(exact, up=True)


def test_token_1_moves_the_price_up_as_in_the_contract(record_property):
    record_property("vector_cases", ("ekubo: vectors of the contract's tests and of a simulator", 2))
    exact = Q128 + 340282366920938463463374607431768211
    assert next_ratio_from_amount1(Q128, 10**6, 1000) == round_ratio(exact, up=False)
    assert next_ratio_from_amount0(MIN_SQRT_RATIO, 1, MAX_AMOUNT) == round_ratio(2, up=True)


def test_no_amount_moves_no_price():
    for move in (next_ratio_from_amount0, next_ratio_from_amount1):
        assert move(sqrt_ratio_at_tick(1_234_567), 10**15, 0) == sqrt_ratio_at_tick(1_234_567)


def test_the_range_of_prices_is_that_of_the_contract():
    assert MIN_SQRT_RATIO == 18447191164202170524
    assert MAX_SQRT_RATIO == 6276949602062853172742588666607187473671941430179807625216
    assert MAX_TICK == -MIN_TICK == 88722835
    assert sqrt_ratio_at_tick(0) == Q128


@given(tick=st.integers(MIN_TICK, MAX_TICK))
@settings(max_examples=400, deadline=None, derandomize=True)
def test_ticks_follow_the_power_of_1_000001(tick):
    with localcontext() as context:
        context.prec = 60
        exact = Decimal("1.000001") ** (Decimal(tick) / 2) * Q128
        kept = max(2**-61, 30 * 2**-64 * float(exact) / Q128 if tick > 0 else 0)
        assert abs(Decimal(sqrt_ratio_at_tick(tick)) / exact - 1) < Decimal(kept)


@given(tick=st.integers(MIN_TICK, MAX_TICK - 1), part=st.integers(0, 10**6 - 1))
@settings(max_examples=400, deadline=None, derandomize=True)
def test_the_tick_of_a_price_is_the_last_that_does_not_exceed_it(tick, part):
    low, high = sqrt_ratio_at_tick(tick), sqrt_ratio_at_tick(tick + 1)
    assert tick_at_sqrt_ratio(low) == tick
    assert tick_at_sqrt_ratio(low + (high - low) * part // 10**6) == tick
    assert tick_at_sqrt_ratio(high - 1) == tick


@pytest.mark.parametrize(("bits", "dropped"), [(96, 2), (128, 34), (160, 66), (192, 98)])
def test_a_price_keeps_94_bits(bits, dropped):
    ratio = (1 << bits) - (1 << dropped) - 1
    assert round_ratio(ratio, up=False) == ratio - (ratio % (1 << dropped))
    assert round_ratio(ratio, up=True) == (1 << bits) - (1 << dropped)
    assert round_ratio((1 << bits) - (1 << dropped), up=True) == (1 << bits) - (1 << dropped)


def test_rounding_up_may_lead_to_the_next_magnitude():
    assert round_ratio((1 << 96) - 1, up=True) == 1 << 96
    with pytest.raises(OverflowError):
        round_ratio((1 << 192) - 1, up=True)


@given(amount=magnitudes(1, MAX_AMOUNT), fee_x64=st.integers(0, FEE_SCALE - 1))
@settings(max_examples=200, deadline=None, derandomize=True)
def test_fees_round_up_and_undo_each_other(amount, fee_x64):
    fee = compute_fee(amount, fee_x64)
    assert fee - 1 < Fraction(amount * fee_x64, FEE_SCALE) <= fee
    before = amount_before_fee(amount, fee_x64)
    assert before - compute_fee(before, fee_x64) == amount or before == amount == 0


@given(
    lower=magnitudes(MIN_SQRT_RATIO, MAX_SQRT_RATIO), growth=st.integers(1, 10**9), liquidity=magnitudes(1, 10**30),
)  # fmt: skip
@settings(max_examples=300, deadline=None, derandomize=True)
def test_deltas_round_outwards_and_inwards(lower, growth, liquidity):
    upper = lower + lower * growth // 10**9 + 1
    exact0 = Fraction(liquidity * (upper - lower) << 128, upper * lower)
    exact1 = Fraction(liquidity * (upper - lower), Q128)
    for delta, exact, slack in ((amount0_delta, exact0, 2), (amount1_delta, exact1, 1)):
        assert exact - slack < delta(lower, upper, liquidity, up=False) <= exact
        assert exact <= delta(lower, upper, liquidity, up=True) < exact + slack


@given(pool=ekubo_pools(), permille=st.integers(1, 1000), zero_for_one=st.booleans())
@settings(max_examples=300, deadline=None, derandomize=True)
def test_outputs_follow_from_the_liquidity_alone(pool, permille, zero_for_one):
    """Sum of L * (difference of the prices) over the stretches, in fractions, for the price that the swap ended at."""
    most = swap(pool, zero_for_one, MAX_AMOUNT)
    amount = most.amount_in * permille // 1000
    if amount == 0:
        return
    done = swap(pool, zero_for_one, amount)
    low, high = sorted((pool.sqrt_ratio, done.sqrt_ratio))
    prices = [(sqrt_ratio_at_tick(index), net) for index, net in pool.ticks]
    ends = sorted({low, high, *(price for price, _ in prices if low < price < high)})
    exact = needed = Fraction(0)
    for below, above in pairwise(ends):
        active = sum(net for price, net in prices if price <= below) if prices else pool.liquidity
        token0 = Fraction(active * (above - below) << 128, above * below)
        token1 = Fraction(active * (above - below), Q128)
        exact += token1 if zero_for_one else token0
        needed += token0 if zero_for_one else token1
    steps = done.crossed + 1
    assert exact - 2 * steps <= done.amount_out <= exact
    assert done.amount_in - done.fee_amount >= needed
    assert done.fee_amount >= Fraction(done.amount_in * pool.fee_x64, FEE_SCALE)
