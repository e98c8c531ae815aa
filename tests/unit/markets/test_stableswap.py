"""StableSwap pools: refusals, fees, accounting, the least input across steps of a fee, impossible pools."""

from __future__ import annotations

from dataclasses import replace

import pytest

from routing_engine.amm.stableswap import FEE_SCALE, Product
from routing_engine.curves.shape import Shape
from routing_engine.errors import InvalidMarket, QuoteRefused, Refusal
from routing_engine.markets import market_from_record
from routing_engine.markets.stableswap.direction import StableDirection
from routing_engine.markets.stableswap.pool import Accounting, StableSwapPool
from tests.support.strategies import make_token

DAI, USDC, USDT = TOKENS = tuple(make_token(30 + number, decimals) for number, decimals in enumerate((18, 6, 6)))
PLAIN = StableSwapPool(
    id="1:0xstable",
    protocol="curve",
    tokens=TOKENS,
    balances=(10**24, 13 * 10**11, 7 * 10**11),
    rates=(10**18, 10**30, 10**30),
    amp=20_000,
    fee_e10=4_000_000,
    admin_fee_e10=FEE_SCALE // 2,
)
NG = replace(PLAIN, multiplier_e10=2 * FEE_SCALE, oracle=True, product=Product.LAST)
LENDING = replace(PLAIN, accounting=Accounting.INVARIANT, spare=0, product=Product.EACH_PLUS_ONE)


def refusal_of(swap, *arguments):
    with pytest.raises(QuoteRefused) as refused:
        swap(*arguments)
    return refused.value.reason


@pytest.mark.parametrize("pool", [PLAIN, NG, LENDING], ids=["plain", "ng", "lending"])
def test_what_pools_refuse(pool):
    sell, buy = pool.swap_exact_in, pool.swap_exact_out
    assert refusal_of(sell, DAI, make_token(9), 1) is Refusal.UNSUPPORTED_PAIR
    assert refusal_of(sell, DAI, DAI, 1) is Refusal.UNSUPPORTED_PAIR
    for amount in (-1, 0, 1):
        assert refusal_of(sell, DAI, USDC, amount) is Refusal.AMOUNT_TOO_LOW
    assert refusal_of(sell, DAI, USDC, 2**255) is Refusal.AMOUNT_TOO_HIGH
    assert refusal_of(buy, DAI, USDC, 0) is Refusal.AMOUNT_TOO_LOW
    assert refusal_of(buy, DAI, USDC, 14 * 10**11) is Refusal.INSUFFICIENT_LIQUIDITY


def test_a_pool_without_one_of_its_coins_is_closed():
    empty = replace(PLAIN, balances=(10**24, 0, 10**12))
    assert empty.edges() == ()
    assert empty.spot_price(DAI, USDC) == 0.0
    limits, curve = empty.limits(DAI, USDC), empty.curve(DAI, USDC)
    assert limits.min_amount_in > limits.max_amount_in
    assert curve.x_min > curve.x_max
    assert refusal_of(empty.swap_exact_in, DAI, USDC, 10**18) is Refusal.INSUFFICIENT_LIQUIDITY
    assert refusal_of(empty.swap_exact_out, DAI, USDC, 1) is Refusal.INSUFFICIENT_LIQUIDITY


def test_an_amount_on_which_the_contract_reverts_buys_nothing():
    direction = StableDirection(PLAIN.balances, PLAIN.rates, PLAIN.rules, 0, 1)
    assert direction.gives(direction.most) > 0
    assert direction.gives(2**256) == direction.gives(0) == direction.gives(-1) == 0


def test_half_of_the_fee_leaves_the_pool():
    hop, after = PLAIN.swap_exact_in(DAI, USDC, 10**21)
    lp, protocol = hop.fees
    assert [(fee.name, fee.token, fee.included) for fee in hop.fees] == [
        ("lp_fee", USDC, True),
        ("protocol_fee", USDC, True),
    ]
    assert lp.amount + protocol.amount == pytest.approx(hop.amount_out * 4e-4, rel=1e-3)
    assert lp.amount - protocol.amount in (0, 1)
    assert after.balances == (10**24 + 10**21, 13 * 10**11 - hop.amount_out - protocol.amount, 7 * 10**11)


def test_the_first_lending_pools_write_balances_through_their_rates():
    rated = replace(LENDING, rates=(3 * 10**17, 10**30, 10**30), balances=(4 * 10**24, 13 * 10**11, 7 * 10**11))
    hop, after = rated.swap_exact_in(DAI, USDC, 10**21 + 1)
    assert after.balances[0] == 4 * 10**24 + 10**21
    kept = hop.fees[0].amount
    assert after.balances[1] == pytest.approx(13 * 10**11 - hop.amount_out - kept, abs=2)
    assert after.balances[2] == 7 * 10**11


