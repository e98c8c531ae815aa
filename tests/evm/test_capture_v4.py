"""Uniswap v4 read from a chain: after every step the engine quotes what the quoter does."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from adapters.chain.adapter import OnChainAdapter
from adapters.chain.tokens import ChainTokens
from adapters.dexes.uniswap_v4 import UniswapV4
from adapters.rpc.endpoint_pool import RpcPool
from routing_engine.formats import Contents
from routing_engine.markets.concentrated.pool_key import pool_id
from tests.support.capture import ONE_TO_ONE, Counting, quoted
from tests.support.chain import Chain, running_chain
from tests.support.evm import Reverted
from tests.support.uniswap_v4 import V4, V4Pool

AMOUNTS = (1, 10**6, 10**15 + 3, 10**18, 10**20)
DEEP = 10**20
HOOK_AROUND_SWAPS = "0x" + "0" * 38 + "80"


@pytest.fixture(scope="module")
def chain() -> Iterator[Chain]:
    with running_chain(1) as found:
        yield found


def ask(pool: V4Pool, zero_for_one: bool, amount: int) -> int:
    try:
        return pool.quote(zero_for_one, amount, exact_in=True)
    except Reverted:
        return 0


def check_quotes(pools: dict[str, V4Pool], contents: Contents) -> int:
    """Compare every market, in both directions, with the quoter."""
    compared = 0
    assert {market.id for market in contents.markets} == {f"1:{key}" for key in pools}
    for market in contents.markets:
        pool = pools[market.id.partition(":")[2]]
        for zero_for_one in (True, False):
            tokens = market.tokens if zero_for_one else market.tokens[::-1]
            for amount in AMOUNTS:
                told = quoted(market, *tokens, amount)
                assert (told or 0) == ask(pool, zero_for_one, amount), (market.id, amount)
                compared += told is not None
    return compared


def test_every_step_is_followed_to_the_unit(chain, record_property):
    v4 = V4.deploy(chain)
    found = [
        v4.create(3000, 60, ONE_TO_ONE, native=True, protocol_fees=(0, 0)),
        v4.create(500, 10, ONE_TO_ONE // 3, native=False, protocol_fees=(250, 1000)),
        v4.create(10_000, 200, ONE_TO_ONE * 5, native=False, protocol_fees=(0, 0)),
    ]
    for pool in found:
        spacing = pool.key[3]
        for step in (3, 11):
            pool.provide(-200 * step * spacing, 300 * step * spacing, DEEP * step)
    pools = {pool_id(pool.tokens, *pool.key[2:4]): pool for pool in found}
    tokens = {token.address: token for pool in found for token in pool.tokens}
    counting = Counting()
    rpc = RpcPool(1, [chain.url], clock=chain.now)
    protocol = UniswapV4(1, v4.manager.address.lower(), v4.view.address.lower())
    adapter = OnChainAdapter(rpc, [protocol], ChainTokens(tokens.values()), wrap=counting)
    compared = check_quotes(pools, adapter.parse(adapter.fetch()))
    native, charged, _ = found

    def take_away() -> None:
        v4.liquidity_router("modifyLiquidity", native.key, (-36_000, 54_000, -DEEP, bytes(32)), b"")

    steps = {
        "a swap of the native coin": lambda: native.trade(True, 10**18, exact_in=True),
        "a swap with protocol fees": lambda: charged.trade(False, 10**19, exact_in=True),
        "liquidity between new ticks": lambda: native.provide(-600, 660, DEEP),
        "a swap across them": lambda: native.trade(False, 4 * 10**18, exact_in=True),
        "liquidity taken away": take_away,
        "another protocol fee": lambda: v4.manager("setProtocolFee", charged.key, 77 | 88 << 12),
    }
    for name, step in steps.items():
        step()
        contents = adapter.parse(adapter.fetch())
        assert counting.calls == 0, f"{name}: events tell everything, yet calls were made"
        compared += check_quotes(pools, contents)

    unusual = (*charged.key[:2], 1234, 7, "0x" + "0" * 40)
    v4.manager("initialize", unusual, ONE_TO_ONE)
    pools[pool_id(charged.tokens, 1234, 7)] = V4Pool(v4, unusual, (0, 0), set())
    pools[pool_id(charged.tokens, 1234, 7)].provide(-700, 700, DEEP)
    compared += check_quotes(pools, adapter.parse(adapter.fetch()))
    assert counting.calls <= 6, "only the new pool is read"
    anew = OnChainAdapter(rpc, [protocol], ChainTokens(tokens.values()))
    compared += check_quotes(pools, anew.parse(anew.fetch()))
    v4.manager("initialize", (*charged.key[:2], 3000, 60, HOOK_AROUND_SWAPS), ONE_TO_ONE)
    check_quotes(pools, adapter.parse(adapter.fetch()))
    assert counting.calls == 0, "nobody can foresee swaps that a hook acts on"
    record_property("evm_cases", ("quotes of Uniswap v4 after capture and events", compared))
