"""Concentrated pools from neutral files: what a record must say, and what a Uniswap v4 pool's id proves."""

from __future__ import annotations

import os

import pytest
from eth_utils import keccak

from routing_engine.amm.concentrated.swap_loop import MAX_AMOUNT, MAX_AMOUNT_V4
from routing_engine.errors import InvalidMarket, QuoteRefused
from routing_engine.fixed_point import Q96
from routing_engine.markets import pool_readers
from routing_engine.markets.common.pool_fields import PoolRefused, read_tokens
from routing_engine.markets.concentrated.pool_key import NO_HOOKS, keccak256, pool_id
from routing_engine.model import NATIVE_ADDRESS, ZERO_ADDRESS

ETH = {"address": ZERO_ADDRESS, "symbol": "ETH", "decimals": 18}
WETH = {"address": "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2", "symbol": "WETH", "decimals": 18}
USDC = {"address": "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48", "symbol": "USDC", "decimals": 6}
ETH_USDC_ID = "0x21c67e77068de97969ba93d4aab21826d33ca12bb9f565d8496e8fda8a82ca27"
"""Main net's ETH/USDC pool of 0.05 % without hooks."""
POOL = {
    "id": "1:0xpool",
    "chain_id": 1,
    "type": "clmm",
    "protocol": "uniswap_v3",
    "fee": "0.0005",
    "tokens": [USDC, WETH],
    "tick_spacing": 10,
    "sqrt_price_x96": str(Q96),
    "tick": 0,
    "liquidity": "1000",
    "ticks": [[-10, "1000"], [10, "-1000"]],
}
V4 = {**POOL, "protocol": "uniswap-v4", "tokens": [ETH, USDC], "pool_id": ETH_USDC_ID}


def build(pool):
    return pool_readers()[pool["type"]](pool, pool["id"], read_tokens(pool))


@pytest.mark.parametrize("length", [0, 1, 135, 136, 137, 160, 272, 300])
def test_keccak(length):
    message = os.urandom(length)
    assert keccak256(message) == keccak(message)


def test_the_id_of_a_pool():
    assert pool_id(build(V4).tokens, 500, 10) == ETH_USDC_ID


@pytest.mark.parametrize("tokens", [[ETH, USDC], [WETH, USDC]], ids=["native", "written as wrapped"])
def test_a_v4_pools_id_proves_native_coin_fee_and_no_hooks(tokens):
    market = build({**V4, "tokens": tokens})
    assert [token.address for token in market.tokens] == [NATIVE_ADDRESS, USDC["address"]]
    assert (market.token0.symbol, market.protocol, market.largest_amount) == ("ETH", "uniswap_v4", MAX_AMOUNT_V4)


def test_hooks_that_leave_swaps_alone_are_served():
    hooks = "0x" + "ab" * 18 + "0c00"
    identifier = pool_id(build(V4).tokens, 500, 10, hooks)
    assert build({**V4, "hooks": hooks, "pool_id": identifier}).fee_pips == 500


@pytest.mark.parametrize(
    ("pool", "reason"),
    [
        ({**V4, "hooks": "0x" + "ab" * 18 + "0088"}, "hooks_act_on_swaps"),
        ({**V4, "hooks": "0x" + "ab" * 18 + "0c00"}, "pool_id_of_another_key_or_with_hooks"),
        ({**V4, "fee": "0.003"}, "pool_id_of_another_key_or_with_hooks"),
        ({**V4, "chain_id": 56, "tokens": [WETH, USDC]}, "pool_id_of_another_key_or_with_hooks"),
        ({**V4, "fee": "8.388608"}, "dynamic_fee"),
        ({**V4, "protocol": "uniswap-v4-bunni-v2"}, "unsupported_protocol:uniswap-v4-bunni-v2"),
        ({**POOL, "protocol": "maverick-v1"}, "unsupported_protocol:maverick-v1"),
        ({**POOL, "ticks": None}, "ticks_unknown"),
        ({**POOL, "tick": None}, "tick_unknown"),
        ({**POOL, "sqrt_price_x96": None}, "sqrt_price_x96_unknown"),
        ({**POOL, "liquidity": None}, "liquidity_unknown"),
        ({**POOL, "fee": None}, "fee_unknown"),
        ({**POOL, "protocol": "pancakeswap-v3", "tick_spacing": None}, "tick_spacing_unknown"),
        ({**POOL, "fee": "0.0007", "tick_spacing": None}, "tick_spacing_unknown"),
        ({**POOL, "liquidity": "999"}, "inconsistent_state:liquidity"),
        ({**POOL, "ticks": [[-10, "1000"], [20, "-999"]]}, "inconsistent_state:ticks"),
        ({**POOL, "ticks": [[-10, "1000"]]}, "inconsistent_state:ticks"),
    ],
)
def test_refusals(pool, reason):
    with pytest.raises(PoolRefused) as refused:
        build(pool)
    assert str(refused.value) == reason


