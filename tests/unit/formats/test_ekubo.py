"""Ekubo pools from neutral files, in both notations."""

from __future__ import annotations

import pytest

from routing_engine.amm.ekubo.ticks import Q128
from routing_engine.errors import InvalidMarket
from routing_engine.markets import pool_readers
from routing_engine.markets.common.pool_fields import PoolRefused, read_tokens
from routing_engine.model import NATIVE_ADDRESS, ZERO_ADDRESS
from tests.unit.formats.test_fluid import changed

USDC = "0x" + "a0" * 20
WETH = "0x" + "c0" * 20
NOW = {"sqrt_ratio": "1" + "0" * 32, "liquidity": 10**15, "active_tick_index": 0}
TYCHO = {
    "id": "1:0xpool",
    "chain_id": 1,
    "type": "ekubo",
    "protocol": "ekubo_v2",
    "tokens": [
        {"address": ZERO_ADDRESS, "symbol": ZERO_ADDRESS, "decimals": 18},
        {"address": USDC, "symbol": "USDC", "decimals": 6},
    ],
    "raw_state": {
        "Base": {
            "imp": {
                "key": {"token0": "0", "token1": USDC[2:], "config": {"fee": 7, "tick_spacing": 50, "extension": "0"}},
                "state": NOW,
                "sorted_ticks": [
                    {"index": -50, "liquidity_delta": 10**15},
                    {"index": 150, "liquidity_delta": -(10**15)},
                ],
            },
            "state": NOW,
            "active_tick": 0,
        }
    },
}
KYBER = {
    "id": "1:0xpool",
    "chain_id": 1,
    "type": "ekubov3",
    "protocol": "ekubov3",
    "tokens": [
        {"address": WETH, "symbol": "WETH", "decimals": 18},
        {"address": USDC, "symbol": "USDC", "decimals": 6},
    ],
    "extra": {
        "liquidity": 10**15,
        "sqrtRatio": Q128,
        "activeTick": 0,
        "sortedTicks": [
            {"number": -5000, "liquidityDelta": 0},
            {"number": -50, "liquidityDelta": 10**15},
            {"number": 150, "liquidityDelta": -(10**15)},
        ],
    },
    "static_extra": {
        "extensionType": 1,
        "poolKey": {
            "token0": ZERO_ADDRESS,
            "token1": USDC,
            "config": {"fee": 7, "tickSpacing": 50, "extension": ZERO_ADDRESS},
        },
    },
}


def build(pool):
    return pool_readers()[pool["type"]](pool, pool["id"], read_tokens(pool))


@pytest.mark.parametrize(("pool", "protocol"), [(TYCHO, "ekubo_v2"), (KYBER, "ekubo_v3")])
def test_both_notations_give_the_same_pool(pool, protocol):
    market = build(pool)
    assert (market.protocol, market.token0.address, market.token0.symbol) == (protocol, NATIVE_ADDRESS, "ETH")
    assert (market.sqrt_ratio, market.tick, market.liquidity, market.fee_x64) == (Q128, 0, 10**15, 7)
    assert market.ticks == ((-50, 10**15), (150, -(10**15)))
    assert len(market.edges()) == 2


def test_a_pool_over_the_whole_range_has_no_ticks():
    pool = changed(KYBER, 0, "static_extra", "poolKey", "config", "tickSpacing")
    market = build(changed(pool, 2, "static_extra", "extensionType"))
    assert (market.tick_spacing, market.ticks, market.tick) == (0, (), 0)


def test_a_pool_of_two_contracts_keeps_its_tokens():
    market = build(changed(KYBER, WETH, "static_extra", "poolKey", "token0"))
    assert (market.token0.address, market.token0.symbol) == (WETH, "WETH")


@pytest.mark.parametrize(
    ("pool", "reason"),
    [
        (changed(TYCHO, {"Twamm": {}}, "raw_state"), "unsupported_extension:Twamm"),
        (changed(TYCHO, {}, "raw_state"), "unsupported_extension:none"),
        (
            changed(TYCHO, "51d0", "raw_state", "Base", "imp", "key", "config", "extension"),
            "unsupported_extension:unknown",
        ),
        (changed(KYBER, 3, "static_extra", "extensionType"), "unsupported_extension:3"),
        (changed(KYBER, 1, "extra", "activeTick"), "inconsistent_state:tick"),
        (changed(KYBER, 10**14, "extra", "liquidity"), "inconsistent_state:liquidity"),
        (changed(changed(KYBER, [], "extra", "sortedTicks"), 0, "extra", "liquidity"), "empty"),
    ],
)
def test_what_is_incomplete_is_refused_with_a_reason(pool, reason):
    with pytest.raises(PoolRefused, match=f"^{reason}$"):
        build(pool)


@pytest.mark.parametrize(
    ("pool", "field"),
    [
        (changed(TYCHO, "xyz", "raw_state", "Base", "state", "sqrt_ratio"), "sqrt_ratio"),
        (changed(TYCHO, [1], "raw_state", "Base", "imp", "sorted_ticks"), "sorted_ticks"),
        (changed(KYBER, [{"number": 1}], "extra", "sortedTicks"), "sortedTicks.0.liquidityDelta"),
        (changed(KYBER, Q128 + 1, "extra", "sqrtRatio"), "sqrt_ratio"),
    ],
)
def test_what_is_damaged_is_an_error_that_names_the_field(pool, field):
    with pytest.raises(InvalidMarket) as invalid:
        build(pool)
    assert invalid.value.field == field
