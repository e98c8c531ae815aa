"""Balancer v1 pools: named cases."""

from __future__ import annotations

from dataclasses import replace

import pytest

from adapters.testing import check_market
from routing_engine.amm.balancer.v1 import divide, out_given_in
from routing_engine.errors import InvalidMarket, QuoteRefused, Refusal
from routing_engine.fixed_point import WAD
from routing_engine.markets import BalancerV1Pool
from tests.support.strategies import make_token
from tests.support.tolerances import tolerances

WETH, WBTC, DAI = make_token(1), make_token(2, decimals=8), make_token(3)
POOL = BalancerV1Pool(
    id="1:0xpool",
    protocol="balancer_v1",
    tokens=(WETH, WBTC, DAI),
    balances=(181_453_339_134_494_385_762, 982_184_296, 5 * 10**23),
    weights=(25 * WAD, 25 * WAD, 10 * WAD),
    fee_e18=4 * 10**15,
)


def test_it_conforms():
    check_market(POOL, **tolerances(POOL))


def test_a_recorded_swap_and_the_balances_after_it():
    hop, after = POOL.swap_exact_in(WETH, WBTC, 81_275_824_825_923_290)
    assert hop.amount_out == 437_981
    assert after.balances == (181_534_614_959_320_309_052, 981_746_315, 5 * 10**23)
    assert [(fee.name, fee.amount, fee.token) for fee in hop.fees] == [("lp_fee", 325_103_299_303_694, WETH)]


def test_at_most_half_the_balance():
    most = POOL.limits(WBTC, WETH).max_amount_in
    assert most == 982_184_296 // 2
    with pytest.raises(QuoteRefused) as refused:
        POOL.swap_exact_in(WBTC, WETH, most + 1)
    assert refused.value.reason is Refusal.AMOUNT_TOO_HIGH


def test_a_sale_leaves_enough_for_a_price():
    """At 50 to 1 half of one balance more leaves (2/3)**50 of the other; over its weight no unit rounds to nothing."""
    steep = replace(POOL, tokens=(WETH, DAI), balances=(10**24, 2 * 10**8), weights=(50 * WAD, WAD))
    most = steep.limits(WETH, DAI).max_amount_in
    assert 45 * 10**22 < most < 5 * 10**23
    assert steep.swap_exact_in(WETH, DAI, most)[1].balances == (10**24 + most, 1)
    with pytest.raises(QuoteRefused) as refused:
        steep.swap_exact_in(WETH, DAI, most + 1)
    assert refused.value.reason is Refusal.AMOUNT_TOO_HIGH
    with pytest.raises(QuoteRefused) as refused:
        steep.swap_exact_out(WETH, DAI, 2 * 10**8)
    assert refused.value.reason is Refusal.INSUFFICIENT_LIQUIDITY
    check_market(steep, samples=6, **tolerances(steep))


@pytest.mark.parametrize("balance", [0, 1, 24])
def test_a_token_whose_balance_over_its_weight_is_nothing_cannot_be_bought(balance):
    dust = replace(POOL, tokens=(WETH, DAI), balances=(10**24, balance), weights=(WAD, 50 * WAD))
    assert (WETH, DAI) not in dust.edges()
    with pytest.raises(QuoteRefused):
        dust.swap_exact_in(WETH, DAI, 10**23)


def test_from_the_least_input_on_no_rounding_breaks_the_price_check():
    for sold, bought in POOL.edges():
        least = POOL.limits(sold, bought).min_amount_in
        for amount in range(least, least + 300):
            assert POOL.swap_exact_in(sold, bought, amount)[0].amount_out > 0


def test_below_it_some_inputs_would_break_it():
    """Less than a millionth of the balance in satoshis: half a satoshi more than its price, now and then."""
    sold, bought = (POOL.balances[0], POOL.weights[0]), (POOL.balances[1], POOL.weights[1])
    price = divide(divide(*sold), divide(*bought)) * WAD // (WAD - POOL.fee_e18)
    paid = [(amount, out_given_in(*sold, *bought, amount, POOL.fee_e18)) for amount in range(10**12, 10**14, 10**12)]
    assert any(divide(amount, out) < price for amount, out in paid if out)
    with pytest.raises(QuoteRefused, match="price check") as refused:
        POOL.swap_exact_in(WETH, WBTC, 10**13)
    assert refused.value.reason is Refusal.AMOUNT_TOO_LOW


def test_more_than_half_the_balance_can_buy_is_refused():
    for amount in (700_000_000, 982_184_296):
        with pytest.raises(QuoteRefused) as refused:
            POOL.swap_exact_out(WETH, WBTC, amount)
        assert refused.value.reason is Refusal.INSUFFICIENT_LIQUIDITY


def test_an_empty_side_is_closed():
    pool = replace(POOL, balances=(0, 982_184_296, 5 * 10**23))
    assert set(pool.edges()) == {(WBTC, DAI), (DAI, WBTC)}
    assert pool.spot_price(WETH, DAI) == 0.0


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"tokens": (WETH,)}, "tokens"),
        ({"balances": (1, 2, -1)}, "balances"),
        ({"weights": (WAD, WAD, WAD - 1)}, "weights"),
        ({"fee_e18": 0}, "fee_e18"),
        ({"fee_e18": WAD // 10 + 1}, "fee_e18"),
    ],
)
def test_impossible_pools_name_the_field(change, field):
    with pytest.raises(InvalidMarket) as error:
        replace(POOL, **change)
    assert error.value.field == field
