"""Uniswap v4: pools of the one manager, read through StateView, kept up by the manager's events.

Pools whose fee may change, or whose hooks act on swaps, are left out: nobody can tell from outside what a swap gives.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from adapters.base import BadPayload
from adapters.chain.deployments import read_deployments
from adapters.chain.protocol import ChainProtocol, Pool, States, build_states, collect_named, make_market_id
from adapters.chain.ticks import TickState, read_ticks
from adapters.chain.tokens import ChainTokens
from adapters.rpc.abi import CallFailed, Event, Function, Log, LogFilter
from adapters.rpc.reading import Reading, ask, ask_each, ask_logs
from adapters.rpc.scan_program import make_scan
from routing_engine.amm.concentrated.swap_loop import MAX_AMOUNT_V4
from routing_engine.fixed_point import PIPS
from routing_engine.markets import ConcentratedPool
from routing_engine.markets.concentrated.pool_key import pool_id
from routing_engine.model import Token

SLOT0 = Function("getSlot0(bytes32)", "uint160", "int24", "uint24", "uint24")
LIQUIDITY = Function("getLiquidity(bytes32)", "uint128")
TICK_BITMAP = Function("getTickBitmap(bytes32,int16)", "uint256")
TICK_LIQUIDITY = Function("getTickLiquidity(bytes32,int24)", "uint128", "int128")

INITIALIZE = Event("Initialize(bytes32 indexed,address indexed,address indexed,uint24,int24,address,uint160,int24)")
MODIFY_LIQUIDITY = Event("ModifyLiquidity(bytes32 indexed,address indexed,int24,int24,int256,bytes32)")
SWAP = Event("Swap(bytes32 indexed,address indexed,int128,int128,uint160,uint128,int24,uint24)")
PROTOCOL_FEE = Event("ProtocolFeeUpdated(bytes32 indexed,uint24)")

TIERS = ((100, 1), (500, 10), (3000, 60), (10_000, 200))
"""Fees with their usual spacings, to look for without hooks; any other pool is found by the event that creates it."""
MOST_POOLS = 5_000

SWAP_HOOKS = 1 << 7 | 1 << 6 | 1 << 3 | 1 << 2
"""Bits of a hook's address that mean that it is called around swaps (``Hooks``)."""

FEE_BITS = 12


