"""Balancer's linear pools: named cases."""

from __future__ import annotations

from dataclasses import replace

import pytest

from adapters.testing import check_market
from routing_engine.errors import InvalidMarket, QuoteRefused, Refusal
from routing_engine.fixed_point import WAD
from routing_engine.market import Limits
from routing_engine.markets import BalancerLinearPool
from tests.support.strategies import make_token

USDC, WRAPPED, SHARE = make_token(1, decimals=6), make_token(2, decimals=6), make_token(3)
POOL = BalancerLinearPool(
    id="1:0xpool",
    protocol="balancer_v2",
    tokens=(USDC, WRAPPED, SHARE),
    balances=(3_000_000 * 10**6, 80_000_000 * 10**6, 90_000_000 * WAD),
    rate_e18=11 * WAD // 10,
    lower_target=2_900_000 * WAD,
    upper_target=10_000_000 * WAD,
    fee_e18=2 * 10**14,
)


def test_it_conforms_below_between_and_above_the_targets():
    for main in (1_000_000, 3_000_000, 11_000_000):
        check_market(replace(POOL, balances=(main * 10**6, *POOL.balances[1:])), rounding_units=8, split_units=8)


def test_between_the_targets_the_rate_is_all():
    hop, after = POOL.swap_exact_in(USDC, WRAPPED, 1_100_000 * 10**6)
    assert (hop.amount_out, hop.fees) == (1_000_000 * 10**6, ())
    assert after.balances == (4_100_000 * 10**6, 79_000_000 * 10**6, 90_000_000 * WAD)
    # 3 million and 88 million of worth in 90 million shares.
    hop, after = POOL.swap_exact_in(USDC, SHARE, 91 * 10**6)
    assert hop.amount_out == 90 * WAD
    assert after.balances[2] == 90_000_090 * WAD


def test_what_leaves_the_targets_pays_and_what_returns_is_paid():
    hop, after = POOL.swap_exact_in(USDC, WRAPPED, 8_000_000 * 10**6)
    # A million beyond the upper target costs 200.
    assert hop.amount_out == pytest.approx((8_000_000 - 200) / 1.1 * 10**6, abs=1)
    assert [(fee.name, fee.amount, fee.token) for fee in hop.fees] == [("lp_fee", 200 * 10**6, USDC)]
    back, _ = after.swap_exact_in(WRAPPED, USDC, hop.amount_out)
    assert back.amount_out == pytest.approx(8_000_000 * 10**6, abs=2)
    assert back.fees == ()


def test_the_price_is_better_where_the_pool_wants_main_tokens():
    short = replace(POOL, balances=(10**12, *POOL.balances[1:]))
    assert short.spot_price(USDC, WRAPPED) == pytest.approx(1.0002 / 1.1)
    assert POOL.spot_price(USDC, WRAPPED) == pytest.approx(1 / 1.1)
    assert POOL.spot_price(SHARE, WRAPPED) == pytest.approx(1e-12 * 91 / 90 / 1.1)
    assert len(short.curve(USDC, SHARE).pieces) == 3
    assert len(POOL.curve(SHARE, WRAPPED).pieces) == 1


def test_no_more_than_the_vault_holds():
    for sold, bought, held in ((USDC, WRAPPED, POOL.balances[1]), (SHARE, WRAPPED, POOL.balances[1])):
        most = POOL.limits(sold, bought).max_amount_in
        assert 0 <= held - POOL.swap_exact_in(sold, bought, most)[0].amount_out <= 1
        with pytest.raises(QuoteRefused) as refused:
            POOL.swap_exact_in(sold, bought, most + 10**13)
        assert refused.value.reason is Refusal.INSUFFICIENT_LIQUIDITY
        with pytest.raises(QuoteRefused):
            POOL.swap_exact_out(sold, bought, held + 1)


def test_dust_buys_nothing():
    with pytest.raises(QuoteRefused) as refused:
        POOL.swap_exact_in(SHARE, USDC, 10**6)
    assert refused.value.reason is Refusal.AMOUNT_TOO_LOW


@pytest.mark.parametrize(
    "change",
    [
        {"balances": (10**12, 10**12, 0)},
        # 2.9 million less are due to 580 units than there are.
        {"balances": (10**6, 10**12, WAD)},
    ],
)
def test_without_shares_or_with_too_many_fees_due_it_is_closed(change):
    pool = replace(POOL, **change)
    assert pool.edges() == ()
    assert pool.limits(USDC, SHARE) == Limits(1, 0)
    assert pool.spot_price(USDC, SHARE) == 0.0
    with pytest.raises(QuoteRefused, match="no shares"):
        pool.curve(USDC, SHARE)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"tokens": (USDC, WRAPPED)}, "tokens"),
        ({"tokens": (make_token(1, decimals=19), WRAPPED, SHARE)}, "tokens"),
        ({"balances": (1, 2, 2**112)}, "balances"),
        ({"rate_e18": 0}, "rate_e18"),
        ({"lower_target": 11_000_000 * WAD}, "lower_target"),
        ({"fee_e18": WAD}, "fee_e18"),
    ],
)
def test_impossible_pools_name_the_field(change, field):
    with pytest.raises(InvalidMarket) as error:
        replace(POOL, **change)
    assert error.value.field == field
