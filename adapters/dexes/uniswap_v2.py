"""Uniswap v2 and its forks with a fixed fee: pairs of a factory, reserves, and the event Sync."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from adapters.chain.deployments import read_deployments
from adapters.chain.protocol import Pool, State, States, build_states, make_market_id
from adapters.chain.tokens import ChainTokens
from adapters.dexes.factory import FactoryProtocol, PoolFacts
from adapters.rpc.abi import Event, Function, Log
from adapters.rpc.reading import Reading, ask_each
from routing_engine.markets import ConstantProductPool

GET_PAIR = Function("getPair(address,address)", "address")
GET_RESERVES = Function("getReserves()", "uint112", "uint112")
PAIR_CREATED = Event("PairCreated(address indexed,address indexed,address,uint256)")
SYNC = Event("Sync(uint112,uint112)")


class PairFactoryProtocol(FactoryProtocol[State]):
    """Pairs of a factory that keeps to Uniswap v2's interface."""

    creations = (PAIR_CREATED.topic,)

    def discover(self, tokens: ChainTokens) -> Reading[tuple[Pool, ...]]:
        """Ask the factory for every pair of listed tokens."""
        return self.ask_pools(GET_PAIR, tokens, [((), ())])

    def read_created(self, log: Log) -> tuple[str, Sequence[str], PoolFacts]:
        """Read PairCreated."""
        addresses, (pair, _) = PAIR_CREATED.decode(log)
        return pair, addresses, ()


class UniswapV2(PairFactoryProtocol[ConstantProductPool]):
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

    topics = (SYNC.topic,)

    def __init__(self, name: str, chain_id: int, factory: str, fee_pips: int) -> None:
        super().__init__(name, chain_id, factory)
        self._fee_pips = fee_pips

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
            id=make_market_id(self.chain_id, pool.key),
            protocol=self.name,
            token0=token0,
            token1=token1,
            reserve0=reserve0,
            reserve1=reserve1,
            fee_pips=self._fee_pips,
        )


def find_deployments(chain_id: int) -> Iterator[UniswapV2]:
    """Return Uniswap v2, SushiSwap and PancakeSwap v2 where they are."""
    for facts in read_deployments("uniswap_v2", chain_id):
        yield UniswapV2(facts.get_text("name"), chain_id, facts.get_address("factory"), facts.get_number("fee_pips"))
