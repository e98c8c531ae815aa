"""Balancer's pools from the neutral format."""

from __future__ import annotations

import gzip
import json
from collections import Counter

import pytest

from routing_engine.amm.balancer.stable import Invariant
from routing_engine.errors import BadMarketFile
from routing_engine.fixed_point import WAD
from routing_engine.formats.neutral import parse
from routing_engine.markets import NativeWrap
from routing_engine.token_fields import Transfers

OWN = "0x" + "f" * 40
WEIGHTS = ("0.5", "0.25", "0.25")


def token(number, decimals=18, **more):
    return {"address": f"0x{number:040x}", "symbol": f"T{number}", "decimals": decimals, **more}


def pool(kind, tokens, reserves, **more):
    return {
        "id": "1:0xpool",
        "chain_id": 1,
        "address": OWN,
        "protocol": "balancer_v2",
        "type": kind,
        "tokens": tokens,
        "reserves": reserves,
        "fee": "0.003",
        **more,
    }


def weighted(**more):
    tokens = [token(number + 1, weight=weight) for number, weight in enumerate(WEIGHTS)]
    return pool("weighted", tokens, [str(10**20)] * 3, **more)


def stable(**more):
    rows = [token(1), token(2, 6)]
    return pool("stable", rows, [str(10**24), str(10**12)], **{"amp": "200.0", "amp_note": "parameter A", **more})


def composable(**more):
    rows = [token(1, price_rate="1.01"), {**token(2), "address": OWN}, token(3)]
    return pool("composable_stable", rows, [str(10**24), str(10**33), str(10**24)], amp="200000", **more)


def linear(**params):
    rows = [token(1, 6), {**token(2), "address": OWN}, token(3, 6, price_rate="1.1")]
    stated = {"mainIndex": 0, "wrappedIndex": 2, "lowerTarget": "0.0", "upperTarget": "1000.5", "totalShares": "100"}
    reserves = [str(10**8), str(2**112 - 1 - 100 * WAD), "0"]
    return pool("linear", rows, reserves, params={**stated, **params})


def kyber(kind, extra, static, tokens=None):
    tokens = tokens or [token(1), token(2, 6)]
    state = {"swapFeePercentage": "0x2386f26fc10000", "paused": False, **extra}
    reserves = [str(10**24), str(10**12), str(10**33)][: len(tokens)]
    return pool(kind, tokens, reserves, extra=state, static_extra=static)


def kyber_stable(kind="MetaStable", version=1, **extra):
    scales = {"amp": "0xf4240", "scalingFactors": ["0xFFB10F9BCF7D41A", str(10**30)], **extra}
    return kyber("balancer-v2-stable", scales, {"poolType": kind, "poolTypeVersion": version})


def kyber_v1(**extra):
    records = {
        f"0x{number:040x}": {"bound": True, "denorm": str(weight * WAD), "balance": str(10**24)}
        for number, weight in ((1, 7), (2, 3))
    }
    state = {"records": records, "publicSwap": True, "swapFee": "5000000000000000", **extra}
    return pool("balancer-v1", [token(1), token(2)], ["1", "1"], extra=state, static_extra={})


def load(*pools):
    return parse({"meta": {}, "pools": list(pools)}, "markets.json")


def only(record):
    (market,) = load(record).markets
    return market


