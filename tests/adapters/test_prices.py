"""Dollar prices: which feeds are believed, and which pools are not."""

from __future__ import annotations

import pytest

from adapters.base import Source
from adapters.chain import price_feeds
from adapters.chain.adapter import OnChainAdapter
from adapters.chain.price_feeds import (
    DECIMALS,
    LATEST_ROUND,
    MAX_AGE_S,
    PriceBook,
    PriceFeed,
    estimate_native_price,
    find_feeds,
    find_off_price,
)
from adapters.chain.tokens import ChainTokens
from adapters.dexes import uniswap_v2
from adapters.dexes.uniswap_v2 import UniswapV2
from adapters.feed.feed import Feed as Reader
from adapters.rpc.endpoint_pool import RpcPool
from routing_engine.markets import ConstantProductPool, NativeWrap
from routing_engine.model import Token
from routing_engine.reference.chains import CHAINS
from tests.support.nodes import NOW, Network
from tests.support.scripts import Script, address

WETH = CHAINS[1].wrapped_native_token
USDC = Token(chain_id=1, address=address(0xC), symbol="USDC", decimals=6)
ODD = Token(chain_id=1, address=address(0xD), symbol="ODD", decimals=18)
ETH_FEED, USDC_FEED = PriceFeed("ETH/USD", address(0xE1), ("WETH",)), PriceFeed("USDC/USD", address(0xE2), ("USDC",))
FACTORY = address(0xFA)
BOOK = PriceBook(read_at=NOW, dollars={WETH: 3000.0, USDC: 1.0})


def pool(
    key: int, price: float, tokens: tuple[Token, Token] = (USDC, WETH), fee_pips: int = 3000
) -> ConstantProductPool:
    """Return a pool in which the second token costs `price` of the first."""
    first, second = tokens
    reserve1 = 1000 * 10**second.decimals
    return ConstantProductPool(
        id=f"1:{address(key)}",
        protocol="uniswap_v2",
        token0=first,
        token1=second,
        reserve0=int(1000 * price * 10**first.decimals),
        reserve1=reserve1,
        fee_pips=fee_pips,
    )


@pytest.mark.parametrize(
    ("price", "is_off"),
    [(3000, False), (3290, False), (2730, False), (3310, True), (2720, True), (1, True), (9_000_000, True)],
)
@pytest.mark.parametrize("fee_pips", [0, 100_000])
def test_pools_far_off_the_feeds_are_named_whatever_they_charge(price, is_off, fee_pips):
    market = pool(1, price, fee_pips=fee_pips)
    found = find_off_price([market], BOOK)
    assert set(found) == ({market.id} if is_off else set())
    if is_off:
        assert found[market.id] == pytest.approx(max(price / 3000, 3000 / price))


def test_pools_of_tokens_without_a_feed_are_left_alone():
    assert find_off_price([pool(1, 5, (ODD, WETH)), NativeWrap.of(CHAINS[1])], BOOK) == {}


def test_the_coin_costs_what_its_pools_say():
    markets = [pool(1, 2990), pool(2, 3010), pool(3, 50_000), pool(4, 7, (ODD, WETH))]
    assert estimate_native_price(markets, BOOK, 1) == pytest.approx(3010)
    assert estimate_native_price([], BOOK, 1) is None
    assert estimate_native_price(markets, BOOK, 999) is None


class Chain(Script):
    """A chain with two feeds and v2 pairs of WETH and USDC, and of ODD."""

    def __init__(self) -> None:
        super().__init__(WETH, USDC, ODD)
        self.default(uniswap_v2.GET_PAIR, FACTORY, address(0))
        self.on(uniswap_v2.GET_PAIR(FACTORY, USDC.address, WETH.address), address(0xA))
        self.on(uniswap_v2.GET_PAIR(FACTORY, ODD.address, WETH.address), address(0xB))
        self.reserves(0xA, 3000)
        self.reserves(0xB, 5, ODD.decimals)
        for feed, price in ((ETH_FEED, 3000), (USDC_FEED, 1)):
            self.on(DECIMALS(feed.address), 8)
            self.say(feed, price * 10**8)

    def reserves(self, key: int, price: int, decimals: int = 6) -> None:
        self.on(uniswap_v2.GET_RESERVES(address(key)), 1000 * price * 10**decimals, 1000 * 10**18)

    def say(self, feed: PriceFeed, answer: int, age_s: int = 60) -> None:
        self.on(LATEST_ROUND(feed.address), 7, answer, 0, self.timestamp - age_s, 7)

    def adapter(self) -> OnChainAdapter:
        network = Network(node=self)
        rpc = RpcPool(1, network.urls, client=network, clock=lambda: self.timestamp, sleep=lambda _: None)
        protocol = UniswapV2("uniswap_v2", 1, FACTORY, 3000)
        return OnChainAdapter(rpc, [protocol], ChainTokens(self.tokens), feeds=(ETH_FEED, USDC_FEED))


