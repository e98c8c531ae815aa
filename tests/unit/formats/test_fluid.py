"""Fluid pools from neutral files, in both notations."""

from __future__ import annotations

import copy

import pytest

from routing_engine.errors import InvalidMarket
from routing_engine.markets import pool_readers
from routing_engine.markets.common.pool_fields import PoolRefused, read_tokens
from routing_engine.model import NATIVE_ADDRESS

NONE = {"available": "0x0", "expands_to": "0x0", "expand_duration": "0x0"}
RAW = {
    "id": "1:0xpool",
    "chain_id": 1,
    "type": "fluid_dex",
    "protocol": "fluid_v1",
    "fee": "0.000029",
    "tokens": [
        {"address": "0x" + "0" * 40, "symbol": "ETH", "decimals": 18},
        {"address": "0x" + "7f" * 20, "symbol": "wstETH", "decimals": 18},
    ],
    "raw_state": {
        "collateral_reserves": {
            "token0_real_reserves": "0x10", "token1_real_reserves": "0xe8d4a51000",
            "token0_imaginary_reserves": "0x38d7ea4c68000", "token1_imaginary_reserves": "0x3f8e1ca9b6a00",
        },
        "debt_reserves": {
            "token0_real_reserves": "0x0", "token1_real_reserves": "0x0",
            "token0_imaginary_reserves": "0x0", "token1_imaginary_reserves": "0x0",
        },
        "dex_limits": {
            "withdrawable_token0": NONE, "withdrawable_token1": {**NONE, "available": "0xde0b6b3a7640000"},
            "borrowable_token0": NONE, "borrowable_token1": NONE,
        },
        "center_price": "0x39e7139a8c08fa06000000",
    },
}  # fmt: skip
LIMIT = {"available": 5 * 10**17, "expandsTo": 5 * 10**17, "expandDuration": 0}
KYBER = {
    "id": "1:0xpool",
    "chain_id": 1,
    "type": "fluid-dex-t1",
    "protocol": "fluid-dex-t1",
    "kyber_swapFee": 0.01,
    "tokens": [
        {"address": "0x" + "4c" * 20, "symbol": "A", "decimals": 18},
        {"address": "0x" + "c1" * 20, "symbol": "B", "decimals": 18},
    ],
    "extra": {
        "CollateralReserves": {
            "token0RealReserves": 10**12, "token1RealReserves": 10**12,
            "token0ImaginaryReserves": 10**15, "token1ImaginaryReserves": 10**15,
        },
        "DebtReserves": {
            "token0RealReserves": 0, "token1RealReserves": 0,
            "token0ImaginaryReserves": 0, "token1ImaginaryReserves": 0,
        },
        "IsSwapAndArbitragePaused": False,
        "DexLimits": {
            "withdrawableToken0": LIMIT, "withdrawableToken1": LIMIT,
            "borrowableToken0": LIMIT, "borrowableToken1": LIMIT,
        },
        "CenterPrice": 10**27,
    },
    "static_extra": {"hasNative": False},
}  # fmt: skip


def build(pool):
    return pool_readers()[pool["type"]](pool, pool["id"], read_tokens(pool))


def changed(pool, value, *path):
    pool = copy.deepcopy(pool)
    place = pool
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value
    return pool


def test_the_native_coin_comes_last_as_in_the_contract():
    market = build(RAW)
    assert (market.token0.symbol, market.token1.address) == ("wstETH", NATIVE_ADDRESS)
    assert market.collateral == (16, 10**12, 10**15, 1118073580644864)
    assert (market.withdrawable, market.borrowable) == ((0, 10**18), (0, 0))
    assert (market.fee_pips, market.center_price) == (29, 0x39E7139A8C08FA06000000)
    assert market.edges() == ((market.token0, market.token1),)


def test_the_other_notation():
    market = build(KYBER)
    assert market.collateral == (10**12, 10**12, 10**15, 10**15)
    assert market.fee_pips == 100
    assert market.borrowable == (5 * 10**17, 5 * 10**17)
    assert len(market.edges()) == 2


@pytest.mark.parametrize(
    ("pool", "reason"),
    [
        (changed(RAW, NONE, "raw_state", "dex_limits", "withdrawable_token1"), "nothing_withdrawable"),
        (changed(RAW, None, "fee"), "fee_unknown"),
        (changed(RAW, RAW["tokens"] + KYBER["tokens"], "tokens"), "not_two_tokens"),
        (changed(KYBER, None, "kyber_swapFee"), "fee_unknown"),
        (changed(KYBER, 100, "kyber_swapFee"), "fee_out_of_range"),
        (changed(KYBER, True, "extra", "IsSwapAndArbitragePaused"), "paused"),
        (changed(KYBER, True, "static_extra", "hasNative"), "native_side_unknown"),
    ],
)
def test_what_is_incomplete_is_refused_with_a_reason(pool, reason):
    with pytest.raises(PoolRefused, match=f"^{reason}$"):
        build(pool)


@pytest.mark.parametrize(
    ("pool", "field"),
    [
        (changed(RAW, "0xzz", "raw_state", "center_price"), "center_price"),
        (changed(RAW, "0x" + "f" * 65, "raw_state", "center_price"), "center_price"),
        (changed(RAW, [], "raw_state", "dex_limits"), "dex_limits"),
        (changed(RAW, {}, "raw_state", "debt_reserves"), "token0_real_reserves"),
        (changed(KYBER, "x", "kyber_swapFee"), "kyber_swapFee"),
        (changed(KYBER, 0, "extra", "CenterPrice"), "center_price"),
    ],
)
def test_what_is_damaged_is_an_error_that_names_the_field(pool, field):
    with pytest.raises(InvalidMarket) as invalid:
        build(pool)
    assert invalid.value.field == field