def test_a_v4_pool_needs_its_id():
    with pytest.raises(InvalidMarket, match="pool_id: is missing"):
        build({key: value for key, value in V4.items() if key != "pool_id"})


def test_a_damaged_hooks_address_is_an_error():
    with pytest.raises(InvalidMarket, match="hooks: must be 1 to 64 hexadecimal digits"):
        build({**V4, "hooks": "none"})


def test_uniswap_v3s_factory_says_the_spacing_of_a_fee():
    market = build({**POOL, "tick_spacing": None})
    assert (market.tick_spacing, market.largest_amount) == (10, MAX_AMOUNT)
    assert NO_HOOKS == ZERO_ADDRESS


@pytest.mark.parametrize(
    ("protocol", "name"),
    [
        ("Uniswap V3 WBTC/WETH 0.3%", "uniswap_v3"),
        ("pancakeswap_v3", "pancakeswap_v3"),
        ("pancake-v3", "pancakeswap_v3"),
        ("Aerodrome V3 cbETH/WETH (0.01%)", "aerodrome_slipstream"),
    ],
)
def test_protocols_of_the_same_mathematics(protocol, name):
    assert build({**POOL, "protocol": protocol}).protocol == name


TICKS = [[-500, "1000000"], [-100, "2000000"], [-10, "4000000"], [30, "-3000000"], [200, "500000"], [400, "-4500000"]]
WHOLE = {**POOL, "liquidity": "7000000", "ticks": TICKS}
WINDOW = {**WHOLE, "ticks": TICKS[1:5], "ticks_partial": True}


def test_a_window_of_ticks_serves_what_stays_within_it():
    whole, window = build(WHOLE), build(WINDOW)
    for sold, bought in (whole.tokens, whole.tokens[::-1]):
        limit = window.limits(sold, bought).max_amount_in
        assert 10_000 < limit < whole.limits(sold, bought).max_amount_in
        for amount in (10, 1_000, limit // 2, limit - 1, limit):
            within, after = window.swap_exact_in(sold, bought, amount)
            expected, state = whole.swap_exact_in(sold, bought, amount)
            assert within == expected
            assert (after.sqrt_price_x96, after.tick) == (state.sqrt_price_x96, state.tick)
            back, _ = after.swap_exact_in(bought, sold, 100)
            assert back.amount_out == state.swap_exact_in(bought, sold, 100)[0].amount_out
        with pytest.raises(QuoteRefused, match="until the liquidity ends"):
            window.swap_exact_in(sold, bought, limit + 1)
        assert window.curve(sold, bought).x_max == pytest.approx(limit, rel=1e-3)


def test_all_ticks_are_the_same_pool_whether_called_a_window_or_not():
    assert build({**WHOLE, "ticks_partial": True}) == build(WHOLE)


@pytest.mark.parametrize(
    "changes",
    [{"ticks": TICKS[:2]}, {"ticks": TICKS[3:]}, {"ticks": TICKS[2:3]}, {"ticks": []}, {"liquidity": "100"}],
    ids=["below the price", "above the price", "one", "none", "more leaves than there is"],
)
def test_a_window_that_does_not_hold_the_price_is_refused(changes):
    with pytest.raises(PoolRefused, match="inconsistent_state"):
        build({**WINDOW, **changes})
