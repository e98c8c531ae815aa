"""Balancer's stable pools: named cases."""

from __future__ import annotations

from dataclasses import replace

import pytest

from adapters.testing import check_market
from routing_engine.amm.balancer.stable import Invariant
from routing_engine.errors import InvalidMarket, QuoteRefused, Refusal
from routing_engine.fixed_point import WAD
from routing_engine.market import Limits
from routing_engine.markets import BalancerStablePool, market_from_record
from tests.support.balancer_pools import stable_rounding
from tests.support.strategies import make_token

DAI, USDC, USDT = make_token(1), make_token(2, decimals=6), make_token(3, decimals=6)
POOL = BalancerStablePool(
    id="1:0xpool",
    protocol="balancer_v2",
    tokens=(DAI, USDC, USDT),
    balances=(6 * 10**25, 6 * 10**13, 7 * 10**13),
    scales=(WAD, 10**30, 10**30),
    amp=1_390_000,
    fee_e18=5 * 10**13,
    invariant=Invariant.UP,
)


@pytest.mark.parametrize("version", Invariant)
def test_it_conforms_in_both_versions(version):
    steps = stable_rounding(POOL)
    check_market(replace(POOL, invariant=version), rounding_units=steps, split_units=steps)


def test_like_is_exchanged_for_like():
    hop, after = POOL.swap_exact_in(USDC, DAI, 10**12)
    assert hop.amount_out == pytest.approx(999_950 * 10**18, rel=1e-4)
    assert hop.spot_price == pytest.approx(1e12, rel=1e-3)
    assert [(fee.name, fee.amount, fee.token) for fee in hop.fees] == [("lp_fee", 5 * 10**7, USDC)]
    assert after.balances == (6 * 10**25 - hop.amount_out, 6 * 10**13 + 10**12, 7 * 10**13)


def test_a_rate_is_applied():
    pool = replace(POOL, scales=(2 * WAD, 10**30, 10**30), balances=(3 * 10**25, 6 * 10**13, 6 * 10**13))
    assert pool.spot_price(DAI, USDC) == pytest.approx(2e-12 * (1 - 5e-5), rel=1e-6)


def test_more_than_there_is_cannot_be_bought():
    for amount in (6 * 10**13, 10**20):
        with pytest.raises(QuoteRefused) as refused:
            POOL.swap_exact_out(DAI, USDC, amount)
        assert refused.value.reason is Refusal.INSUFFICIENT_LIQUIDITY
    hop, _ = POOL.swap_exact_out(DAI, USDC, 6 * 10**13 - 1)
    assert hop.amount_out == 6 * 10**13 - 1


def test_the_vault_holds_no_more_than_a_uint112():
    most = POOL.limits(USDC, DAI).max_amount_in
    assert most == 2**112 - 1 - 6 * 10**13
    with pytest.raises(QuoteRefused) as refused:
        POOL.swap_exact_in(USDC, DAI, most + 1)
    assert refused.value.reason is Refusal.AMOUNT_TOO_HIGH


def test_dust_buys_nothing():
    with pytest.raises(QuoteRefused) as refused:
        POOL.swap_exact_in(DAI, USDC, 10**11)
    assert refused.value.reason is Refusal.AMOUNT_TOO_LOW


@pytest.mark.parametrize("balances", [(0, 5 * 10**27), (4 * 10**23, 5 * 10**27)])
def test_a_pool_with_an_empty_side_or_without_an_invariant_is_closed(balances):
    tether = make_token(4)
    pool = replace(POOL, tokens=(DAI, tether), balances=balances, scales=(WAD, WAD), amp=1000)
    assert pool.edges() == ()
    assert pool.limits(tether, DAI) == Limits(1, 0)
    assert pool.spot_price(tether, DAI) == 0.0
    for ask in (lambda: pool.swap_exact_in(tether, DAI, 10**6), lambda: pool.curve(tether, DAI)):
        with pytest.raises(QuoteRefused) as refused:
            ask()
        assert refused.value.reason is Refusal.INSUFFICIENT_LIQUIDITY


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"tokens": (DAI,)}, "tokens"),
        ({"balances": (1, 2, 2**112)}, "balances"),
        ({"scales": (WAD, WAD)}, "scales"),
        ({"scales": (WAD, WAD, 0)}, "scales"),
        ({"amp": 999}, "amp"),
        ({"amp": 5_000_001}, "amp"),
        ({"fee_e18": WAD}, "fee_e18"),
    ],
)
def test_impossible_pools_name_the_field(change, field):
    with pytest.raises(InvalidMarket) as error:
        replace(POOL, **change)
    assert error.value.field == field


def test_a_record_with_an_unknown_version_names_the_known_ones():
    with pytest.raises(InvalidMarket, match="up, down"):
        market_from_record({**POOL.to_record(), "invariant": "sideways"}, {token.key: token for token in POOL.tokens})
