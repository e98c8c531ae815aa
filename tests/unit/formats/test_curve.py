"""Curve's pools from neutral files."""

from __future__ import annotations

import gzip
import json
from collections import Counter

import pytest

from adapters.testing import check_market
from routing_engine.amm.cryptoswap.exchange import Method, Profit
from routing_engine.amm.stableswap import FEE_SCALE, Product
from routing_engine.errors import InvalidMarket
from routing_engine.markets import pool_readers
from routing_engine.markets.common.pool_fields import PoolRefused, read_tokens
from routing_engine.markets.stableswap.pool import Accounting
from routing_engine.model import NATIVE_ADDRESS
from tests.support.tolerances import tolerances

WETH = "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2"
TOKENS = [
    {"address": WETH, "symbol": "WETH", "decimals": 18},
    {"address": "0x" + "2" * 40, "symbol": "USDC", "decimals": 6},
]
STATE = {
    "InitialA": "10000",
    "FutureA": "20000",
    "InitialATime": 1_000,
    "FutureATime": 3_000,
    "SwapFee": "4000000",
    "AdminFee": "5000000000",
}
KYBER = {
    "id": "1:0xpool",
    "chain_id": 1,
    "address": "0x" + "9" * 40,
    "type": "curve-stable-plain",
    "protocol": "curve-stable-plain",
    "tokens": TOKENS,
    "reserves": [str(10**24), str(10**12)],
    "timestamp": 2_000,
    "extra": STATE,
    "static_extra": {"APrecision": "100", "LpToken": "0x" + "8" * 40},
}
READ = {
    **KYBER,
    "type": "curve_stable",
    "params": {
        "initial_a": 10_000,
        "future_a": 20_000,
        "initial_a_time": 1_000,
        "future_a_time": 3_000,
        "block_timestamp": 2_000,
        "a_coefficient": 150,
        "fee": 4_000_000,
        "admin_fee": 5_000_000_000,
    },
}


def build(pool):
    return pool_readers()[pool["type"]](pool, pool["id"], read_tokens(pool))


def changed(pool, field, **changes):
    return {**pool, field: {**pool[field], **changes}}


@pytest.mark.parametrize("pool", [KYBER, {**KYBER, "type": "curve-base"}, READ], ids=["kyber", "kyber base", "getters"])
def test_all_notations_give_the_same_state(pool):
    market = build(pool)
    assert (market.balances, market.rates) == ((10**24, 10**12), (10**18, 10**30))
    assert (market.amp, market.amp_precision) == (15_000, 100)
    assert (market.fee_e10, market.admin_fee_e10, market.protocol) == (4_000_000, 5_000_000_000, "curve")
    assert (market.product, market.spare, market.accounting) == (Product.EACH, 1, Accounting.AMOUNTS)


@pytest.mark.parametrize(("timestamp", "amp"), [(1_000, 10_000), (2_500, 17_500), (3_000, 20_000), (9_000, 20_000)])
def test_the_coefficient_is_that_of_the_moment(timestamp, amp):
    assert build({**KYBER, "timestamp": timestamp}).amp == amp


def test_a_coefficient_that_falls_is_interpolated_too():
    assert build(changed(KYBER, "extra", InitialA="20000", FutureA="10000")).amp == 15_000


def test_rates_come_from_the_source_where_it_read_them():
    rated = changed(KYBER, "extra", RateMultipliers=[str(10**18), "1057419823498475822000000000000"])
    assert build(rated).rates == (10**18, 1057419823498475822 * 10**12)
    oracle = changed({**KYBER, "type": "curve-plain-oracle"}, "extra", rates=[10**18, 11 * 10**17])
    oracle = changed(oracle, "static_extra", precisionMultipliers=["1", "1000000000000"])
    assert build(oracle).rates == (10**18, 11 * 10**29)


def test_lending_pools_are_of_the_first_template():
    lending = {**KYBER, "type": "curve-compound"}
    lending["extra"] = {"a": "4500", "swapFee": "4000000", "adminFee": "0", "rates": ["3", "5"]}
    lending["static_extra"] = {"precisionMultipliers": ["7", "11"]}
    market = build(lending)
    assert (market.amp, market.amp_precision, market.rates) == (4_500, 1, (21, 55))
    assert (market.product, market.spare, market.accounting) == (Product.EACH_PLUS_ONE, 0, Accounting.INVARIANT)