WIDE = replace(NG, tokens=(DAI, make_token(31)), rates=(10**18,) * 2, balances=(10**24, 10**24))


@pytest.mark.parametrize("amount_in", [10**21, 10**23, 5 * 10**23, 10**24, 3 * 10**24])
def test_no_smaller_input_buys_as_much_where_the_fee_rises_in_steps(amount_in):
    """Each step takes 1e-10 of the output away, so that inputs just before it buy as much as some after it."""
    sold, bought = WIDE.tokens
    direction = StableDirection(WIDE.balances, WIDE.rates, WIDE.rules, 0, 1)
    for wanted in (direction.gives(amount_in), direction.gives(amount_in + 1), direction.gives(amount_in) - 7):
        least = WIDE.swap_exact_out(sold, bought, wanted)[0].amount_in
        assert least <= amount_in + 1
        for distance in (1, 10, 10**6, 10**9, 10**12, 10**13, 3 * 10**13, 10**14, 10**15, 10**16, 10**18):
            assert direction.gives(least - distance) < wanted


def test_the_last_input_before_a_step_of_the_fee_is_found():
    sold, bought = WIDE.tokens
    direction = StableDirection(WIDE.balances, WIDE.rates, WIDE.rules, 0, 1)
    low, high = 10**24, 10**24 + 10**19

    def is_cheap(amount):
        sale = direction.sell(amount)
        return (sale.lp_fee + sale.protocol_fee) * 10**12 // (sale.amount_out + sale.lp_fee + sale.protocol_fee)

    first = is_cheap(low)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if is_cheap(middle) == first else (low, middle)
    assert direction.gives(low) > direction.gives(high)
    best = direction.gives(low)
    found = WIDE.swap_exact_out(sold, bought, best)[0].amount_in
    assert low - 10 < found <= low
    assert direction.gives(found) >= best > direction.gives(found - 1)
    assert WIDE.swap_exact_out(sold, bought, best - 10)[0].amount_in < low


def test_curves_are_concave_unless_the_fee_grows():
    plain, ng = PLAIN.curve(DAI, USDC), NG.curve(DAI, USDC)
    assert (plain.shape, plain.concave) == (Shape.STABLE, True)
    assert (ng.shape, ng.concave) == (Shape.STABLE_FEE, False)
    assert ng.x_max < plain.x_max
    assert ng.inverse(2 * ng(ng.x_max)) != ng.inverse(2 * ng(ng.x_max))


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"tokens": (DAI, DAI, USDC)}, "tokens"),
        ({"tokens": (DAI, make_token(31, chain_id=10), USDT)}, "tokens"),
        ({"balances": (1, 2)}, "balances"),
        ({"balances": (1, 2, -1)}, "balances"),
        ({"rates": (0, 1, 1)}, "rates"),
        ({"amp": 99}, "amp"),
        ({"amp_precision": 0}, "amp_precision"),
        ({"fee_e10": FEE_SCALE}, "fee_e10"),
        ({"admin_fee_e10": FEE_SCALE + 1}, "admin_fee_e10"),
        ({"multiplier_e10": FEE_SCALE * 2_500}, "multiplier_e10"),
        ({"spare": 2}, "spare"),
    ],
)
def test_impossible_pools_name_the_field(change, field):
    with pytest.raises(InvalidMarket) as error:
        replace(PLAIN, **change)
    assert error.value.field == field


def test_records_name_their_damaged_field():
    known = {token.key: token for token in TOKENS}
    record = NG.to_record()
    assert market_from_record(record, known) == NG
    damages = [
        ("product", "none"),
        ("oracle", 1),
        ("accounting", "x"),
        ("tokens", ["0x"]),
        ("rates", "1"),
        ("amp", "A"),
    ]
    for field, value in damages:
        with pytest.raises(InvalidMarket) as error:
            market_from_record({**record, field: value}, known)
        assert error.value.field == field


def test_more_is_sold_than_searches_use_where_a_growing_fee_takes_it():
    steep = replace(NG, multiplier_e10=90 * FEE_SCALE)
    most = steep.limits(DAI, USDC).max_amount_in
    at_most, beyond = (steep.swap_exact_in(DAI, USDC, amount)[0].amount_out for amount in (most, 2 * most))
    assert 0 < beyond < at_most
