"""The chain and gas adapters conform: whatever an endpoint answers, only `AdapterError` comes out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from adapters.chain import gas, price_feeds
from adapters.chain.adapter import OnChainAdapter
from adapters.chain.gas import GasAdapter
from adapters.chain.price_feeds import PriceFeed
from adapters.chain.tokens import ChainTokens
from adapters.dexes import uniswap_v2, uniswap_v3
from adapters.dexes.uniswap_v2 import UniswapV2
from adapters.dexes.uniswap_v3 import UniswapV3
from adapters.rpc.endpoint_pool import RpcPool
from adapters.testing import check_adapter
from routing_engine.model import ZERO_ADDRESS
from tests.support.nodes import Network
from tests.support.scripts import Script, address, token

V2, V3, PAIR, POOL, FEED = (address(number) for number in (0xF2, 0xF3, 0xA2, 0xA3, 0xFE))
TOKENS = (token(1), token(2))
URL = "https://node/"
GWEI = 10**9


class Recording(Network):
    """Keeps every answer by its question, as `ReplayClient` takes them."""

    def __init__(self, script: Script) -> None:
        super().__init__(node=script)
        self.answers: dict[str, Any] = {}

    def post(self, url: str, body: object) -> Any:
        answer = super().post(url, body)
        self.answers[f"POST {url} {json.dumps(body, separators=(',', ':'))}"] = answer
        return answer


def chain() -> Script:
    """A chain with a v2 pair, a v3 pool and a price feed."""
    script = Script(*TOKENS)
    script.on(uniswap_v2.GET_PAIR(V2, *(each.address for each in TOKENS)), PAIR)
    script.on(uniswap_v2.GET_RESERVES(PAIR), 10**24, 10**24)
    script.default(uniswap_v3.SPACING_OF, V3, 0)
    script.on(uniswap_v3.SPACING_OF(V3, 10_000), 200)
    script.default(uniswap_v3.GET_POOL, V3, ZERO_ADDRESS)
    script.on(uniswap_v3.GET_POOL(V3, *(each.address for each in TOKENS), 10_000), POOL)
    script.on(uniswap_v3.SLOT0(POOL), 2**96, 0)
    script.on(uniswap_v3.LIQUIDITY(POOL), 10**21)
    script.default(uniswap_v3.TICK_BITMAP, POOL, 0)
    script.on(uniswap_v3.TICK_BITMAP(POOL, -1), 1 << 255)
    script.on(uniswap_v3.TICK_BITMAP(POOL, 0), 1 << 1)
    script.on(uniswap_v3.TICKS(POOL, -200), 10**21, 10**21)
    script.on(uniswap_v3.TICKS(POOL, 200), 10**21, -(10**21))
    script.on(price_feeds.LATEST_ROUND(FEED), 1, 10**8, 0, script.timestamp, 1)
    script.on(price_feeds.DECIMALS(FEED), 8)
    return script


def pool_on(client: Any, chain_id: int, script: Script) -> RpcPool:
    return RpcPool(chain_id, [URL], client=client, clock=lambda: script.timestamp, sleep=lambda _: None)


def test_reading_a_chain_conforms():
    script = chain()
    recording = Recording(script)

    def make(client: Any) -> OnChainAdapter:
        protocols = (UniswapV2("uniswap_v2", 1, V2, 3000), UniswapV3("uniswap_v3", 1, V3))
        feeds = (PriceFeed("T1/USD", FEED, ("T1", "T2")),)
        return OnChainAdapter(pool_on(client, 1, script), protocols, ChainTokens(TOKENS), feeds=feeds)

    adapter = make(recording)
    assert {market.protocol for market in adapter.parse(adapter.fetch()).markets} == {"uniswap_v2", "uniswap_v3"}
    contents = check_adapter(make, recording.answers, changes=200, rounding_units=64)
    assert len(contents.markets) == 2


@pytest.mark.parametrize("chain_id", [1, 10, 42161])
def test_gas_prices_conform(chain_id):
    script = Script(chain_id=chain_id)
    script.on(gas.L1_FEE_UPPER_BOUND(gas.GAS_PRICE_ORACLE, gas.TYPICAL_BYTES), 10**12)
    script.on(gas.PRICES_IN_WEI(gas.ARB_GAS_INFO), 1, 10**6)
    known = script._result
    history = {"baseFeePerGas": [hex(GWEI), hex(2 * GWEI)], "reward": [[hex(GWEI)]]}
    script._result = lambda method, given: history if method == "eth_feeHistory" else known(method, given)
    recording = Recording(script)

    def make(client: Any) -> GasAdapter:
        return GasAdapter(pool_on(client, chain_id, script))

    make(recording).fetch()
    assert check_adapter(make, recording.answers).gas_prices[chain_id] >= 3 * GWEI
