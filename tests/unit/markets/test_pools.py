"""Pools: refusals, closed directions, validation, gas."""

from __future__ import annotations

from dataclasses import replace

import pytest

from routing_engine.amm.concentrated.tick_math import sqrt_ratio_at_tick
from routing_engine.amm.constant_product import MAX_RESERVE
from routing_engine.errors import InvalidMarket, QuoteRefused, Refusal
from routing_engine.fixed_point import Q96
from routing_engine.market import UNLIMITED
from routing_engine.markets import ConcentratedPool, ConstantProductPool, NativeWrap
from routing_engine.model import NATIVE_ADDRESS, Token
from tests.support.strategies import TOKEN0, TOKEN1, make_token

L = 10**18
COMMON = {"id": "1:0xpool", "protocol": "p", "token0": TOKEN0, "token1": TOKEN1, "fee_pips": 3000}
PRODUCT = ConstantProductPool(**COMMON, reserve0=10**21, reserve1=10**12)
TICKS = ((-1200, L), (-600, L), (600, -L), (1200, -L))
CONCENTRATED = ConcentratedPool(**COMMON, tick_spacing=60, sqrt_price_x96=Q96, tick=0, liquidity=2 * L, ticks=TICKS)
NATIVE = Token(chain_id=1, address=NATIVE_ADDRESS, symbol="ETH", decimals=18)


def refusal_of(swap, *arguments):
    with pytest.raises(QuoteRefused) as refused:
        swap(*arguments)
    return refused.value.reason


@pytest.mark.parametrize("pool", [PRODUCT, CONCENTRATED], ids=["constant product", "concentrated"])
def test_what_pools_refuse(pool):
    other = make_token(9)
    sell, buy = pool.swap_exact_in, pool.swap_exact_out
    assert refusal_of(sell, TOKEN0, other, 1) is Refusal.UNSUPPORTED_PAIR
    assert refusal_of(sell, TOKEN0, TOKEN0, 1) is Refusal.UNSUPPORTED_PAIR
    assert refusal_of(sell, TOKEN0, TOKEN1, 0) is Refusal.AMOUNT_TOO_LOW
    assert refusal_of(sell, TOKEN0, TOKEN1, -5) is Refusal.AMOUNT_TOO_LOW
    assert refusal_of(sell, TOKEN0, TOKEN1, 1) is Refusal.AMOUNT_TOO_LOW
    assert refusal_of(buy, TOKEN0, TOKEN1, 0) is Refusal.AMOUNT_TOO_LOW
    assert refusal_of(buy, TOKEN0, TOKEN1, 10**40) is Refusal.INSUFFICIENT_LIQUIDITY


def test_a_reserve_stays_below_its_integer_type():
    assert refusal_of(PRODUCT.swap_exact_in, TOKEN0, TOKEN1, MAX_RESERVE) is Refusal.AMOUNT_TOO_HIGH
    assert PRODUCT.swap_exact_in(TOKEN0, TOKEN1, MAX_RESERVE - 10**21)[1].reserve0 == MAX_RESERVE


def test_an_output_that_needs_more_than_a_reserve_can_hold_is_refused():
    lopsided = replace(PRODUCT, reserve0=MAX_RESERVE - 1, reserve1=10**12)
    assert refusal_of(lopsided.swap_exact_out, TOKEN0, TOKEN1, 10**11) is Refusal.INSUFFICIENT_LIQUIDITY


@pytest.mark.parametrize("amount", [10**19, 2**255, 2**300])
def test_concentrated_liquidity_ends(amount):
    assert refusal_of(CONCENTRATED.swap_exact_in, TOKEN0, TOKEN1, amount) is Refusal.INSUFFICIENT_LIQUIDITY


@pytest.mark.parametrize(
    "pool",
    [
        replace(PRODUCT, reserve0=0, reserve1=0),
        replace(CONCENTRATED, liquidity=0, ticks=()),
    ],
    ids=["constant product", "concentrated"],
)
def test_an_empty_pool_has_no_open_direction(pool):
    assert pool.edges() == ()
    assert pool.spot_price(TOKEN0, TOKEN1) == 0.0
    bounds = pool.limits(TOKEN0, TOKEN1)
    assert bounds.min_amount_in > bounds.max_amount_in
    curve = pool.curve(TOKEN0, TOKEN1)
    assert not curve.x_min <= curve.x_max
    assert refusal_of(pool.swap_exact_out, TOKEN0, TOKEN1, 1) is Refusal.INSUFFICIENT_LIQUIDITY


