"""Crypto pools: refusals, the fee, the state after a swap with and without known profits, impossible pools."""

from __future__ import annotations

from dataclasses import replace

import pytest

from routing_engine.amm.cryptoswap.curves import geometric_mean
from routing_engine.amm.cryptoswap.exchange import CryptoRules, Method, Profit, find_invariant, scaled
from routing_engine.curves.shape import Shape
from routing_engine.errors import InvalidMarket, QuoteRefused, Refusal
from routing_engine.fixed_point import WAD
from routing_engine.markets import market_from_record
from routing_engine.markets.cryptoswap.pool import CryptoSwapPool
from tests.support.strategies import make_token

USD, BTC, ETH = TOKENS = tuple(make_token(80 + number, decimals) for number, decimals in enumerate((6, 8, 18)))
PRECISIONS, PRICES = (10**12, 10**10, 1), (60_000 * WAD, 3_000 * WAD)
BALANCES = (10**13, 160 * 10**8, 3_400 * 10**18)
RULES = CryptoRules(Method.CLOSED_FORM, 1_707_629, 11_809_167_828_997, 3_000_000, 30_000_000, 500_000_000_000_000)
D = find_invariant(scaled(BALANCES, PRECISIONS, PRICES), RULES)
WORTH = geometric_mean([D // 3, *(D * WAD // (3 * price) for price in PRICES)])
OPENED = CryptoSwapPool(
    id="1:0xcrypto",
    protocol="curve",
    tokens=TOKENS,
    balances=BALANCES,
    price_scale=PRICES,
    d=D,
    ann=RULES.ann,
    gamma=RULES.gamma,
    mid_fee=RULES.mid_fee,
    out_fee=RULES.out_fee,
    fee_gamma=RULES.fee_gamma,
)
PROFIT = Profit(
    price_oracle=PRICES,
    xcp_profit=WAD,
    virtual_price=WAD,
    supply=WORTH,
    allowed_extra_profit=2 * 10**12,
    adjustment_step=49 * 10**10,
)
KNOWN = replace(OPENED, profit=PROFIT)


def refusal_of(swap, *arguments):
    with pytest.raises(QuoteRefused) as refused:
        swap(*arguments)
    return refused.value.reason


@pytest.mark.parametrize("pool", [OPENED, KNOWN], ids=["unknown profit", "known profit"])
def test_what_pools_refuse(pool):
    sell, buy = pool.swap_exact_in, pool.swap_exact_out
    bounds = pool.limits(USD, BTC)
    assert refusal_of(sell, USD, make_token(9), 1) is Refusal.UNSUPPORTED_PAIR
    assert refusal_of(sell, USD, USD, 1) is Refusal.UNSUPPORTED_PAIR
    for amount in (-1, 0, 1):
        assert refusal_of(sell, USD, BTC, amount) is Refusal.AMOUNT_TOO_LOW
    assert refusal_of(sell, USD, BTC, 10 * bounds.max_amount_in) is Refusal.AMOUNT_TOO_HIGH
    assert refusal_of(buy, USD, BTC, 0) is Refusal.AMOUNT_TOO_LOW
    for amount in (BALANCES[1] - 1, BALANCES[1]):
        assert refusal_of(buy, USD, BTC, amount) is Refusal.INSUFFICIENT_LIQUIDITY
    for amount in (bounds.min_amount_in, bounds.max_amount_in):
        assert 0 < sell(USD, BTC, amount)[0].amount_out < BALANCES[1]


@pytest.mark.parametrize("pool", [OPENED, KNOWN], ids=["unknown profit", "known profit"])
def test_what_the_contract_serves_beyond_the_limits_of_searches_is_served(pool):
    bounds = pool.limits(USD, BTC)
    for amount in (bounds.min_amount_in // 100, bounds.min_amount_in - 1, bounds.max_amount_in * 21 // 20):
        hop, after = pool.swap_exact_in(USD, BTC, amount)
        assert after.balances == (BALANCES[0] + amount, BALANCES[1] - hop.amount_out, BALANCES[2])
    dust = pool.swap_exact_out(USD, BTC, 10)[0]
    assert 10 <= dust.amount_out < 12
    assert dust.amount_in < bounds.min_amount_in
    assert pool.swap_exact_in(USD, BTC, dust.amount_in - 1)[0].amount_out < 10


def test_a_swap_that_hardly_raises_the_value_of_a_share_is_refused_where_profits_are_not_known():
    """Without a fee only rounding does: that of eight decimals, hardly that of eighteen."""
    free = replace(OPENED, mid_fee=0, out_fee=0)
    assert refusal_of(free.swap_exact_in, USD, ETH, 10**7) is Refusal.INSUFFICIENT_LIQUIDITY
    assert free.swap_exact_in(USD, BTC, 10**7)[0].amount_out == 16_047
    wanted = 3 * 10**15
    hop = free.swap_exact_out(USD, ETH, wanted)[0]
    assert hop.amount_out > wanted
    assert refusal_of(free.swap_exact_in, USD, ETH, hop.amount_in - 1) is Refusal.INSUFFICIENT_LIQUIDITY


def test_the_fee_lies_between_its_bounds_and_is_paid_in_the_output():
    hop, after = OPENED.swap_exact_in(USD, ETH, 10**10)
    (fee,) = hop.fees
    assert (fee.token, fee.name, fee.included) == (ETH, "lp_fee", True)
    assert 3e-4 < fee.amount / (hop.amount_out + fee.amount) < 3e-3
    assert after.balances == (BALANCES[0] + 10**10, BALANCES[1], BALANCES[2] - hop.amount_out)


def test_one_more_than_the_least_input_is_not_needed():
    wanted = 10**18
    least = OPENED.swap_exact_out(USD, ETH, wanted)[0].amount_in
    assert OPENED.swap_exact_in(USD, ETH, least)[0].amount_out >= wanted
    assert OPENED.swap_exact_in(USD, ETH, least - 1)[0].amount_out < wanted


def test_without_profits_the_pool_after_a_swap_takes_no_further_one():
    after = OPENED.swap_exact_in(USD, BTC, 10**10)[1]
    assert after.edges() == ()
    assert after.spot_price(USD, BTC) == 0.0
    bounds, curve = after.limits(USD, BTC), after.curve(USD, BTC)
    assert bounds.min_amount_in > bounds.max_amount_in
    assert curve.x_min > curve.x_max
    assert refusal_of(after.swap_exact_in, USD, BTC, 10**10) is Refusal.STALE
    assert refusal_of(after.swap_exact_out, USD, BTC, 10**6) is Refusal.INSUFFICIENT_LIQUIDITY
    assert market_from_record(after.to_record(), {token.key: token for token in TOKENS}) == after


def test_with_profits_a_swap_leaves_the_pool_richer_and_open():
    after = KNOWN.swap_exact_in(USD, BTC, 10**10)[1]
    assert after.profit.virtual_price > KNOWN.profit.virtual_price
    assert after.profit.xcp_profit > KNOWN.profit.xcp_profit
    fresh = find_invariant(scaled(after.balances, PRECISIONS, after.price_scale), RULES)
    assert after.d == pytest.approx(fresh, rel=1e-15)
    assert len(after.edges()) == 6


def test_prices_move_to_the_oracle_once_there_is_profit_for_it():
    far = PROFIT._replace(price_oracle=(66_000 * WAD, 3_000 * WAD), virtual_price=WAD * 11 // 10)
    rich = replace(KNOWN, profit=far._replace(supply=WORTH * 10 // 11, xcp_profit=WAD * 11 // 10))
    moved = rich.swap_exact_in(USD, BTC, 10**10)[1]
    assert PRICES[0] < moved.price_scale[0] < 66_000 * WAD
    assert moved.d != rich.d


def test_a_swap_that_the_contract_finds_a_loss_is_refused():
    poor = replace(KNOWN, profit=PROFIT._replace(virtual_price=2 * WAD))
    assert refusal_of(poor.swap_exact_in, USD, BTC, 10**10) is Refusal.INSUFFICIENT_LIQUIDITY


@pytest.mark.parametrize("balances", [(10**13, 1, 10**18), (0, 160 * 10**8, 3_400 * 10**18)])
def test_a_pool_too_far_from_balance_is_closed(balances):
    far = replace(OPENED, balances=balances)
    assert refusal_of(far.swap_exact_in, USD, BTC, 10**10) in (Refusal.INSUFFICIENT_LIQUIDITY, Refusal.AMOUNT_TOO_HIGH)
    assert (USD, BTC) not in far.edges()


def test_curves_are_those_of_crypto_pools():
    curve, bounds = OPENED.curve(BTC, ETH), OPENED.limits(BTC, ETH)
    assert (curve.shape, curve.concave) == (Shape.CRYPTO, False)
    assert (curve.x_min, curve.x_max) == (bounds.min_amount_in, bounds.max_amount_in)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"tokens": (USD, USD, ETH)}, "tokens"),
        ({"tokens": (USD, BTC, make_token(82, chain_id=10))}, "tokens"),
        ({"tokens": (USD, BTC, make_token(82, 19))}, "tokens"),
        ({"balances": (1, 2)}, "balances"),
        ({"balances": (1, 2, -1)}, "balances"),
        ({"price_scale": (WAD, 0)}, "price_scale"),
        ({"price_scale": (WAD,)}, "price_scale"),
        ({"method": Method.STABLE}, "method"),
        ({"mid_fee": 40_000_000}, "out_fee"),
        ({"out_fee": 10**10}, "out_fee"),
        ({"d": 0}, "d"),
        ({"ann": 0}, "ann"),
        ({"gamma": 0}, "gamma"),
        ({"fee_gamma": -1}, "fee_gamma"),
        ({"profit": PROFIT, "method": Method.NEWTON}, "profit"),
        ({"profit": PROFIT._replace(supply=0)}, "profit"),
        ({"profit": PROFIT._replace(xcp_profit=-1)}, "profit"),
        ({"profit": PROFIT._replace(price_oracle=(WAD,))}, "price_oracle"),
    ],
)
def test_impossible_pools_name_the_field(change, field):
    with pytest.raises(InvalidMarket) as error:
        replace(OPENED, **change)
    assert error.value.field == field


@pytest.mark.parametrize("pool", [OPENED, KNOWN], ids=["unknown profit", "known profit"])
def test_records_return_the_pool_and_name_their_damaged_field(pool):
    known = {token.key: token for token in TOKENS}
    record = pool.to_record()
    assert market_from_record(record, known) == pool
    damages = [
        ("method", "x"),
        ("tokens", ["0x"]),
        ("price_scale", "1"),
        ("gamma", "?"),
        ("settled", "no"),
        ("profit", ["1", "2"]),
    ]
    for field, value in damages:
        with pytest.raises(InvalidMarket) as error:
            market_from_record({**record, field: value}, known)
        assert error.value.field == field
