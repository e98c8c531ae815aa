"""Uniswap v2 and its forks with a fixed fee: pairs of a factory, reserves, and the event Sync."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from adapters.chain.deployments import read_deployments
from adapters.chain.protocol import ChainProtocol, Pool, States, build_states, collect_named, make_market_id
from adapters.chain.tokens import ChainTokens
from adapters.rpc.abi import Event, Function, Log
from adapters.rpc.reading import Reading, ask, ask_each
from routing_engine.markets import ConstantProductPool
from routing_engine.model import ZERO_ADDRESS

GET_PAIR = Function("getPair(address,address)", "address")
GET_RESERVES = Function("getReserves()", "uint112", "uint112")
PAIR_CREATED = Event("PairCreated(address indexed,address indexed,address,uint256)")
SYNC = Event("Sync(uint112,uint112)")


class UniswapV2(ChainProtocol[ConstantProductPool]):
    """One factory's pairs.

    Parameters
    ----------
    name : str
        Of the protocol.
    chain_id : int
        Where it is.
    factory : str
        Address.
    fee_pips : int
        What its pairs keep of the input: a constant of their code.
    """

    creations = (PAIR_CREATED.topic,)
    topics = (SYNC.topic,)

    def __init__(self, name: str, chain_id: int, factory: str, fee_pips: int) -> None:
        self.name = name
        self.factories = (factory,)
        self._chain_id, self._fee_pips = chain_id, fee_pips

    def discover(self, tokens: ChainTokens) -> Reading[tuple[Pool, ...]]:
        """Ask the factory for every pair of listed tokens."""
        return ask_pairs(self.factories[0], tokens)

    def find_created(self, logs: tuple[Log, ...], tokens: ChainTokens) -> Reading[tuple[Pool, ...]]:
        """Read PairCreated."""
        return find_created_pairs(logs, tokens)

    def read(self, pools: tuple[Pool, ...]) -> Reading[States[ConstantProductPool]]:
        """Read the reserves."""
        answers = yield from ask_each(pools, lambda pool: (GET_RESERVES(pool.key),))
        return build_states(
            pools, lambda pool: self._build_state(pool, *answers[pool][0][0].decode(answers[pool][0][1]))
        )

    def apply(self, pool: Pool, state: ConstantProductPool, log: Log) -> ConstantProductPool:
        """Take the reserves from Sync."""
        _, (reserve0, reserve1) = SYNC.decode(log)
        return replace(state, reserve0=reserve0, reserve1=reserve1)

    def _build_state(self, pool: Pool, reserve0: int, reserve1: int) -> ConstantProductPool:
        token0, token1 = pool.tokens
        return ConstantProductPool(
            id=make_market_id(self._chain_id, pool.key),
            protocol=self.name,
            token0=token0,
            token1=token1,
            reserve0=reserve0,
            reserve1=reserve1,
            fee_pips=self._fee_pips,
        )


def ask_pairs(factory: str, tokens: ChainTokens) -> Reading[tuple[Pool, ...]]:
    """Ask a factory for every pair of listed tokens."""
    pairs = tuple(tokens.list_pairs())
    calls = [GET_PAIR(factory, token0.address, token1.address) for token0, token1 in pairs]
    outcomes = yield from ask(calls)
    addresses = [call.decode_one(outcome) for call, outcome in zip(calls, outcomes, strict=True)]
    found = zip(addresses, pairs, strict=True)
    return tuple(Pool(key=address, tokens=pair) for address, pair in found if address != ZERO_ADDRESS)


def find_created_pairs(logs: tuple[Log, ...], tokens: ChainTokens) -> Reading[tuple[Pool, ...]]:
    """Read the pairs of listed tokens off PairCreated."""

    def find_pool(log: Log) -> Pool | None:
        addresses, (pair, _) = PAIR_CREATED.decode(log)
        found = tokens.find_all(addresses)
        return Pool(key=pair, tokens=found) if found else None

    return collect_named(logs, find_pool)


def find_deployments(chain_id: int) -> Iterator[UniswapV2]:
    """Return Uniswap v2, SushiSwap and PancakeSwap v2 where they are."""
    for facts in read_deployments("uniswap_v2", chain_id):
        yield UniswapV2(facts.get_text("name"), chain_id, facts.get_address("factory"), facts.get_number("fee_pips"))
