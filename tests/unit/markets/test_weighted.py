"""Weighted pools: named cases."""

from __future__ import annotations

from dataclasses import replace

import pytest

from adapters.testing import check_market
from routing_engine.errors import InvalidMarket, QuoteRefused, Refusal
from routing_engine.fixed_point import WAD
from routing_engine.market import Limits
from routing_engine.markets import WeightedPool, market_from_record
from tests.support.balancer_pools import weighted_rounding
from tests.support.strategies import make_token

BAL, WETH, USDC = make_token(1), make_token(2), make_token(3, decimals=6)
POOL = WeightedPool(
    id="1:0xpool",
    protocol="balancer_v2",
    tokens=(BAL, WETH, USDC),
    balances=(10**24, 2 * 10**22, 5 * 10**13),
    weights=(WAD // 2, WAD // 4, WAD // 4),
    fee_e18=10**16,
    multiplies_powers=False,
)


def test_it_conforms_in_both_versions():
    check_market(POOL, rounding_units=weighted_rounding(POOL))
    check_market(replace(POOL, multiplies_powers=True), rounding_units=weighted_rounding(POOL))


def test_one_percent_of_the_balance_in_an_equal_pair():
    pool = replace(POOL, tokens=(BAL, WETH), balances=(100 * WAD, 100 * WAD), weights=(WAD // 2, WAD // 2), fee_e18=0)
    hop, after = replace(pool, multiplies_powers=True).swap_exact_in(BAL, WETH, WAD)
    # 100 / 101 rounded up is 0.990099009900990100, exactly, with no margin for the power.
    assert hop.amount_out == 100 * (WAD - 990_099_009_900_990_100)
    assert after.balances == (101 * WAD, 100 * WAD - hop.amount_out)
    first, _ = pool.swap_exact_in(BAL, WETH, WAD)
    assert 0 < hop.amount_out - first.amount_out < 100 * 10_020


def test_the_whole_fee_stays_in_the_pool():
    hop, after = POOL.swap_exact_in(USDC, BAL, 1_000_001)
    assert [(fee.name, fee.amount, fee.token) for fee in hop.fees] == [("lp_fee", 10_001, USDC)]
    assert after.balances == (10**24 - hop.amount_out, 2 * 10**22, 5 * 10**13 + 1_000_001)


def test_at_most_thirty_percent_after_the_fee():
    most = POOL.limits(USDC, BAL).max_amount_in
    assert most == 15_151_515_151_516
    assert POOL.swap_exact_in(USDC, BAL, most)[0].amount_out > 0
    with pytest.raises(QuoteRefused, match="30 %") as refused:
        POOL.swap_exact_in(USDC, BAL, most + 1)
    assert refused.value.reason is Refusal.AMOUNT_TOO_HIGH


def test_the_vault_holds_no_more_than_a_uint112():
    pool = replace(POOL, balances=(2**112 - 1 - 10**21, 10**22, 10**13))
    assert pool.limits(BAL, WETH).max_amount_in == 10**21


def test_more_than_thirty_percent_of_the_input_cannot_buy_this_much():
    with pytest.raises(QuoteRefused) as refused:
        POOL.swap_exact_out(BAL, WETH, 15 * 10**21)
    assert refused.value.reason is Refusal.INSUFFICIENT_LIQUIDITY


def test_dust_buys_nothing():
    with pytest.raises(QuoteRefused) as refused:
        POOL.swap_exact_in(BAL, WETH, 10**9)
    assert refused.value.reason is Refusal.AMOUNT_TOO_LOW


def test_an_empty_side_is_closed():
    pool = replace(POOL, balances=(10**24, 0, 5 * 10**13))
    assert set(pool.edges()) == {(BAL, USDC), (USDC, BAL)}
    assert pool.limits(BAL, WETH) == Limits(1, 0)
    assert pool.spot_price(WETH, BAL) == 0.0
    with pytest.raises(QuoteRefused):
        pool.swap_exact_in(BAL, WETH, 10**18)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"tokens": (BAL,)}, "tokens"),
        ({"tokens": (BAL, WETH, BAL)}, "tokens"),
        ({"tokens": (BAL, WETH, make_token(3, chain_id=10))}, "tokens"),
        ({"tokens": (BAL, WETH, make_token(3, decimals=19))}, "tokens"),
        ({"balances": (1, 2)}, "balances"),
        ({"balances": (1, 2, 2**112)}, "balances"),
        ({"weights": (WAD // 2, WAD // 4, WAD // 4 - 1)}, "weights"),
        ({"weights": (WAD - 2, 1, 1)}, "weights"),
        ({"fee_e18": WAD}, "fee_e18"),
    ],
)
def test_impossible_pools_name_the_field(change, field):
    with pytest.raises(InvalidMarket) as error:
        replace(POOL, **change)
    assert error.value.field == field


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"multiplies_powers": 1}, "multiplies_powers"),
        ({"tokens": "BAL"}, "tokens"),
        ({"tokens": ["0xabc@1", USDC.key]}, "tokens"),
        ({"weights": [1, 2, "x"]}, "weights.2"),
    ],
)
def test_damaged_records_name_the_field(change, field):
    with pytest.raises(InvalidMarket) as error:
        market_from_record({**POOL.to_record(), **change}, {token.key: token for token in POOL.tokens})
    assert error.value.field == field
