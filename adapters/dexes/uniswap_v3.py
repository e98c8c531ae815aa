"""Uniswap v3 and its forks: pools of a factory with all their ticks, kept up by Swap, Mint, Burn and Initialize."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from adapters.base import BadPayload
from adapters.chain.deployments import read_deployments
from adapters.chain.protocol import Pool, States, build_states, make_market_id
from adapters.chain.ticks import TickState, read_ticks
from adapters.chain.tokens import ChainTokens
from adapters.dexes.factory import FactoryProtocol, PoolFacts
from adapters.rpc.abi import Call, CallFailed, Event, Function, Log, Outcome
from adapters.rpc.reading import Reading, ask_each
from adapters.rpc.scan_program import make_scan
from routing_engine.markets import ConcentratedPool

SPACING_OF = Function("feeAmountTickSpacing(uint24)", "int24")
GET_POOL = Function("getPool(address,address,uint24)", "address")
SLOT0 = Function("slot0()", "uint160", "int24")
LIQUIDITY = Function("liquidity()", "uint128")
TICK_BITMAP = Function("tickBitmap(int16)", "uint256")
TICKS = Function("ticks(int24)", "uint128", "int128")

POOL_CREATED = Event("PoolCreated(address indexed,address indexed,uint24 indexed,int24,address)")
INITIALIZE = Event("Initialize(uint160,int24)")
MINT = Event("Mint(address,address indexed,int24 indexed,int24 indexed,uint128,uint256,uint256)")
BURN = Event("Burn(address indexed,int24 indexed,int24 indexed,uint128,uint256,uint256)")
SWAP = Event("Swap(address indexed,address indexed,int256,int256,uint160,uint128,int24)")
PANCAKE_SWAP = Event("Swap(address indexed,address indexed,int256,int256,uint160,uint128,int24,uint128,uint128)")
SWAPS = {event.topic: event for event in (SWAP, PANCAKE_SWAP)}
TICK_EVENTS = (INITIALIZE.topic, MINT.topic, BURN.topic, *SWAPS)

FEES_PIPS = (100, 200, 300, 400, 500, 2500, 3000, 10_000)
"""Tiers to ask factories about; any other is found by the event that creates its pools."""


class UniswapV3(FactoryProtocol[TickState]):
    """One factory's pools; a pool's facts are its fee and its tick spacing."""

    creations = (POOL_CREATED.topic,)
    topics = TICK_EVENTS

    def discover(self, tokens: ChainTokens) -> Reading[tuple[Pool, ...]]:
        """Ask the factory which fees it has, then for every pair of listed tokens at each."""
        asked = yield from ask_each(FEES_PIPS, lambda fee: (SPACING_OF(self.factory, fee),))
        spacings = {fee: call.decode_one(outcome) for fee, ((call, outcome),) in asked.items()}
        kinds = [((fee,), (fee, spacings[fee])) for fee in FEES_PIPS if spacings[fee] > 0]
        return (yield from self.ask_pools(GET_POOL, tokens, kinds))

    def read_created(self, log: Log) -> tuple[str, Sequence[str], PoolFacts]:
        """Read PoolCreated."""
        (*addresses, fee), (spacing, pool) = POOL_CREATED.decode(log)
        return pool, addresses, (fee, spacing)

    def read(self, pools: tuple[Pool, ...]) -> Reading[States[TickState]]:
        """Read price, liquidity and all ticks."""
        return read_states(pools, {pool.key: pool.get_number(0) for pool in pools}, lambda pool: pool.get_number(1))

    def apply(self, pool: Pool, state: TickState, log: Log) -> TickState:
        """Follow one event."""
        return apply_event(state, log)

    def make_market(self, pool: Pool, state: TickState) -> ConcentratedPool | None:
        """Return the pool with all its ticks."""
        return state.make_market(pool, make_market_id(self.chain_id, pool.key), self.name, pool.get_number(1))


def read_states(
    pools: tuple[Pool, ...], fees_pips: Mapping[str, int], spacing_of: Callable[[Pool], int]
) -> Reading[States[TickState]]:
    """Read pools whose contracts have Uniswap v3's getters.

    Parameters
    ----------
    pools : tuple of Pool
        Their keys are the contracts.
    fees_pips : mapping of str to int
        By pool.
    spacing_of : callable
        Gives a pool's tick spacing.
    """
    slots = yield from ask_each(pools, lambda pool: (SLOT0(pool.key), LIQUIDITY(pool.key)))
    opened = [(pool, spacing_of(pool)) for pool, ((call, outcome), _) in slots.items() if _is_open(call, outcome)]
    ticks = yield from read_ticks(
        opened,
        lambda pool, words: make_scan(TICK_BITMAP, pool.key, numbers=words),
        lambda pool, index: TICKS(pool.key, index),
    )

    def build_state(pool: Pool) -> TickState:
        (sqrt_price_x96, tick), (liquidity,) = (call.decode(outcome) for call, outcome in slots[pool])
        found = ticks.get(pool.key, {})
        if isinstance(found, CallFailed):
            raise found
        return TickState(
            sqrt_price_x96=sqrt_price_x96, tick=tick, liquidity=liquidity, fee_pips=fees_pips[pool.key], ticks=found
        )

    return build_states(pools, build_state)


def apply_event(state: TickState, log: Log) -> TickState:
    """Return the state of a pool after one of `TICK_EVENTS`.

    Raises
    ------
    BadPayload
        If the event's numbers are impossible.
    """
    topic = log.topics[0]
    if topic in SWAPS:
        _, (_, _, sqrt_price_x96, liquidity, tick, *_) = SWAPS[topic].decode(log)
        return state.apply_swap(sqrt_price_x96, liquidity, tick)
    if topic == MINT.topic:
        (_, lower, upper), (_, amount, _, _) = MINT.decode(log)
        return state.apply_liquidity(lower, upper, amount)
    if topic == BURN.topic:
        (_, lower, upper), (amount, _, _) = BURN.decode(log)
        return state.apply_liquidity(lower, upper, -amount)
    if topic == INITIALIZE.topic:
        _, (sqrt_price_x96, tick) = INITIALIZE.decode(log)
        return state.apply_swap(sqrt_price_x96, 0, tick)
    raise BadPayload(f"{log.address}: {topic} is no event of these pools")


def _is_open(slot0: Call, outcome: Outcome) -> bool:
    try:
        return bool(slot0.decode_one(outcome))
    except CallFailed:
        return False


def find_deployments(chain_id: int) -> Iterator[UniswapV3]:
    """Return Uniswap v3, SushiSwap v3 and PancakeSwap v3 where they are."""
    for facts in read_deployments("uniswap_v3", chain_id):
        yield UniswapV3(facts.get_text("name"), chain_id, facts.get_address("factory"))
