"""Chains with real pools on them, and the adapter that reads them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from adapters.chain.adapter import OnChainAdapter
from adapters.chain.protocol import AnyProtocol
from adapters.chain.tokens import ChainTokens
from adapters.dexes.uniswap_v2 import UniswapV2
from adapters.dexes.uniswap_v3 import UniswapV3
from adapters.http.client import JsonClient
from adapters.rpc.block import Block
from adapters.rpc.endpoint_pool import RPC_LIMITS, RpcPool
from adapters.rpc.reading import Reply, Request, Responder
from routing_engine.errors import QuoteRefused
from routing_engine.market import Market
from routing_engine.model import Hop, Token
from tests.support.chain import Chain, running_chain
from tests.support.evm import ACTOR, FOREVER, Contract, Reverted
from tests.support.uniswap import V2, V3, V3Pool, _v2_periphery, _v3_core

SUPPLY = 2**200
ONE_TO_ONE = 2**96
FURTHER_TIERS = {100: 1}
"""Tick spacings of fees that were enabled after the factory's deployment."""


class Counting:
    """Counts what is asked of a chain."""

    def __init__(self) -> None:
        self.calls = self.filters = 0

    def __call__(self, responder: Responder, _: Block) -> Responder:
        self._responder = responder
        self.calls = self.filters = 0
        return self

    def answer(self, request: Request) -> Reply:
        self.calls += len(request.calls)
        self.filters += len(request.filters)
        return self._responder.answer(request)


def tokens_of(chain: Chain, number: int) -> list[Contract]:
    """Deploy tokens, in the order in which pools sort them; the actor holds them all."""
    compiled = _v2_periphery("ERC20")
    return sorted((chain.deploy(compiled, SUPPLY) for _ in range(number)), key=lambda each: int(each.address, 16))


def described(chain: Chain, contract: Contract) -> Token:
    """Return the engine's token for a deployed one."""
    return Token(chain_id=chain.chain_id, address=contract.address.lower(), symbol="TT", decimals=18)


@dataclass
class Uniswap:
    """One chain with Uniswap v2 and v3, three tokens, and pools between them."""

    chain: Chain
    v2: V2
    v3: V3
    contracts: list[Contract]
    pairs: dict[str, tuple[Contract, Contract]] = field(default_factory=dict)
    pools: dict[str, V3Pool] = field(default_factory=dict)

    @classmethod
    def deploy(cls, chain: Chain) -> Uniswap:
        v2, v3 = V2.deploy(chain), V3.deploy(chain)
        found = cls(chain, v2, v3, tokens_of(chain, 3))
        with chain.one_block():
            for contract in found.contracts:
                for spender in (v2.router, v3.router, v3.positions):
                    contract("approve", spender.address, 2**256 - 1)
        return found

    @contextmanager
    def lent(self) -> Iterator[Uniswap]:
        """Yield the same chain for a test, and take back whatever it does."""
        with self.chain.undone():
            yield replace(self, pairs=dict(self.pairs), pools=dict(self.pools))

    @property
    def tokens(self) -> list[Token]:
        return [described(self.chain, contract) for contract in self.contracts]

    def protocols(self) -> list[AnyProtocol]:
        chain_id = self.chain.chain_id
        return [
            UniswapV2("uniswap_v2", chain_id, self.v2.factory.address.lower(), 3000),
            UniswapV3("uniswap_v3", chain_id, self.v3.factory.address.lower()),
        ]

    def add_pair(self, first: int, second: int, reserve0: int, reserve1: int) -> str:
        """Create a v2 pair; return the key of its pool."""
        token0, token1 = self.contracts[first], self.contracts[second]
        key = self.v2.pair(token0, token1, reserve0, reserve1).address.lower()
        self.pairs[key] = (token0, token1)
        return key

    def add_pool(self, first: int, second: int, fee_pips: int, sqrt_price_x96: int = ONE_TO_ONE) -> V3Pool:
        """Create an empty v3 pool."""
        token0, token1 = self.contracts[first], self.contracts[second]
        if self.v3.factory("feeAmountTickSpacing", fee_pips) == 0:
            self.v3.factory("enableFeeAmount", fee_pips, FURTHER_TIERS[fee_pips])
        pair = (token0.address, token1.address, fee_pips)
        address = self.v3.positions("createAndInitializePoolIfNecessary", *pair, sqrt_price_x96)
        contract = self.chain.at(address, _v3_core("UniswapV3Pool")["abi"])
        pool = V3Pool(self.v3, contract, token0, token1, fee_pips, set())
        self.pools[address.lower()] = pool
        return pool

    def ask(self, market: Market, token_in: Token, amount: int) -> int | None:
        """Return what the contracts would give, or None where they refuse."""
        key = market.id.partition(":")[2]
        zero_for_one = token_in == market.tokens[0]
        try:
            if key in self.pools:
                return self.pools[key].quote(zero_for_one, amount, exact_in=True)[0]
            path = [token.address for token in self.pairs[key]]
            return self.v2.router("getAmountsOut", amount, path if zero_for_one else path[::-1])[1]
        except Reverted:
            return None

    def execute(self, hop: Hop) -> int:
        """Do a hop for real; return what it gave."""
        key = hop.market_id.partition(":")[2]
        path = [hop.token_in.address, hop.token_out.address]
        if key in self.pairs:
            return self.v2.router("swapExactTokensForTokens", hop.amount_in, 0, path, ACTOR, FOREVER)[1]
        order = (*path, self.pools[key].fee_pips, ACTOR, FOREVER, hop.amount_in, 0, 0)
        return self.v3.router("exactInputSingle", order)


def adapter_of(venue: Uniswap, counting: Counting | None = None) -> OnChainAdapter:
    """Return an adapter that reads a venue over its chain's RPC."""
    rpc = RpcPool(venue.chain.chain_id, [venue.chain.url], client=JsonClient(limits=RPC_LIMITS), clock=venue.chain.now)
    options = {"wrap": counting} if counting else {}
    return OnChainAdapter(rpc, venue.protocols(), ChainTokens(venue.tokens), **options)


def quoted(market: Market, token_in: Token, token_out: Token, amount: int) -> int | None:
    """Return what the engine says a market gives, or None where it declines."""
    try:
        return market.swap_exact_in(token_in, token_out, amount)[0].amount_out
    except QuoteRefused:
        return None


@contextmanager
def running_uniswap(chain_id: int) -> Iterator[Uniswap]:
    """Run a chain with Uniswap on it."""
    with running_chain(chain_id) as chain:
        yield Uniswap.deploy(chain)