def test_a_weighted_pool():
    market = only(weighted())
    assert market.weights == (WAD // 2, WAD // 4, WAD // 4)
    assert (market.kind, market.fee_e18, market.multiplies_powers) == ("weighted", 3 * 10**15, False)


def test_a_stable_pool_of_either_notation():
    market = only(stable())
    assert (market.amp, market.scales, market.invariant) == (200_000, (WAD, 10**30), Invariant.UP)
    assert only(stable(amp="200000", amp_note="raw, includes AMP_PRECISION 1000")).amp == 200_000


def test_a_composable_pool_without_its_own_token():
    market = only(composable(amp_note="raw"))
    assert [token.symbol for token in market.tokens] == ["T1", "T3"]
    assert market.scales == (101 * WAD // 100, WAD)
    assert market.balances == (10**24, 10**24)


def test_scales_given_as_inverse_rates():
    """Ten to the decimals is a rate of one; another inverse stands for a rate where only one has it."""
    market = only(stable(scaling_rates=[str(1_001_001_001_001_001_001), "1000000"]))
    assert market.scales == (999 * 10**15, 10**30)


def test_scales_given_as_such():
    rows = [token(1), token(2)]
    market = only({**stable(scaling_factors=[str(12 * WAD // 10), str(WAD)]), "tokens": rows})
    assert market.scales == (12 * WAD // 10, WAD)


def test_a_linear_pool_in_the_order_main_wrapped_share():
    market = only(linear())
    assert [token.symbol for token in market.tokens] == ["T1", "T3", "T2"]
    assert market.balances == (10**8, 0, 100 * WAD)
    assert (market.rate_e18, market.lower_target, market.upper_target) == (11 * WAD // 10, 0, 2001 * WAD // 2)


def test_kybers_weighted_pools_know_their_version():
    for version, multiplies in ((1, False), (2, True)):
        static = {
            "poolType": "Weighted",
            "poolTypeVer": version,
            "normalizedWeights": ["0xb1a2bc2ec500000", "2" + "0" * 17],
        }
        market = only(kyber("balancer-v2-weighted", {}, static))
        assert (market.multiplies_powers, market.weights) == (multiplies, (8 * WAD // 10, 2 * WAD // 10))
        assert market.fee_e18 == 10**16


@pytest.mark.parametrize(
    ("kind", "version", "scales", "expected", "rounding"),
    [
        ("MetaStable", 1, ["0xde0b6b3a7640000", str(10**30)], (WAD, 10**30), Invariant.UP),
        ("Stable", 1, ["1", "1000000000000"], (WAD, 10**30), Invariant.UP),
        ("Stable", 2, [str(WAD), str(10**30)], (WAD, 10**30), Invariant.DOWN),
        ("ComposableStable", 5, [str(WAD), str(10**30)], (WAD, 10**30), Invariant.DOWN),
    ],
)
def test_kybers_stable_pools_know_their_version(kind, version, scales, expected, rounding):
    market = only(kyber_stable(kind, version, scalingFactors=scales))
    assert (market.scales, market.invariant, market.amp) == (expected, rounding, 10**6)


def test_kybers_pools_of_version_one():
    market = only(kyber_v1())
    assert (market.kind, market.weights, market.fee_e18) == ("balancer_v1", (7 * WAD, 3 * WAD), 5 * 10**15)


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (weighted(source_pool_type="LiquidityBootstrapping"), "weights_may_move:LiquidityBootstrapping"),
        ({**weighted(), "tokens": [token(n, weight="0.3333") for n in (1, 2, 3)]}, "weights_do_not_add_up"),
        ({**weighted(), "tokens": [token(n, weight="0." + "3" * 19) for n in (1, 2, 3)]}, "more_than_18_decimals"),
        ({**weighted(), "tokens": [token(n, 24, weight=w) for n, w in enumerate(WEIGHTS)]}, "decimals_out_of_range"),
        ({**weighted(), "reserves": ["0", "1", "1"]}, "empty"),
        (stable(scaling_rates=[str(877_801_947_629_091_774), "999000"]), "rate_not_exact"),
        (stable(scaling_factors=["1", "1"]), "scaling_unclear"),
        ({**stable(), "amp": "1.00005"}, "amplification_not_whole"),
        ({**stable(), "tokens": [token(1), token(2, 19)]}, "decimals_out_of_range"),
        ({**stable(), "tokens": [token(1), {**token(2), "address": OWN}]}, "tokens_not_distinct"),
        (linear(totalShares="99"), "inconsistent_state:totalShares"),
        (linear(mainIndex=1), "indexes_unknown"),
        (
            {**linear(), "tokens": [token(1, 24), {**token(2), "address": OWN}, token(3, 24, price_rate="1.1")]},
            "decimals_out_of_range",
        ),
        ({**linear(), "tokens": [token(1, 6), {**token(2), "address": OWN}, token(3, 6)]}, "rate_unknown"),
        ({**linear(), "reserves": ["0", str(2**112 - 1 - 100 * WAD), "0"]}, "empty"),
        (pool("element", [token(1), token(2)], ["1", "1"]), "price_moves_with_time"),
        (kyber("balancer-v2-weighted", {"paused": True}, {"poolType": "Weighted"}), "paused"),
        (kyber("balancer-v2-weighted", {}, {"poolType": "Managed"}), "weights_may_move:Managed"),
        (
            {**kyber("balancer-v2-weighted", {}, {"poolType": "Weighted"}), "tokens": [token(1, 24), token(2)]},
            "decimals_out_of_range",
        ),
        (kyber_stable("Other", 3), "unsupported_version:Other_3"),
        (kyber_v1(publicSwap=False), "paused"),
        (kyber_v1(records={f"0x{n:040x}": {"bound": n == 1} for n in (1, 2)}), "tokens_not_bound"),
    ],
)
def test_what_is_refused_is_counted_by_reason(record, reason):
    assert load(record).refused == Counter([reason])


@pytest.mark.parametrize(
    ("record", "field"),
    [
        ({**weighted(), "tokens": [token(n, weight="heavy") for n in (1, 2, 3)]}, "tokens.0.weight"),
        ({**stable(), "amp": "much"}, "amp"),
        (stable(scaling_rates=["1"]), "scaling_rates"),
        (stable(scaling_rates=["0", "0"]), "scaling_rates"),
        (stable(scaling_rates=["x", "1"]), "scaling_rates.0"),
        ({**linear(), "reserves": ["1"]}, "reserves"),
        ({**kyber_v1(), "extra": []}, "extra"),
    ],
)
def test_damaged_fields_are_named(record, field):
    with pytest.raises(BadMarketFile) as error:
        load(record)
    assert error.value.field == f"pools.0.{field}"


def recorded(shared_data, name):
    path = shared_data / "markets" / name
    with gzip.open(path) if name.endswith("gz") else path.open() as file:
        document = json.load(file)
    kinds = ("weighted", "stable", "composable_stable", "linear", "element")
    document["pools"] = [
        pool
        for pool in document["pools"]
        if pool.get("type") in kinds or str(pool.get("type")).startswith("balancer-v")
    ]
    return document


@pytest.mark.shared_data
@pytest.mark.parametrize(
    ("name", "loaded", "reasons"),
    [
        ("degenbot_fixtures.json", 15, {}),
        (
            "eth_balancer_v2_14717479.json.gz",
            217,
            {
                "price_moves_with_time": 27,
                "weights_may_move:LiquidityBootstrapping": 94,
                "weights_may_move:Investment": 3,
            },
        ),
        (
            "eth_cow_auction_7400681.json.gz",
            158,
            {"empty": 27, "rate_not_exact": 1, "weights_do_not_add_up": 6},
        ),
        (
            "multi_kyber_fixtures.json.gz",
            8,
            {
                "paused": 1,
                "unsupported_type:balancer-v3-eclp": 2,
                "unsupported_type:balancer-v3-quantamm": 1,
                "unsupported_type:balancer-v3-reclamm": 1,
                "unsupported_type:balancer-v3-stable": 3,
                "unsupported_type:balancer-v3-weighted": 1,
            },
        ),
    ],
)
def test_recorded_pools_load(shared_data, name, loaded, reasons):
    contents = parse(recorded(shared_data, name), name, accept=tuple(Transfers))
    pools = [market for market in contents.markets if not isinstance(market, NativeWrap)]
    assert (len(pools), contents.refused) == (loaded, Counter(reasons))


@pytest.mark.shared_data
@pytest.mark.parametrize(
    ("market_id", "sold", "bought", "amount_in", "amount_out"),
    [
        ("1:0x5c6ee304399dbdb9c8ef030ab642b10820db8f56", "WETH", "BAL", 2000 * WAD, 1_014_934_149_732_776_116_160_723),
        ("137:0x32fc95287b14eaef3afa92cccc48c285ee3a280a", "WMATIC", "Qi", 77 * WAD, 49_523_009_318_781_117_474_536),
        (
            "1:0x851523a36690bf267bbfec389c823072d82921a9",
            "WETH",
            "wstETH",
            73_183_418_984_294_781,
            63_551_050_657_042_642,
        ),
    ],
)
def test_quotes_that_kyberswaps_tests_expect(
    shared_data, record_property, market_id, sold, bought, amount_in, amount_out
):
    record_property("vector_cases", ("balancer v1 and v2, recorded pools: answers stated by another library", 1))
    contents = parse(recorded(shared_data, "multi_kyber_fixtures.json.gz"), "kyber")
    (market,) = (market for market in contents.markets if market.id == market_id)
    tokens = {token.symbol: token for token in market.tokens}
    assert market.swap_exact_in(tokens[sold], tokens[bought], amount_in)[0].amount_out == amount_out
