"""Camelot v2: pairs of a factory that are volatile or stable and charge by direction."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from adapters.chain.deployments import read_deployments
from adapters.chain.protocol import Pool, States, build_states, make_market_id
from adapters.dexes.uniswap_v2 import SYNC, PairFactoryProtocol
from adapters.rpc.abi import Event, Function, Log
from adapters.rpc.reading import Reading, ask_each
from routing_engine.fixed_point import PIPS
from routing_engine.markets import Fork, SolidlyPool

GET_RESERVES = Function("getReserves()", "uint112", "uint112", "uint16", "uint16")
IS_STABLE = Function("stableSwap()", "bool")
OWNER_SHARE = Function("ownerFeeShare()", "uint256")
FEES_CHANGED = Event("FeePercentUpdated(uint16,uint16)")
KIND_CHANGED = Event("SetStableSwap(bool,bool)")

PIPS_PER_UNIT = PIPS // 100_000
"""Pairs count fees, and the factory its owner's share of them, in 1/100000."""


class Camelot(PairFactoryProtocol[SolidlyPool]):
    """The factory's pairs; see `FactoryProtocol`."""

    topics = (SYNC.topic, FEES_CHANGED.topic, KIND_CHANGED.topic)

    def read(self, pools: tuple[Pool, ...]) -> Reading[States[SolidlyPool]]:
        """Read reserves, fees and kind, and the owner's share of fees."""
        answers = yield from ask_each(
            pools, lambda pool: (GET_RESERVES(pool.key), IS_STABLE(pool.key), OWNER_SHARE(self.factory))
        )

        def build_state(pool: Pool) -> SolidlyPool:
            (reserve0, reserve1, fee0, fee1), (stable,), (share,) = (
                call.decode(outcome) for call, outcome in answers[pool]
            )
            token0, token1 = pool.tokens
            return SolidlyPool(
                id=make_market_id(self.chain_id, pool.key),
                protocol=self.name,
                token0=token0,
                token1=token1,
                reserve0=reserve0,
                reserve1=reserve1,
                stable=stable,
                fork=Fork.CAMELOT,
                fee0_pips=fee0 * PIPS_PER_UNIT,
                fee1_pips=fee1 * PIPS_PER_UNIT,
                owner_share_pips=share * PIPS_PER_UNIT if stable else 0,
            )

        return build_states(pools, build_state)

    def apply(self, pool: Pool, state: SolidlyPool, log: Log) -> SolidlyPool | None:
        """Take the reserves from Sync; read again what has become something else."""
        if log.topics[0] != SYNC.topic:
            return None
        _, (reserve0, reserve1) = SYNC.decode(log)
        return replace(state, reserve0=reserve0, reserve1=reserve1)


def find_deployments(chain_id: int) -> Iterator[Camelot]:
    """Return the factory where it is."""
    for facts in read_deployments("camelot", chain_id):
        yield Camelot(facts.get_text("name"), chain_id, facts.get_address("factory"))
