"""Pools of the Solidly family from neutral files."""

from __future__ import annotations

import gzip
import json
from collections import Counter

import pytest

from adapters.testing import check_market
from routing_engine.errors import InvalidMarket
from routing_engine.markets import Fork, pool_readers
from routing_engine.markets.common.pool_fields import PoolRefused, read_tokens
from routing_engine.markets.solidly import readers as solidly
from tests.support.tolerances import tolerances

TOKENS = [
    {"address": "0x" + "1" * 40, "symbol": "DOLA", "decimals": 18},
    {"address": "0x" + "2" * 40, "symbol": "USDC", "decimals": 6},
]
POOL = {
    "id": "8453:0xpool",
    "chain_id": 8453,
    "type": "solidly",
    "protocol": "aerodrome-v2-stable",
    "stable": True,
    "fee": "0.0005",
    "tokens": TOKENS,
    "reserves": [str(10**24), str(10**12)],
}
KYBER = {
    **POOL,
    "type": "velodrome-v2",
    "protocol": "aerodrome",
    "fee": None,
    "extra": {"isPaused": False, "fee": 5},
    "static_extra": {"feePrecision": 10000, "decimal0": str(10**18), "decimal1": "0xf4240", "stable": True},
}


def build(pool):
    return pool_readers()[pool["type"]](pool, pool["id"], read_tokens(pool))


@pytest.mark.parametrize("pool", [POOL, KYBER, {**KYBER, "type": "solidly-v2"}], ids=["neutral", "kyber", "kyber v2"])
def test_both_notations_give_the_same_state(pool):
    market = build(pool)
    assert (market.stable, market.fork, market.fee0_pips, market.fee1_pips) == (True, Fork.VELODROME_V2, 500, 500)
    assert (market.reserve0, market.reserve1) == (10**24, 10**12)


@pytest.mark.parametrize(
    ("protocol", "fork"),
    [
        ("velodrome_v1", Fork.SOLIDLY),
        ("Solidly", Fork.SOLIDLY),
        ("velodrome-v2", Fork.VELODROME_V2),
        ("aerodrome-v2-volatile", Fork.VELODROME_V2),
    ],
)
def test_the_protocol_says_whose_contract_it_is(protocol, fork):
    assert build({**POOL, "protocol": protocol}).fork is fork


@pytest.mark.parametrize(
    ("pool", "reason"),
    [
        ({**POOL, "stable": None}, "stable_flag_unknown"),
        ({**POOL, "fee": None}, "fee_unknown"),
        ({**POOL, "protocol": "thena"}, "unsupported_protocol:thena"),
        ({**POOL, "reserves": ["0", "5"]}, "empty"),
        ({**KYBER, "extra": {"isPaused": True, "fee": 5}}, "paused"),
        ({**KYBER, "static_extra": {**KYBER["static_extra"], "decimal1": "10"}}, "inconsistent_state:decimals"),
        ({**KYBER, "static_extra": {**KYBER["static_extra"], "feePrecision": 3}}, "fee_out_of_range"),
    ],
)
def test_refusals(pool, reason):
    with pytest.raises(PoolRefused) as refused:
        build(pool)
    assert str(refused.value) == reason


def test_a_damaged_flag_is_an_error():
    with pytest.raises(InvalidMarket, match="stable: expected true or false, not 'yes'"):
        build({**POOL, "stable": "yes"})


@pytest.mark.shared_data
@pytest.mark.parametrize(
    ("file", "loaded", "refused"),
    [
        ("optimism_velodrome_v1_2023_07.json.gz", 0, {"stable_flag_unknown": 601}),
        ("degenbot_fixtures.json", 2, {}),
        ("multi_kyber_fixtures.json.gz", 2, {}),
    ],
)
def test_recorded_pools(shared_data, file, loaded, refused):
    content = (shared_data / "markets" / file).read_bytes()
    pools = json.loads(gzip.decompress(content) if file.endswith(".gz") else content)["pools"]
    counted = Counter()
    for pool in pools:
        if pool_readers().get(pool["type"]) in (solidly.build, solidly.build_kyber):
            try:
                market = build(pool)
                check_market(market, **tolerances(market))
                counted["loaded"] += 1
            except PoolRefused as reason:
                counted[str(reason)] += 1
    assert counted.pop("loaded", 0) == loaded
    assert counted == refused
