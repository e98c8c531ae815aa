"""Slipstream, the concentrated pools of Aerodrome and Velodrome: Uniswap v3's, with fees that change unannounced."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from adapters.chain.deployments import read_deployments
from adapters.chain.protocol import Pool, Refused, States, make_market_id
from adapters.chain.ticks import TickState
from adapters.chain.tokens import ChainTokens
from adapters.dexes.factory import FactoryProtocol, PoolFacts
from adapters.dexes.uniswap_v3 import TICK_EVENTS, apply_event, read_states
from adapters.rpc.abi import CallFailed, Event, Function, Log
from adapters.rpc.reading import Reading, ask, ask_each
from routing_engine.markets import ConcentratedPool

TICK_SPACINGS = Function("tickSpacings()", "int24[]")
GET_POOL = Function("getPool(address,address,int24)", "address")
FEE = Function("fee()", "uint24")
POOL_CREATED = Event("PoolCreated(address indexed,address indexed,int24 indexed,address)")


class Slipstream(FactoryProtocol[TickState]):
    """One factory's pools; a pool's fact is its tick spacing."""

    creations = (POOL_CREATED.topic,)
    topics = TICK_EVENTS

    def discover(self, tokens: ChainTokens) -> Reading[tuple[Pool, ...]]:
        """Ask the factory for its spacings, then for the pool of every pair of listed tokens at each."""
        call = TICK_SPACINGS(self.factory)
        (outcome,) = yield from ask([call])
        kinds = [((spacing,), (spacing,)) for spacing in call.decode_one(outcome)]
        return (yield from self.ask_pools(GET_POOL, tokens, kinds))

    def read_created(self, log: Log) -> tuple[str, Sequence[str], PoolFacts]:
        """Read PoolCreated."""
        (*addresses, spacing), (pool,) = POOL_CREATED.decode(log)
        return pool, addresses, (spacing,)

    def read(self, pools: tuple[Pool, ...]) -> Reading[States[TickState]]:
        """Read the fee, then price, liquidity and all ticks."""
        fees = yield from self._ask_fees(pools)
        known = tuple(pool for pool in pools if pool.key in fees)
        states = yield from read_states(known, fees, lambda pool: pool.get_number(0))
        return {pool.key: states.get(pool.key, Refused("unreadable")) for pool in pools}

    def apply(self, pool: Pool, state: TickState, log: Log) -> TickState:
        """Follow one event."""
        return apply_event(state, log)

    def refresh(self, held: Mapping[str, tuple[Pool, TickState]]) -> Reading[States[TickState]]:
        """Read the fees again, which a module of the factory computes."""
        fees = yield from self._ask_fees(tuple(pool for pool, _ in held.values()))
        states: dict[str, TickState | Refused] = {}
        for key, (_, state) in held.items():
            if key not in fees:
                states[key] = Refused("unreadable")
            elif fees[key] != state.fee_pips:
                states[key] = replace(state, fee_pips=fees[key])
        return states

    def make_market(self, pool: Pool, state: TickState) -> ConcentratedPool | None:
        """Return the pool with all its ticks."""
        return state.make_market(pool, make_market_id(self.chain_id, pool.key), self.name, pool.get_number(0))

    def _ask_fees(self, pools: tuple[Pool, ...]) -> Reading[dict[str, int]]:
        """Return the fees by pool; one that cannot be read is missing."""
        answers = yield from ask_each(pools, lambda pool: (FEE(pool.key),))
        found: dict[str, int] = {}
        for pool, ((call, outcome),) in answers.items():
            try:
                found[pool.key] = call.decode_one(outcome)
            except CallFailed:
                continue
        return found


def find_deployments(chain_id: int) -> Iterator[Slipstream]:
    """Return both chains' factories."""
    for facts in read_deployments("slipstream", chain_id):
        yield Slipstream(facts.get_text("name"), chain_id, facts.get_address("factory"))
