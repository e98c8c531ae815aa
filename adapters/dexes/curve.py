"""Curve: pools of its registries and factories, held against their own quotes before they are believed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from adapters.chain.deployments import read_deployments
from adapters.chain.protocol import ChainProtocol, Pool, Refused, States, make_market_id
from adapters.chain.tokens import ChainTokens
from adapters.dexes.curve_pools import KINDS, CurveMarket, read_markets
from adapters.rpc.abi import Call, Event, Function, Log
from adapters.rpc.multicall import MULTICALL3
from adapters.rpc.reading import Reading, ask, ask_each
from routing_engine.model import ZERO_ADDRESS, Token

GET_REGISTRY = Function("get_registry()", "address")
POOL_COUNT = Function("pool_count()", "uint256")
POOL_LIST = Function("pool_list(uint256)", "address")
NOW = Function("getCurrentBlockTimestamp()", "uint256")

MOST_POOLS = 5_000
OLDEST_S = 60
"""Rates, coefficients and oracle prices move with time and without events."""

SIZES = [f"uint256[{count}]" for count in range(2, 9)] + ["uint256[]"]
EVENTS = (
    "TokenExchange(address,int128,uint256,int128,uint256)",
    "TokenExchangeUnderlying(address,int128,uint256,int128,uint256)",
    "TokenExchange(address,uint256,uint256,uint256,uint256)",
    "TokenExchange(address,uint256,uint256,uint256,uint256,uint256,uint256)",
    "RemoveLiquidityOne(address,uint256,uint256)",
    "RemoveLiquidityOne(address,uint256,uint256,uint256)",
    "RemoveLiquidityOne(address,int128,uint256,uint256,uint256)",
    "RemoveLiquidityOne(address,uint256,uint256,uint256,uint256,uint256)",
    *(f"AddLiquidity(address,{each},{each},uint256,uint256)" for each in SIZES),
    *(f"RemoveLiquidityImbalance(address,{each},{each},uint256,uint256)" for each in SIZES),
    *(f"RemoveLiquidity(address,{each},{each},uint256)" for each in SIZES),
    *(f"AddLiquidity(address,{each},uint256,uint256)" for each in SIZES[:2]),
    *(f"AddLiquidity(address,{each},uint256,uint256,uint256)" for each in SIZES[:2]),
    *(f"RemoveLiquidity(address,{each},uint256)" for each in SIZES[:2]),
)
"""What pools of all generations emit when their balances change."""

CREATIONS = (
    *(f"PlainPoolDeployed({coins},uint256,uint256,address)" for coins in ("address[4]", "address[]")),
    "MetaPoolDeployed(address,address,uint256,uint256,address)",
    f"CryptoPoolDeployed(address,address[2],{'uint256,' * 10}address)",
    f"TwocryptoPoolDeployed(address,string,string,address[2],address,bytes32,uint256[2],{'uint256,' * 4}address)",
    f"TricryptoPoolDeployed(address,string,string,address,address[3],address,bytes32,{'uint256,' * 5}address)",
)
"""What factories of all generations emit when they add a pool to their list."""


@dataclass(frozen=True, slots=True)
class CurveState:
    """A pool, and when it was read, in seconds since 1970."""

    market: CurveMarket
    read_at: int


class CurveRegistry(ChainProtocol[CurveState]):
    """The pools of one registry.

    The provider's registry tells of new pools under an address that is not known beforehand; they are found when
    everything is read anew. It has had none since factories exist.

    Parameters
    ----------
    chain_id : int
        Where it is.
    registry : str
        Address; of the kind ``registry``, that of the provider which knows it.
    kind : str
        Name in `KINDS`.
    """

    creations = tuple(Event(signature).topic for signature in CREATIONS)
    topics = tuple(Event(signature).topic for signature in EVENTS)

    def __init__(self, chain_id: int, registry: str, kind: str) -> None:
        self.name = f"curve_{kind}"
        self._chain_id, self._registry, self._kind = chain_id, registry, KINDS[kind]
        self._is_behind_provider = kind == "registry"
        self.factories = () if self._is_behind_provider else (registry,)

    def discover(self, tokens: ChainTokens) -> Reading[tuple[Pool, ...]]:
        """Ask the registry for its pools, and what coins they hold."""
        registry = self._registry
        if self._is_behind_provider:
            registry = yield from _ask_one(GET_REGISTRY(registry))
        count = 0 if registry == ZERO_ADDRESS else min(MOST_POOLS, (yield from _ask_one(POOL_COUNT(registry))))
        return (yield from self._ask_registry(registry, range(count), tokens))

    def find_created(self, logs: tuple[Log, ...], tokens: ChainTokens) -> Reading[tuple[Pool, ...]]:
        """Ask for the end of the factory's list, which has grown by a pool with each event; few events name theirs."""
        count = yield from _ask_one(POOL_COUNT(self._registry))
        return (yield from self._ask_registry(self._registry, range(max(0, count - len(logs)), count), tokens))

    def _ask_registry(self, registry: str, places: range, tokens: ChainTokens) -> Reading[tuple[Pool, ...]]:
        get_coins = self._kind.get_coins
        listed = yield from ask_each(places, lambda place: (POOL_LIST(registry, place),))
        addresses = dict.fromkeys(call.decode_one(outcome) for ((call, outcome),) in listed.values())
        asked = yield from ask_each(addresses, lambda pool: (get_coins(registry, pool),))
        held = {pool: _find_tokens(call.decode(outcome), tokens) for pool, ((call, outcome),) in asked.items()}
        return tuple(Pool(key=pool, tokens=coins) for pool, coins in held.items() if coins)

    def read(self, pools: tuple[Pool, ...]) -> Reading[States[CurveState]]:
        """Read the pools, and compare what they quote."""
        if not pools:
            return {}
        now = yield from _ask_one(NOW(MULTICALL3))
        ids = {pool: make_market_id(self._chain_id, pool.key) for pool in pools}
        markets = yield from read_markets(self._kind, ids, self._chain_id)
        return {
            key: market if isinstance(market, Refused) else CurveState(market, now) for key, market in markets.items()
        }

    def apply(self, pool: Pool, state: CurveState, log: Log) -> None:
        """Have the pool read again."""

    def refresh(self, held: Mapping[str, tuple[Pool, CurveState]]) -> Reading[States[CurveState]]:
        """Read again what was read a while ago."""
        now = (yield from _ask_one(NOW(MULTICALL3))) if held else 0
        return (yield from self.read(tuple(pool for pool, state in held.values() if now - state.read_at >= OLDEST_S)))

    def make_market(self, pool: Pool, state: CurveState) -> CurveMarket:
        """Return the pool."""
        return state.market


def _ask_one(call: Call) -> Reading[Any]:
    (outcome,) = yield from ask([call])
    return call.decode_one(outcome)


def _find_tokens(coins: tuple[object, ...], tokens: ChainTokens) -> tuple[Token, ...]:
    """Return the coins of a pool if all of them are listed; registries fill up with zeros."""
    flat = [coin for each in coins for coin in (each if isinstance(each, tuple | list) else (each,))]
    addresses = [str(coin) for coin in flat if coin != ZERO_ADDRESS]
    found = tokens.find_all(addresses)
    return found if found and len(set(found)) == len(found) > 1 else ()


def find_deployments(chain_id: int) -> Iterator[CurveRegistry]:
    """Return the registries where they are."""
    for facts in read_deployments("curve", chain_id):
        yield CurveRegistry(chain_id, facts.get_address("registry"), facts.get_text("kind"))