class UniswapV4(ChainProtocol[TickState]):
    """The manager's pools.

    Parameters
    ----------
    chain_id : int
        Where it is.
    manager, state_view : str
        Addresses.
    """

    name = "uniswap_v4"
    creations = (INITIALIZE.topic,)
    topics = (MODIFY_LIQUIDITY.topic, SWAP.topic, PROTOCOL_FEE.topic)

    def __init__(self, chain_id: int, manager: str, state_view: str) -> None:
        self.factories = (manager,)
        self._chain_id, self._view = chain_id, state_view

    def list_emitters(self, pool: Pool) -> tuple[str, ...]:
        """Return the manager."""
        return self.factories

    def read_key(self, log: Log) -> str:
        """Return the pool's id."""
        return log.topics[1] if len(log.topics) > 1 else ""

    def discover(self, tokens: ChainTokens) -> Reading[tuple[Pool, ...]]:
        """Look for every pair of listed tokens, the native coin among them: at the usual fees, and by their events.

        Of a long list, and where an endpoint allows narrow ranges of events only, there are just the usual fees.
        """
        pools = [_make_pool(pair, fee, spacing) for pair in tokens.list_pairs(native=True) for fee, spacing in TIERS]
        calls = [SLOT0(self._view, _decode_id(pool.key)) for pool in pools]
        outcomes = yield from ask(calls)
        prices = [call.decode_one(outcome) for call, outcome in zip(calls, outcomes, strict=True)]
        usual = tuple(pool for pool, price in zip(pools, prices, strict=True) if price)
        return (*usual, *(yield from self._find_initialized(tokens)))

    def find_created(self, logs: tuple[Log, ...], tokens: ChainTokens) -> Reading[tuple[Pool, ...]]:
        """Read Initialize; pools that cannot be quoted are none of ours."""

        def find_pool(log: Log) -> Pool | None:
            (_, *currencies), (fee, spacing, hooks, _, _) = INITIALIZE.decode(log)
            found = tokens.find_all(currencies)
            if found is None or fee >= PIPS or int(hooks, 16) & SWAP_HOOKS:
                return None
            return Pool(key=log.topics[1], tokens=found, facts=(fee, spacing))

        return collect_named(logs, find_pool)

    def _find_initialized(self, tokens: ChainTokens) -> Reading[tuple[Pool, ...]]:
        """Return the pools that the manager's events tell of, from the first block on."""
        if tokens.is_long:
            return ()
        listed = tuple(f"0x{0 if token.is_native else int(token.address, 16):064x}" for token in tokens)
        wanted = LogFilter(addresses=self.factories, topics=(self.creations, (), listed, listed))
        try:
            logs = yield from ask_logs([wanted])
        except BadPayload:
            return ()
        return (yield from self.find_created(logs, tokens))[:MOST_POOLS]

    def read(self, pools: tuple[Pool, ...]) -> Reading[States[TickState]]:
        """Read price, fees, liquidity and all ticks."""
        view = self._view
        slots = yield from ask_each(
            pools, lambda pool: (SLOT0(view, _decode_id(pool.key)), LIQUIDITY(view, _decode_id(pool.key)))
        )
        ticks = yield from read_ticks(
            [(pool, pool.get_number(1)) for pool in pools],
            lambda pool, words: make_scan(TICK_BITMAP, view, _decode_id(pool.key), numbers=words),
            lambda pool, index: TICK_LIQUIDITY(view, _decode_id(pool.key), index),
        )

        def build_state(pool: Pool) -> TickState:
            slot, (liquidity,) = (call.decode(outcome) for call, outcome in slots[pool])
            found = ticks[pool.key]
            if isinstance(found, CallFailed):
                raise found
            return TickState(
                sqrt_price_x96=slot[0],
                tick=slot[1],
                liquidity=liquidity,
                fee_pips=slot[3],
                protocol_fee=slot[2],
                ticks=found,
            )

        return build_states(pools, build_state)

    def apply(self, pool: Pool, state: TickState, log: Log) -> TickState:
        """Follow one event."""
        if log.topics[0] == SWAP.topic:
            _, (_, _, sqrt_price_x96, liquidity, tick, _) = SWAP.decode(log)
            return state.apply_swap(sqrt_price_x96, liquidity, tick)
        if log.topics[0] == MODIFY_LIQUIDITY.topic:
            _, (lower, upper, delta, _) = MODIFY_LIQUIDITY.decode(log)
            return state.apply_liquidity(lower, upper, delta)
        if log.topics[0] == PROTOCOL_FEE.topic:
            _, (fee,) = PROTOCOL_FEE.decode(log)
            return replace(state, protocol_fee=fee)
        raise BadPayload(f"{log.address}: {log.topics[0]} is no event of a pool")

    def make_market(self, pool: Pool, state: TickState) -> ConcentratedPool | None:
        """Return the pool with all its ticks and the protocol's fees."""
        found = state.make_market(pool, make_market_id(self._chain_id, pool.key), self.name, pool.get_number(1))
        return found and replace(
            found,
            protocol_fee0_pips=state.protocol_fee % 2**FEE_BITS,
            protocol_fee1_pips=state.protocol_fee >> FEE_BITS,
            largest_amount=MAX_AMOUNT_V4,
        )


def _make_pool(pair: tuple[Token, Token], fee_pips: int, spacing: int) -> Pool:
    """Return the pool without hooks."""
    return Pool(key=pool_id(pair, fee_pips, spacing), tokens=pair, facts=(fee_pips, spacing))


def _decode_id(key: str) -> bytes:
    return bytes.fromhex(key[2:])


def find_deployments(chain_id: int) -> Iterator[UniswapV4]:
    """Return the manager where it is."""
    for facts in read_deployments("uniswap_v4", chain_id):
        yield UniswapV4(chain_id, facts.get_address("manager"), facts.get_address("state_view"))