def test_a_price_above_all_liquidity_leaves_one_direction_open_at_the_edges_price():
    pool = replace(CONCENTRATED, sqrt_price_x96=sqrt_ratio_at_tick(5000), tick=5000, liquidity=0)
    pool.validate()
    assert pool.edges() == ((TOKEN0, TOKEN1),)
    at_the_edge = 1.0001**1200 * (1 - 0.003)
    assert pool.spot_price(TOKEN0, TOKEN1) == pytest.approx(at_the_edge, rel=1e-12)


def test_every_step_of_the_loop_costs_gas():
    one, _ = CONCENTRATED.swap_exact_in(TOKEN1, TOKEN0, 10**6)
    two, _ = CONCENTRATED.swap_exact_in(TOKEN1, TOKEN0, 8 * 10**16)
    assert (one.gas, two.gas) == (132_000, 134_000)
    curve = CONCENTRATED.curve(TOKEN1, TOKEN0)
    assert (curve.gas, curve.gas_per_piece, len(curve.pieces)) == (132_000.0, 2_000.0, 2)


def test_the_fee_of_a_hop():
    hop, _ = PRODUCT.swap_exact_in(TOKEN0, TOKEN1, 10**18)
    assert [(fee.name, fee.amount, fee.token, fee.included) for fee in hop.fees] == [
        ("lp_fee", 3 * 10**15, TOKEN0, True)
    ]
    hop, _ = CONCENTRATED.swap_exact_in(TOKEN0, TOKEN1, 10**15)
    assert hop.fees[0].amount == pytest.approx(3 * 10**12, rel=1e-9)


@pytest.mark.parametrize(
    ("pool", "change", "field"),
    [
        (PRODUCT, {"token1": TOKEN0}, "token1"),
        (PRODUCT, {"token1": make_token(2, chain_id=10)}, "token1"),
        (PRODUCT, {"fee_pips": 1_000_000}, "fee_pips"),
        (PRODUCT, {"reserve0": -1}, "reserve0"),
        (PRODUCT, {"reserve1": 2**112}, "reserve1"),
        (CONCENTRATED, {"tick_spacing": 0}, "tick_spacing"),
        (CONCENTRATED, {"sqrt_price_x96": 0}, "sqrt_price_x96"),
        (CONCENTRATED, {"liquidity": -1}, "liquidity"),
    ],
)
def test_impossible_pools_name_the_field(pool, change, field):
    with pytest.raises(InvalidMarket) as error:
        replace(pool, **change)
    assert error.value.field == field


@pytest.mark.parametrize(
    ("change", "field", "message"),
    [
        ({"tick": 1}, "tick", "does not belong"),
        ({"tick": 900_000}, "tick", "must be from"),
        ({"liquidity": L}, "liquidity", "add up to"),
        ({"ticks": TICKS[:-1]}, "ticks", "all initialised ticks"),
        ({"ticks": TICKS[::-1]}, "ticks", "negative"),
        ({"ticks": (TICKS[1], TICKS[0], *TICKS[2:])}, "ticks", "must rise"),
        ({"ticks": ((-1201, L), *TICKS[1:])}, "ticks", "no multiple"),
        ({"ticks": ((-900_000, L), *TICKS[1:])}, "ticks", "must rise and stay"),
    ],
)
def test_contradictions_are_found(change, field, message):
    with pytest.raises(InvalidMarket, match=message) as error:
        replace(CONCENTRATED, **change).validate()
    assert error.value.field == field


def test_the_tick_below_its_price_is_accepted_only_exactly_on_the_tick():
    fallen = replace(CONCENTRATED, tick=-1)
    fallen.validate()
    with pytest.raises(InvalidMarket, match="does not belong"):
        replace(fallen, sqrt_price_x96=Q96 + 1).validate()


@pytest.mark.parametrize(
    ("native", "wrapped", "field"),
    [
        (TOKEN0, TOKEN1, "native"),
        (NATIVE, make_token(1, chain_id=10), "token1"),
        (NATIVE, TOKEN1, "wrapped"),
    ],
)
def test_impossible_wraps_name_the_field(native, wrapped, field):
    with pytest.raises(InvalidMarket) as error:
        NativeWrap(id="w", native=native, wrapped=wrapped)
    assert error.value.field == field


def test_wrapping_costs_its_own_gas_each_way():
    wrap = NativeWrap(id="w", native=NATIVE, wrapped=TOKEN0)
    assert wrap.swap_exact_in(NATIVE, TOKEN0, 5)[0].gas == 45_000
    assert wrap.swap_exact_in(TOKEN0, NATIVE, 5)[0].gas == 35_000
    assert refusal_of(wrap.swap_exact_in, NATIVE, TOKEN0, UNLIMITED + 1) is Refusal.AMOUNT_TOO_HIGH
    assert refusal_of(wrap.swap_exact_out, NATIVE, TOKEN0, 0) is Refusal.AMOUNT_TOO_LOW
