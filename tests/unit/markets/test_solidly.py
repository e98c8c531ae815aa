"""Pools of the Solidly family: what each fork keeps of an input, closed directions, refusals."""

from __future__ import annotations

from dataclasses import replace

import pytest

from routing_engine.amm.constant_product import MAX_RESERVE
from routing_engine.errors import InvalidMarket, QuoteRefused, Refusal
from routing_engine.market import UNLIMITED, Limits
from routing_engine.markets import ConstantProductPool, Fork, SolidlyPool, market_from_record
from tests.support.solidly import DOLA_TO_USDBC, DOLA_USDBC, TBTC_TO_WETH, TBTC_WETH
from tests.support.strategies import make_token

DOLA, USDBC = make_token(1, 18, 8453), make_token(2, 6, 8453)
STABLE = SolidlyPool(
    id="8453:0xpool",
    protocol="aerodrome",
    token0=DOLA,
    token1=USDBC,
    reserve0=DOLA_USDBC[0],
    reserve1=DOLA_USDBC[1],
    stable=True,
    fork=Fork.VELODROME_V2,
    fee0_pips=3_000,
    fee1_pips=3_000,
)
VOLATILE = replace(STABLE, reserve0=TBTC_WETH[0], reserve1=TBTC_WETH[1], stable=False)


@pytest.mark.parametrize(("pool", "answers"), [(STABLE, DOLA_TO_USDBC), (VOLATILE, TBTC_TO_WETH)])
def test_a_deployed_pools_answers_and_their_least_inputs(pool, answers):
    for amount_in, amount_out in answers:
        assert pool.swap_exact_in(DOLA, USDBC, amount_in)[0].amount_out == amount_out
        least = pool.swap_exact_out(DOLA, USDBC, amount_out)[0]
        assert least.amount_in <= amount_in
        assert least.amount_out == amount_out


@pytest.mark.parametrize("pool", [STABLE, VOLATILE])
def test_solidlys_fee_leaves_the_pool(pool):
    hop, after = pool.swap_exact_in(DOLA, USDBC, 10**20 + 7)
    fee = (10**20 + 7) * 3_000 // 1_000_000
    assert [(item.amount, item.name) for item in hop.fees] == [(fee, "lp_fee")]
    assert after.reserve0 == pool.reserve0 + 10**20 + 7 - fee
    assert after.reserve1 == pool.reserve1 - hop.amount_out


def test_camelots_volatile_pair_is_a_uniswap_pair_with_a_fee_by_direction():
    pool = replace(VOLATILE, fork=Fork.CAMELOT, fee0_pips=3_000, fee1_pips=5_000)
    for sold, bought, fee_pips in ((DOLA, USDBC, 3_000), (USDBC, DOLA, 5_000)):
        pair = ConstantProductPool(
            id="1:0xpair", protocol="p", token0=DOLA, token1=USDBC, fee_pips=fee_pips,
            reserve0=pool.reserve0, reserve1=pool.reserve1,
        )  # fmt: skip
        hop, after = pool.swap_exact_in(sold, bought, 10**15)
        expected, pair_after = pair.swap_exact_in(sold, bought, 10**15)
        assert hop.amount_out == expected.amount_out
        assert (after.reserve0, after.reserve1) == (pair_after.reserve0, pair_after.reserve1)
        assert pool.swap_exact_out(sold, bought, 10**14)[0].amount_in == (
            pair.swap_exact_out(sold, bought, 10**14)[0].amount_in
        )


def test_camelots_stable_pair_keeps_its_fee_less_the_owners_share():
    """wstETH/WETH on Arbitrum, with the amounts of KyberNetwork/kyberswap-dex-lib's tests."""
    pool = replace(
        STABLE,
        token1=make_token(2, 18, 8453),
        reserve0=1481252219344464578434,
        reserve1=3236537897421945761324,
        fork=Fork.CAMELOT,
        fee0_pips=400,
        fee1_pips=400,
        owner_share_pips=400_000,
    )
    hop, after = pool.swap_exact_in(pool.token0, pool.token1, 10**21)
    assert hop.amount_out == 1022352385458443941729
    assert after.reserve0 == pool.reserve0 + 10**21 - 10**21 * 400 * 400_000 // 10**12


def test_the_first_generation_would_refuse_some_of_its_own_answers():
    """There, the pool is asked for one unit less: the swap that its invariant accepts."""
    pool = replace(
        STABLE, token1=make_token(2, 18, 8453), reserve0=2 * 10**18, reserve1=3 * 10**18, fork=Fork.SOLIDLY,
        fee0_pips=0, fee1_pips=0,
    )  # fmt: skip
    corrected = replace(pool, fork=Fork.VELODROME_V2)
    answers = [
        (pool.swap_exact_in(*pool.tokens, amount)[0].amount_out, corrected.swap_exact_in(*pool.tokens, amount)[0])
        for amount in range(10**17, 10**17 + 400)
    ]
    assert all(answer <= hop.amount_out for answer, hop in answers)
    assert all(hop.amount_out - answer <= 1 for answer, hop in answers)


def test_a_stable_pool_too_small_for_its_arithmetic_is_closed():
    dust = replace(STABLE, reserve0=10**16, reserve1=10**4)
    assert dust.edges() == ()
    assert dust.limits(DOLA, USDBC) == Limits(1, 0)
    curve = dust.curve(DOLA, USDBC)
    assert curve.x_max < curve.x_min
    with pytest.raises(QuoteRefused):
        dust.swap_exact_in(DOLA, USDBC, 10**12)
    with pytest.raises(QuoteRefused):
        dust.swap_exact_out(DOLA, USDBC, 1)


@pytest.mark.parametrize("stable", [True, False])
def test_an_empty_pool_is_closed(stable):
    empty = replace(STABLE, stable=stable, reserve0=0, reserve1=0)
    assert empty.edges() == ()
    assert empty.spot_price(DOLA, USDBC) == 0.0
    curve = empty.curve(DOLA, USDBC)
    assert curve.x_max < curve.x_min


def test_reserves_of_camelot_stay_within_112_bits():
    pool = replace(VOLATILE, fork=Fork.CAMELOT)
    assert pool.limits(DOLA, USDBC).max_amount_in == MAX_RESERVE - pool.reserve0
    with pytest.raises(QuoteRefused) as refused:
        pool.swap_exact_in(DOLA, USDBC, MAX_RESERVE)
    assert refused.value.reason is Refusal.AMOUNT_TOO_HIGH


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"fee0_pips": 1_000_000}, "fee0_pips"),
        ({"fee1_pips": -1}, "fee1_pips"),
        ({"reserve0": -1}, "reserve0"),
        ({"reserve1": UNLIMITED + 1}, "reserve1"),
        ({"owner_share_pips": 1_000_001}, "owner_share_pips"),
    ],
)
def test_impossible_states_are_named(changes, field):
    with pytest.raises(InvalidMarket) as error:
        replace(STABLE, **changes)
    assert error.value.field == field


def test_a_record_with_an_unknown_fork_is_refused():
    record = {**STABLE.to_record(), "fork": "pancake"}
    with pytest.raises(InvalidMarket, match="fork: must be one of solidly, velodrome_v2, camelot, not 'pancake'"):
        market_from_record(record, {token.key: token for token in STABLE.tokens})