def ids(adapter: OnChainAdapter) -> set[str]:
    return {market.id for market in adapter.parse(adapter.fetch()).markets}


def test_a_pool_goes_into_quarantine_and_comes_back():
    chain = Chain()
    adapter = chain.adapter()
    both = {f"1:{address(key)}" for key in (0xA, 0xB)}
    assert ids(adapter) == both
    chain.emit(uniswap_v2.SYNC, address(0xA), [], [10**9, 1000 * 10**18])
    contents = adapter.parse(adapter.fetch())
    assert {market.id for market in contents.markets} == {f"1:{address(0xB)}"}
    assert contents.refused == {"uniswap_v2:price_off": 1}
    assert contents.withdrawn == (f"1:{address(0xA)}",)
    assert adapter.memory.quarantined[f"1:{address(0xA)}"] == pytest.approx(3000)
    chain.emit(uniswap_v2.SYNC, address(0xA), [], [3 * 10**12 + 7, 1000 * 10**18])
    assert ids(adapter) == both


def test_quarantine_reaches_the_feeds_report_and_the_log_once(caplog):
    chain = Chain()
    feed = Reader([Source(adapter=chain.adapter(), interval_s=12, max_age_s=60)], clock=lambda: chain.timestamp)
    feed.read_all()
    chain.emit(uniswap_v2.SYNC, address(0xA), [], [10**9, 1000 * 10**18])
    for _ in range(2):
        state = feed.read_all()
        assert set(state.snapshot.markets) == {f"1:{address(0xB)}"}
        assert state.sources[0].refused == {"uniswap_v2:price_off": 1}
        chain.mine()
    told = [record.getMessage() for record in caplog.records]
    assert told == [f"chain@1: market 1:{address(0xA)} is left out: off the feeds' prices by a factor of 3e+03"]


def test_a_price_that_moves_moves_the_bound_within_a_minute():
    chain = Chain()
    adapter = chain.adapter()
    assert len(ids(adapter)) == 2
    chain.say(ETH_FEED, 4000 * 10**8)
    chain.mine()
    assert len(ids(adapter)) == 2
    chain.timestamp += 60
    chain.mine()
    assert len(ids(adapter)) == 1


FAULTS = {
    "too old": lambda chain: chain.say(ETH_FEED, 10**8, age_s=MAX_AGE_S + 1),
    "of the future": lambda chain: chain.say(ETH_FEED, 10**8, age_s=-3600),
    "zero": lambda chain: chain.say(ETH_FEED, 0),
    "negative": lambda chain: chain.say(ETH_FEED, -5),
    "enormous": lambda chain: chain.say(ETH_FEED, 2**180),
    "of too many decimals": lambda chain: chain.on(DECIMALS(ETH_FEED.address), 200),
    "reverting": lambda chain: chain.refuse(LATEST_ROUND(ETH_FEED.address)),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_a_feed_that_cannot_be_believed_condemns_no_pool(fault):
    chain = Chain()
    fault(chain)
    adapter = chain.adapter()
    assert len(ids(adapter)) == 2
    assert set(adapter.memory.book.faults) == {"ETH/USD"}
    assert adapter.memory.book.dollars == {USDC: 1.0}


@pytest.mark.parametrize("chain_id", [1, 10, 137, 8453, 42161])
def test_every_described_chain_has_feeds_for_its_coin_and_a_dollar(chain_id):
    symbols = {symbol for feed in find_feeds(chain_id) for symbol in feed.symbols}
    assert {CHAINS[chain_id].wrapped_native_symbol, "USDC"} <= symbols
    assert price_feeds.BOUND < 1
