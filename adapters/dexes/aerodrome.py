"""Aerodrome and Velodrome v2: volatile and stable pools of a factory, which sets their fees."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from adapters.chain.deployments import read_deployments
from adapters.chain.protocol import Pool, Refused, States, build_states, make_market_id
from adapters.chain.tokens import ChainTokens
from adapters.dexes.factory import FactoryProtocol, PoolFacts
from adapters.rpc.abi import Event, Function, Log
from adapters.rpc.reading import Reading, ask, ask_each
from routing_engine.fixed_point import PIPS
from routing_engine.markets import Fork, SolidlyPool

GET_POOL = Function("getPool(address,address,bool)", "address")
GET_FEE = Function("getFee(address,bool)", "uint256")
USUAL_FEES = (Function("volatileFee()", "uint256"), Function("stableFee()", "uint256"))
IS_PAUSED = Function("isPaused()", "bool")
GET_RESERVES = Function("getReserves()", "uint256", "uint256")

POOL_CREATED = Event("PoolCreated(address indexed,address indexed,bool indexed,address,uint256)")
CUSTOM_FEE = Event("SetCustomFee(address indexed,uint256)")
SYNC = Event("Sync(uint256,uint256)")

PIPS_PER_UNIT = PIPS // 10_000
"""Factories count fees in 1/10000."""


@dataclass(frozen=True, slots=True)
class SolidlyState:
    """A pool, and its factory's usual fee when the pool's own was read."""

    market: SolidlyPool
    usual_fee: int


class Aerodrome(FactoryProtocol[SolidlyState]):
    """One factory's pools; a pool's fact is 1 if it is stable."""

    creations = (POOL_CREATED.topic,)
    topics = (SYNC.topic, CUSTOM_FEE.topic)

    def list_emitters(self, pool: Pool) -> tuple[str, ...]:
        """Return the pool and the factory."""
        return pool.key, self.factory

    def read_key(self, log: Log) -> str:
        """Return the pool, which the factory names."""
        return "0x" + log.topics[1][-40:] if log.address == self.factory and len(log.topics) > 1 else log.address

    def discover(self, tokens: ChainTokens) -> Reading[tuple[Pool, ...]]:
        """Ask the factory for both pools of every pair of listed tokens."""
        return self.ask_pools(GET_POOL, tokens, [((stable,), (int(stable),)) for stable in (False, True)])

    def read_created(self, log: Log) -> tuple[str, Sequence[str], PoolFacts]:
        """Read PoolCreated."""
        (*addresses, stable), (pool, _) = POOL_CREATED.decode(log)
        return pool, addresses, (int(stable),)

    def read(self, pools: tuple[Pool, ...]) -> Reading[States[SolidlyState]]:
        """Read reserves and fees."""
        usual, is_paused = yield from self._read_factory(len(pools))
        answers = yield from ask_each(
            pools, lambda pool: (GET_RESERVES(pool.key), GET_FEE(self.factory, pool.key, bool(pool.get_number(0))))
        )

        def build_state(pool: Pool) -> SolidlyState | Refused:
            (reserve0, reserve1), (fee,) = (call.decode(outcome) for call, outcome in answers[pool])
            if is_paused:
                return Refused("paused")
            return SolidlyState(
                self._make_market(pool, reserve0, reserve1, fee * PIPS_PER_UNIT), usual[pool.get_number(0)]
            )

        return build_states(pools, build_state)

    def apply(self, pool: Pool, state: SolidlyState, log: Log) -> SolidlyState | None:
        """Take the reserves from Sync; a fee of its own is read again."""
        if log.topics[0] != SYNC.topic:
            return None
        _, (reserve0, reserve1) = SYNC.decode(log)
        return replace(state, market=replace(state.market, reserve0=reserve0, reserve1=reserve1))

    def refresh(self, held: Mapping[str, tuple[Pool, SolidlyState]]) -> Reading[States[SolidlyState]]:
        """Look whether the factory has been paused, or has other usual fees, which emit no event."""
        usual, is_paused = yield from self._read_factory(len(held))
        if is_paused:
            return dict.fromkeys(held, Refused("paused"))
        changed = tuple(pool for pool, state in held.values() if state.usual_fee != usual[pool.get_number(0)])
        return (yield from self.read(changed))

    def make_market(self, pool: Pool, state: SolidlyState) -> SolidlyPool:
        """Return the pool."""
        return state.market

    def _read_factory(self, pools: int) -> Reading[tuple[tuple[int, ...], bool]]:
        """Return the usual fees, volatile and stable, and whether swaps are paused; nothing is asked for no pools."""
        calls = [function(self.factory) for function in (*USUAL_FEES, IS_PAUSED)] if pools else []
        outcomes = yield from ask(calls)
        values = [call.decode_one(outcome) for call, outcome in zip(calls, outcomes, strict=True)]
        return tuple(values[:2]), any(values[2:])

    def _make_market(self, pool: Pool, reserve0: int, reserve1: int, fee_pips: int) -> SolidlyPool:
        token0, token1 = pool.tokens
        return SolidlyPool(
            id=make_market_id(self.chain_id, pool.key),
            protocol=self.name,
            token0=token0,
            token1=token1,
            reserve0=reserve0,
            reserve1=reserve1,
            stable=bool(pool.get_number(0)),
            fork=Fork.VELODROME_V2,
            fee0_pips=fee_pips,
            fee1_pips=fee_pips,
        )


def find_deployments(chain_id: int) -> Iterator[Aerodrome]:
    """Return Aerodrome on Base and Velodrome v2 on Optimism."""
    for facts in read_deployments("aerodrome", chain_id):
        yield Aerodrome(facts.get_text("name"), chain_id, facts.get_address("factory"))