@pytest.mark.parametrize("field", ["extra", "static_extra"])
@pytest.mark.parametrize("kind", ["curve-stable-ng", "curve-stable-meta-ng"])
def test_ng_pools_have_an_oracle_and_a_fee_that_grows(kind, field):
    ng = changed({**KYBER, "type": kind}, "extra", RateMultipliers=[str(10**18), str(10**30)])
    market = build(changed(ng, field, OffpegFeeMultiplier="20000000000"))
    assert (market.multiplier_e10, market.oracle, market.product) == (2 * FEE_SCALE, True, Product.LAST)


@pytest.mark.parametrize(
    ("age", "price"), [(600, 1_100_000_000_000_000_000), (601, 1_200_000_000_000_000_000)], ids=["cached", "expired"]
)
@pytest.mark.parametrize("own", [None, 3 * 10**18])
def test_metapools_cache_the_virtual_price_of_their_base_pool_for_ten_minutes(age, price, own):
    meta = changed(
        {**READ, "type": "curve_meta"},
        "params",
        base_virtual_price=1_100_000_000_000_000_000,
        base_cache_updated=2_000 - age,
        base_pool={"virtual_price": 1_200_000_000_000_000_000},
        redemption_price=own,
    )
    assert build(meta).rates == (10**18 if own is None else own, price)


def test_the_chains_own_coin_replaces_the_wrapped_one_that_sources_write():
    flagged = changed(KYBER, "static_extra", IsNativeCoin=[True, False])
    steth = {**KYBER, "address": "0xdc24316b9ae028f1497c275eb9192a3ea0f67022"}
    named = {**KYBER, "tokens": [{**TOKENS[0], "symbol": "ETH"}, TOKENS[1]]}
    for pool in (flagged, steth, named):
        assert [token.address for token in build(pool).tokens] == [NATIVE_ADDRESS, TOKENS[1]["address"]]
    assert build(steth).product is Product.EACH_PLUS_ONE
    elsewhere = build({**steth, "chain_id": 10})
    assert (elsewhere.tokens[0].address, elsewhere.product) == (WETH, Product.EACH)


@pytest.mark.parametrize(
    ("pool", "reason"),
    [
        ({**KYBER, "extra": {}}, "parameters_unknown"),
        (changed(KYBER, "extra", AdminFee=None), "parameters_unknown"),
        (changed(KYBER, "extra", FutureA=None), "parameters_unknown"),
        (changed(READ, "params", initial_a=None), "parameters_unknown"),
        ({**KYBER, "timestamp": None}, "time_unknown"),
        ({**KYBER, "reserves": ["1", "0"]}, "empty"),
        ({**KYBER, "type": "curve-meta"}, "base_virtual_price_unknown"),
        ({**KYBER, "tokens": [{**TOKENS[0], "decimals": 19}, TOKENS[1]]}, "decimals_out_of_range"),
    ],
)
def test_what_is_not_known_is_refused_by_reason(pool, reason):
    with pytest.raises(PoolRefused, match=f"^{reason}$"):
        build(pool)


@pytest.mark.parametrize(
    ("pool", "field"),
    [
        ({**KYBER, "extra": None}, "extra"),
        (changed(KYBER, "extra", RateMultipliers=["1"]), "rateMultipliers"),
        ({**KYBER, "type": "curve-stable-ng"}, "rateMultipliers"),
        (changed(KYBER, "extra", SwapFee="much"), "swapFee"),
    ],
)
def test_damaged_fields_are_errors(pool, field):
    with pytest.raises(InvalidMarket) as error:
        build(pool)
    assert error.value.field == field


DEAD = {
    "1:0x1c5ffa4fb4907b681c61b8c82b28c4672ceb1974",
    "1:0x126331661101057c3a5879ac6af3f30cac6c66e2",
    "137:0x628350e16b665e0caa9bc8edbbbe0db31efb3bdc",
    "137:0x7c1aa4989df27970381196d3ef32a7410e3f2748",
}
"""Pools so far from balance that the contract cannot compute D within uint256."""

DUST = "1:0xda5b670ccd418a187a3066674a8002adc9356ad1"
"""Holds three units of 1e18, and prices so uneven that a trade of one smallest unit gains one by rounding."""


