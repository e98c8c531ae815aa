"""Ladders: level by level, in order, to the unit."""

from __future__ import annotations

from dataclasses import replace

import pytest

from routing_engine.errors import InvalidMarket, QuoteRefused, Refusal
from routing_engine.market import Limits
from routing_engine.markets import LadderMarket, Level
from tests.support.strategies import TOKEN0, TOKEN1, make_token

LADDER = LadderMarket(
    id="1:ladder",
    protocol="limit_orders",
    token_in=TOKEN0,
    token_out=TOKEN1,
    levels=(Level(100, 7, 3), Level(50, 5, 2), Level(1_000, 10, 3)),
    min_amount_in=10,
)


def test_levels_are_filled_in_order_and_each_rounds_down():
    hop, after = LADDER.swap_exact_in(TOKEN0, TOKEN1, 160)
    assert hop.amount_out == 100 * 3 // 7 + 50 * 2 // 5 + 10 * 3 // 10
    assert after.levels == (Level(990, 10, 3),)
    assert hop.gas == LADDER.gas + 3 * LADDER.gas_per_level


def test_an_order_keeps_the_price_it_was_signed_with():
    _, after = LADDER.swap_exact_in(TOKEN0, TOKEN1, 33)
    assert after.levels[0] == Level(67, 7, 3)
    assert after.swap_exact_in(TOKEN0, TOKEN1, 67)[0].amount_out == 67 * 3 // 7


def test_least_inputs():
    assert LADDER.swap_exact_out(TOKEN0, TOKEN1, 42)[0].amount_in == 98
    assert LADDER.swap_exact_out(TOKEN0, TOKEN1, 43)[0].amount_in == 103
    assert LADDER.swap_exact_out(TOKEN0, TOKEN1, 1)[0].amount_in == LADDER.min_amount_in


def test_what_a_ladder_refuses():
    for swap, amount, reason in (
        (LADDER.swap_exact_in, 9, Refusal.AMOUNT_TOO_LOW),
        (LADDER.swap_exact_in, 1_151, Refusal.INSUFFICIENT_LIQUIDITY),
        (LADDER.swap_exact_out, 0, Refusal.AMOUNT_TOO_LOW),
        (LADDER.swap_exact_out, 363, Refusal.INSUFFICIENT_LIQUIDITY),
        (replace(LADDER, min_amount_in=1).swap_exact_in, 2, Refusal.AMOUNT_TOO_LOW),
    ):
        with pytest.raises(QuoteRefused) as refused:
            swap(TOKEN0, TOKEN1, amount)
        assert refused.value.reason is reason
    with pytest.raises(QuoteRefused):
        LADDER.swap_exact_in(TOKEN1, TOKEN0, 100)


def test_a_ladder_that_is_used_up_or_below_its_minimum_is_closed():
    _, empty = LADDER.swap_exact_in(TOKEN0, TOKEN1, 1_150)
    assert (empty.levels, empty.edges(), empty.spot_price(TOKEN0, TOKEN1)) == ((), (), 0.0)
    assert empty.limits(TOKEN0, TOKEN1) == Limits(1, 0)
    curve = empty.curve(TOKEN0, TOKEN1)
    assert curve.x_max < curve.x_min
    assert replace(LADDER, min_amount_in=2_000).edges() == ()


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"token_out": TOKEN0}, "token_out"),
        ({"levels": (Level(0, 1, 1),)}, "levels.0"),
        ({"levels": (Level(5, 1, 1), Level(5, 0, 1))}, "levels.1"),
        ({"levels": (Level(5, 2, 1), Level(5, 1, 1))}, "levels.1"),
        ({"min_amount_in": 0}, "min_amount_in"),
        ({"fill_time_s": -1}, "fill_time_s"),
    ],
)
def test_impossible_ladders_are_named(changes, field):
    with pytest.raises(InvalidMarket) as error:
        replace(LADDER, **changes)
    assert error.value.field == field


def test_a_ladder_may_join_two_chains():
    intent = replace(LADDER, token_out=make_token(2, 6, chain_id=10), fill_time_s=12)
    hop, _ = intent.swap_exact_in(*intent.tokens, 100)
    assert (hop.is_bridge, hop.fill_time_s, intent.curve(*intent.tokens).fill_time_s) == (True, 12, 12.0)
