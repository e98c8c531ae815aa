"""Ekubo pools as markets: directions, limits, states after a swap, impossible states."""

from __future__ import annotations

from dataclasses import replace

import pytest

from routing_engine.amm.ekubo.ticks import MAX_SQRT_RATIO, MIN_SQRT_RATIO, MIN_TICK, Q128, sqrt_ratio_at_tick
from routing_engine.errors import InvalidMarket, QuoteRefused, Refusal
from routing_engine.markets.ekubo.pool import EkuboPool
from tests.support.strategies import TOKEN0, TOKEN1

POOL = EkuboPool(
    id="1:0xekubo",
    protocol="ekubo_v2",
    token0=TOKEN0,
    token1=TOKEN1,
    fee_x64=(1 << 64) // 1000,
    tick_spacing=100,
    sqrt_ratio=Q128,
    tick=0,
    liquidity=10**15,
    ticks=((-2000, 10**15), (0, 0), (2000, -(10**15))),
)
WHOLE = replace(POOL, tick_spacing=0, ticks=())


def test_the_state_after_a_swap_that_crosses_a_tick():
    pool = replace(POOL, ticks=((-3000, 10**14), (-2000, 9 * 10**14), (2000, -(10**15))))
    hop, after = pool.swap_exact_in(TOKEN0, TOKEN1, 1_050_000_000_000)
    assert (after.tick < -2000, after.liquidity) == (True, 10**14)
    after.validate()
    assert hop.gas == pool.gas + pool.gas_per_tick
    assert hop.fees[0].amount >= 1_050_000_000


def test_the_last_tick_takes_what_rounding_leaves():
    most = POOL.limits(TOKEN0, TOKEN1).max_amount_in
    _, after = POOL.swap_exact_in(TOKEN0, TOKEN1, most)
    assert (after.sqrt_ratio, after.tick, after.liquidity) == (sqrt_ratio_at_tick(-2000), -2001, 0)
    after.validate()
    assert after.edges() == ((TOKEN1, TOKEN0),)
    with pytest.raises(QuoteRefused, match="until the liquidity ends") as refused:
        POOL.swap_exact_in(TOKEN0, TOKEN1, most + 1)
    assert refused.value.reason is Refusal.INSUFFICIENT_LIQUIDITY


def test_liquidity_over_the_whole_range_reaches_the_ends():
    for edge, end in (((TOKEN0, TOKEN1), MIN_SQRT_RATIO), ((TOKEN1, TOKEN0), MAX_SQRT_RATIO)):
        most = WHOLE.limits(*edge).max_amount_in
        _, after = WHOLE.swap_exact_in(*edge, most)
        assert after.sqrt_ratio == end
        assert edge not in after.edges()


def test_a_pool_without_liquidity_is_closed():
    empty = replace(POOL, liquidity=0, ticks=())
    empty.validate()
    assert empty.edges() == ()
    assert empty.spot_price(TOKEN0, TOKEN1) == 0.0
    assert empty.limits(TOKEN0, TOKEN1).max_amount_in == 0
    assert empty.curve(TOKEN0, TOKEN1).x_max == 0.0
    with pytest.raises(QuoteRefused):
        empty.swap_exact_out(TOKEN0, TOKEN1, 1)


@pytest.mark.parametrize("amount", [0, -1, 1])
def test_what_buys_nothing_is_refused(amount):
    with pytest.raises(QuoteRefused) as refused:
        POOL.swap_exact_in(TOKEN0, TOKEN1, amount)
    assert refused.value.reason is Refusal.AMOUNT_TOO_LOW


def test_in_a_gap_the_price_is_that_of_the_first_liquidity():
    pool = replace(POOL, liquidity=0, ticks=((-3000, 10**15), (-2000, -(10**15))))
    pool.validate()
    expected = (sqrt_ratio_at_tick(-2000) / Q128) ** 2 * 0.999
    assert pool.spot_price(TOKEN0, TOKEN1) == pytest.approx(expected, rel=1e-12)
    assert pool.edges() == ((TOKEN0, TOKEN1),)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("fee_x64", 1 << 64), ("tick_spacing", -1), ("sqrt_ratio", Q128 + 1), ("sqrt_ratio", 0), ("liquidity", 2**128),
        ("tick", 1), ("ticks", ((-2000, 10**15), (-2000, -(10**15)))), ("ticks", ((-2001, 10**15), (2000, -(10**15)))),
        ("ticks", ((-2000, -(10**15)), (2000, 10**15))), ("ticks", ((-2000, 10**15),)),
        ("ticks", ((MIN_TICK - 165, 10**15), (2000, -(10**15)))), ("liquidity", 10**15 - 1),
    ],
)  # fmt: skip
def test_impossible_states_name_their_field(field, value):
    with pytest.raises(InvalidMarket) as invalid:
        replace(POOL, **{field: value}).validate()
    assert invalid.value.field == field


def test_a_record_is_checked():
    record = POOL.to_record() | {"tick": 5}
    with pytest.raises(InvalidMarket, match="tick"):
        EkuboPool.from_record(record, {token.key: token for token in POOL.tokens})