CRYPTO = {
    **KYBER,
    "type": "curve-twocrypto-ng",
    "extra": {
        "FutureA": "400000",
        "FutureGamma": "145000000000000",
        "FutureAGammaTime": 2_000,
        "D": "2000000000000000000000000",
        "PriceScale": ["1000000000000000000"],
        "PriceOracle": ["1000000000000000001"],
        "FeeGamma": "230000000000000",
        "MidFee": "26000000",
        "OutFee": "45000000",
        "LpSupply": "1000000000000000000000000",
        "XcpProfit": "1000000000000000002",
        "VirtualPrice": "1000000000000000003",
        "AllowedExtraProfit": "2000000000000",
        "AdjustmentStep": "146000000000000",
    },
    "static_extra": {"IsNativeCoins": [False, False]},
}
OLD = {
    **CRYPTO,
    "type": "curve_crypto",
    "params": {
        "a_coefficient": 40,
        "gamma": 145_000_000_000_000,
        "d": 2_000_000_000_000_000_000_000_000,
        "price_scale": [10**18],
        "fee_gamma": 230_000_000_000_000,
        "mid_fee": 26_000_000,
        "out_fee": 45_000_000,
    },
}


def test_crypto_pools_of_both_notations():
    market, old = build(CRYPTO), build(OLD)
    for each in (market, old):
        assert (each.ann, each.gamma, each.d, each.price_scale) == (400_000, 145 * 10**12, 2 * 10**24, (10**18,))
        assert (each.mid_fee, each.out_fee, each.fee_gamma) == (26_000_000, 45_000_000, 230 * 10**12)
    expected = Profit((10**18 + 1,), 10**18 + 2, 10**18 + 3, 10**24, 2 * 10**12, 146 * 10**12)
    assert (market.method, market.profit) == (Method.CLOSED_FORM, expected)
    assert (old.method, old.profit) == (Method.NEWTON, None)
    custom = build(changed(CRYPTO, "extra", UseCustomMath=True))
    assert (custom.method, custom.profit) == (Method.STABLE, None)
    assert build(changed(CRYPTO, "extra", PriceOracle=None)).profit is None


@pytest.mark.parametrize(
    ("pool", "reason"),
    [
        (changed(CRYPTO, "extra", FutureAGammaTime=2_001), "parameters_changing"),
        ({**CRYPTO, "timestamp": None}, "time_unknown"),
        (changed(CRYPTO, "extra", D=None), "parameters_unknown"),
        (changed(OLD, "params", price_scale=None), "parameters_unknown"),
        ({**OLD, "tokens": [{**row, "decimals": 24} for row in OLD["tokens"]]}, "decimals_out_of_range"),
    ],
)
def test_crypto_pools_whose_mathematics_is_not_known_are_refused(pool, reason):
    with pytest.raises(PoolRefused, match=f"^{reason}$"):
        build(pool)


@pytest.mark.shared_data
def test_recorded_pools_load_and_conform(shared_data):
    loaded, refused = {}, Counter()
    for name in ("multi_kyber_fixtures.json.gz", "degenbot_fixtures.json"):
        raw = (shared_data / "markets" / name).read_bytes()
        for pool in json.loads(gzip.decompress(raw) if name.endswith("gz") else raw)["pools"]:
            if str(pool["type"]).startswith("curve") and pool_readers().get(pool["type"], None) is not None:
                try:
                    loaded[pool["id"], pool["type"]] = build(pool)
                except PoolRefused as reason:
                    refused[str(reason)] += 1
    assert Counter(kind for _, kind in loaded) == {
        "curve-tricrypto-ng": 3,
        "curve-twocrypto-ng": 2,
        "curve_crypto": 1,
        "curve-base": 5,
        "curve-stable-plain": 17,
        "curve-stable-ng": 6,
        "curve-stable-meta-ng": 5,
        "curve-compound": 1,
        "curve-plain-oracle": 1,
        "curve_meta": 1,
        "curve_stable": 1,
    }
    assert refused == {"parameters_unknown": 1, "base_virtual_price_unknown": 2, "unknown_decimals": 1}
    assert {identity for (identity, _), pool in loaded.items() if not pool.edges()} == DEAD
    for (identity, _), pool in loaded.items():
        if identity != DUST:
            check_market(pool, samples=3, **tolerances(pool))
