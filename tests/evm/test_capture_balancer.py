"""Balancer v2 read from a chain: after every step the engine quotes what the vault does."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from adapters.chain.adapter import OnChainAdapter
from adapters.chain.tokens import ChainTokens
from adapters.dexes.balancer_v2 import BalancerV2
from adapters.rpc.endpoint_pool import RpcPool
from routing_engine.fixed_point import WAD
from routing_engine.formats import Contents
from routing_engine.model import Token
from tests.support.balancer import GIVEN_IN, NOBODY, Pool, Vault, compiled, linked
from tests.support.capture import Counting, quoted
from tests.support.chain import Chain, running_chain
from tests.support.evm import ACTOR, Contract, Reverted

# One process, so that its chains run once, not once in each.
pytestmark = pytest.mark.xdist_group("capture balancer")

ABI = "20230206-weighted-pool-v3/WeightedPool"
DECIMALS = (6, 8, 18)
FEE = 3 * 10**15
HOUR = 3600
FACTORIES = {
    "weighted_first": "deprecated/20210418-weighted-pool/WeightedPoolFactory",
    "weighted": "20230206-weighted-pool-v3/WeightedPoolFactory",
    "stable_first": "deprecated/20210624-stable-pool/StablePoolFactory",
    "meta_stable": "deprecated/20210727-meta-stable-pool/MetaStablePoolFactory",
    "phantom_stable": "deprecated/20211208-stable-phantom-pool/StablePhantomPoolFactory",
    "composable_stable": "20230206-composable-stable-pool-v3/ComposableStablePoolFactory",
}


def answering(number: int) -> bytes:
    """Return code that answers every call with one number."""
    return bytes.fromhex("7f") + number.to_bytes(32) + bytes.fromhex("5f5260205ff3")


class Venue:
    """A vault with a pool of every kind, each of the same three tokens, or of two."""

    def __init__(self, chain: Chain) -> None:
        self.chain, self.vault = chain, Vault.deploy(chain)
        self.contracts = self.vault.tokens(DECIMALS)
        self.factories = {name: self._factory(name) for name in FACTORIES}
        self.provider = "0x" + "7" * 40
        chain.set_code(self.provider, answering(11 * WAD // 10))
        self.pools = {name: self.create(name) for name in FACTORIES}
        for name, pool in self.pools.items():
            self.fill(name, pool)

    @property
    def tokens(self) -> list[Token]:
        return [
            Token(chain_id=1, address=contract.address.lower(), symbol="TST", decimals=decimals)
            for contract, decimals in self.contracts
        ]

    def _factory(self, name: str) -> Contract:
        code, arguments = compiled(FACTORIES[name]), [self.vault.contract.address]
        if name in ("weighted", "composable_stable"):
            arguments += [self.vault.fee_provider().address, "1", "1"]
        if name == "meta_stable":
            library = self.chain.deploy(compiled("deprecated/20210727-meta-stable-pool/QueryProcessor"))
            code = linked(code, QueryProcessor=library.address)
        return self.chain.deploy(code, *arguments)

    def create(self, name: str) -> Pool:
        """Let a factory create an empty pool."""
        tokens = self._held(name)
        addresses = [contract.address for contract, _ in tokens]
        providers = [[self.provider, *[NOBODY] * (len(tokens) - 1)], [HOUR] * len(tokens)]
        shape = {
            "weighted_first": [[WAD // 2, WAD // 5, 3 * WAD // 10], FEE],
            "weighted": [[WAD // 4, WAD // 4, WAD // 2], [NOBODY] * 3, FEE],
            "stable_first": [200, FEE],
            "meta_stable": [200, *providers, FEE, False],
            "phantom_stable": [200, *providers, FEE],
            "composable_stable": [200, *providers, [False] * 3, FEE],
        }[name]
        return self.vault.pool(self.factories[name]("create", "P", "P", addresses, *shape, ACTOR), ABI)

    def fill(self, name: str, pool: Pool) -> None:
        """Provide a new pool with a thousand of each token."""
        held = {contract.address.lower(): 10**decimals * 1000 for contract, decimals in self._held(name)}
        registered = self.vault.contract("getPoolTokens", pool.id)[0]
        pool.join(registered, [held.get(address.lower(), 0) for address in registered])

    def _held(self, name: str) -> list[tuple[Contract, int]]:
        return self.contracts[:2] if name == "meta_stable" else self.contracts

    def wait(self, seconds: int) -> None:
        """Let time pass on the chain."""
        self.chain.rpc("evm_increaseTime", seconds)
        self.chain.mine()

    def check(self, contents: Contents) -> int:
        """Compare every market in every direction with the vault."""
        compared = 0
        pools = {f"1:{pool.contract.address.lower()}": pool for pool in self.pools.values()}
        assert {market.id for market in contents.markets} == set(pools)
        for market in contents.markets:
            for sold, bought in market.edges():
                for whole in (0.001, 1, 150):
                    amount = int(whole * 10**sold.decimals)
                    try:
                        wanted = pools[market.id].ask(GIVEN_IN, sold, bought, amount)
                    except Reverted:
                        wanted = 0
                    assert (quoted(market, sold, bought, amount) or 0) == wanted, (market, amount)
                    compared += wanted > 0
        return compared


@pytest.fixture(scope="module")
def deployed() -> Iterator[Venue]:
    with running_chain(1) as chain:
        yield Venue(chain)


@pytest.fixture
def venue(deployed: Venue) -> Iterator[Venue]:
    with deployed.chain.undone():
        yield deployed


def test_every_step_is_followed_to_the_unit(venue, record_property):
    adapter, _ = adapter_on(venue, *FACTORIES)
    compared = venue.check(adapter.parse(adapter.fetch()))
    first, second, third = venue.tokens
    weighted, composable = venue.pools["weighted"], venue.pools["composable_stable"]
    steps = {
        "an empty block": venue.chain.mine,
        "a swap": lambda: weighted.swap(GIVEN_IN, first, third, 10 * 10**first.decimals),
        "a stable swap": lambda: composable.swap(GIVEN_IN, third, second, 10 * 10**third.decimals),
        "another fee": lambda: weighted.contract("setSwapFeePercentage", 10**16),
        "another rate, while the old one is cached": lambda: venue.chain.set_code(venue.provider, answering(2 * WAD)),
        "the cache expires": lambda: venue.wait(2 * HOUR),
        "a swap renews it": lambda: composable.swap(GIVEN_IN, third, second, 10**third.decimals),
    }
    for step in steps.values():
        step()
        compared += venue.check(adapter.parse(adapter.fetch()))
    record_property("evm_cases", ("quotes of Balancer's vault after capture and events", compared))
    weighted_before = {m.id: m for m in adapter.parse(adapter.fetch()).markets}
    venue.chain.mine()
    assert all(weighted_before[m.id] is m for m in adapter.parse(adapter.fetch()).markets), "nothing has changed"


def adapter_on(venue: Venue, *names: str) -> tuple[OnChainAdapter, Counting]:
    """Return an adapter that knows these factories, and the counter of what it asks."""
    kinds = {venue.factories[name].address.lower(): name for name in names}
    protocol = BalancerV2(1, venue.vault.contract.address.lower(), kinds)
    rpc, counting = RpcPool(1, [venue.chain.url], clock=venue.chain.now), Counting()
    return OnChainAdapter(rpc, [protocol], ChainTokens(venue.tokens), wrap=counting), counting


def test_a_new_pool_is_found_by_its_event(venue):
    adapter, counting = adapter_on(venue, "weighted", "meta_stable")
    before = {market.id for market in adapter.parse(adapter.fetch()).markets}
    pool = venue.create("weighted")
    first, second, _ = venue.tokens
    amount = 10**first.decimals
    for step in ("created", "filled"):
        if step == "filled":
            venue.fill("weighted", pool)
        markets = {market.id: market for market in adapter.parse(adapter.fetch()).markets}
        assert counting.calls < 30, "only the new pool is read, and the rates of stable ones"
        (new,) = markets.keys() - before
        assert new == f"1:{pool.contract.address.lower()}"
        wanted = pool.ask(GIVEN_IN, first, second, amount) if step == "filled" else None
        assert quoted(markets[new], first, second, amount) == wanted


def test_a_paused_pool_is_left_out(venue):
    adapter, _ = adapter_on(venue, "weighted")
    pool = venue.pools["weighted"].contract
    authorizer = compiled("20210418-authorizer/Authorizer")["abi"]
    granted = venue.chain.at(venue.vault.contract("getAuthorizer"), authorizer)
    for name in ("pause", "unpause"):
        granted("grantRole", pool("getActionId", pool.functions[name].selector), ACTOR)
    pool("pause")
    assert adapter.parse(adapter.fetch()).refused == {"balancer_v2:paused": 1}
    pool("unpause")
    assert len(adapter.parse(adapter.fetch()).markets) == 1
