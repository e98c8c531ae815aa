"""The swap loop, step by step."""

from __future__ import annotations

from dataclasses import replace

import pytest

from routing_engine.amm.concentrated.swap_loop import MAX_AMOUNT, least_input, swap
from routing_engine.amm.concentrated.tick_math import (
    MAX_SQRT_RATIO,
    MIN_SQRT_RATIO,
    sqrt_ratio_at_tick,
    tick_at_sqrt_ratio,
)
from routing_engine.fixed_point import Q96
from routing_engine.markets import ConcentratedPool
from tests.support.strategies import TOKEN0, TOKEN1

L = 10**18


def pool(*ticks, tick=0, spacing=60, fee_pips=3000):
    return ConcentratedPool(
        id="1:0xpool",
        protocol="uniswap_v3",
        token0=TOKEN0,
        token1=TOKEN1,
        fee_pips=fee_pips,
        tick_spacing=spacing,
        sqrt_price_x96=sqrt_ratio_at_tick(tick),
        tick=tick,
        liquidity=sum(net for index, net in ticks if index <= tick),
        ticks=ticks,
    )


def test_within_one_interval_it_is_a_constant_product_of_virtual_reserves():
    done = swap(pool((-600, L), (600, -L), fee_pips=0), False, L // 100)
    assert done.amount_out == L - L * 100 // 101 - 1  # reserves L and L, rounded against the trader
    assert (done.steps, done.filled, done.liquidity) == (1, True, L)


def test_the_loop_stops_at_the_edge_of_a_bitmap_word_where_nothing_is_initialised():
    market = pool((-40_000 // 60 * 60, L), (39_960, -L), spacing=60)
    reach = swap(replace(market, tick_spacing=1), True, L)  # spacing 1: a word is 256 ticks
    coarse = swap(market, True, L)  # spacing 60: a word is 15,360 ticks
    assert reach.tick == coarse.tick < -13_000
    assert reach.steps == -reach.tick // 256 + 2
    assert coarse.steps == 2


def test_each_initialised_tick_changes_the_liquidity():
    market = pool((-1200, L), (-600, L), (600, -L), (1200, -L), spacing=60)
    assert market.liquidity == 2 * L
    exhausted = swap(market, True, MAX_AMOUNT)
    assert (exhausted.liquidity, exhausted.filled) == (0, False)
    assert exhausted.sqrt_price_x96 == MIN_SQRT_RATIO + 1
    part = swap(market, True, exhausted.amount_in * 9 // 10)
    assert (part.liquidity, part.filled) == (L, True)
    assert -1200 <= part.tick < -600


def test_a_fall_exactly_onto_a_tick_crosses_it_and_leaves_the_tick_below():
    market = pool((-600, L), (0, L), (600, -2 * L), tick=120)
    wanted = swap(replace(market, ticks=((0, 2 * L), (600, -2 * L))), True, MAX_AMOUNT)
    done = swap(market, True, wanted.amount_in)
    assert (done.sqrt_price_x96, done.tick, done.liquidity) == (Q96, -1, L)
    after = replace(market, sqrt_price_x96=Q96, tick=-1, liquidity=L)
    after.validate()
    up = swap(after, False, 10**6)
    assert (up.liquidity, up.steps) == (2 * L, 2)  # the first step only crosses back


def test_a_gap_is_crossed_for_nothing():
    market = pool((60, L), (120, -L), tick=0)
    done = swap(market, False, 10**6)
    assert (market.liquidity, done.liquidity, done.filled) == (0, L, True)
    assert done.sqrt_price_x96 > sqrt_ratio_at_tick(60)


def test_without_liquidity_ahead_the_price_runs_to_its_bound():
    market = pool((60, L), (120, -L), tick=0)
    done = swap(market, True, 10**6)
    assert (done.amount_in, done.amount_out, done.filled, done.sqrt_price_x96) == (0, 0, False, MIN_SQRT_RATIO + 1)
    done = swap(market, False, MAX_AMOUNT)
    assert (done.filled, done.sqrt_price_x96) == (False, MAX_SQRT_RATIO - 1)


@pytest.mark.parametrize("zero_for_one", [True, False])
@pytest.mark.parametrize("wanted", [1, 2, 999, 10**15, 5 * 10**16])
def test_the_least_input(zero_for_one, wanted):
    market = pool((-1200, L), (-600, L), (600, -L), (1200, -L))
    least = least_input(market, zero_for_one, wanted)
    assert least.amount_out >= wanted
    assert least.amount_in <= swap(market, zero_for_one, wanted, exact_in=False).amount_in
    assert swap(market, zero_for_one, least.amount_in - 1).amount_out < wanted


def test_more_than_everything_has_no_least_input():
    market = pool((-600, L), (600, -L))
    everything = swap(market, True, MAX_AMOUNT).amount_out
    assert least_input(market, True, everything).amount_out == everything
    assert least_input(market, True, everything + 1) is None


@pytest.mark.parametrize("fee_pips", [0, 3000, 900_000])
def test_the_coarser_price_formula_where_the_contracts_exact_output_is_not_enough(fee_pips):
    """Near the top of the range the product of input and price overflows 256 bits, and the contract divides early."""
    edge, liquidity, price = 54 * 16_383, 2**100 + 77, 2**159 + 10**40
    market = replace(
        pool((-edge, liquidity), (edge, -liquidity), spacing=16_383, fee_pips=fee_pips),
        sqrt_price_x96=price,
        tick=tick_at_sqrt_ratio(price),
        liquidity=liquidity,
    )
    market.validate()
    asked_too_little = 0
    for shift in range(200):
        amount = (2**98 + (shift << 90) + 3 * shift) * 1_000_000 // (1_000_000 - fee_pips)
        wanted = swap(market, True, amount).amount_out + 1
        asked = swap(market, True, wanted, exact_in=False).amount_in
        least = least_input(market, True, wanted)
        assert least.amount_out >= wanted > swap(market, True, least.amount_in - 1).amount_out
        asked_too_little += asked < least.amount_in
    assert asked_too_little > 0
