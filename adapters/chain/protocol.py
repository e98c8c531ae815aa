"""The seam for protocols on chains: one file and one line of ``setup.cfg`` add one.

A protocol is free of input and output. It says what to ask (`Reading`), and what the answers and the events mean; when
to ask, at which block, through whom, and what to do about reorganised chains is `OnChainAdapter`'s business.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, TypeVar, cast

from adapters.base import BadPayload
from adapters.chain.tokens import ChainTokens
from adapters.installed import load_installed
from adapters.rpc.abi import CallFailed, Log
from adapters.rpc.reading import Reading
from routing_engine.errors import InvalidMarket
from routing_engine.market import Market
from routing_engine.model import Token

logger = logging.getLogger(__name__)

ENTRY_POINTS = "routing_engine.protocols"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """What never changes about a pool.

    Parameters
    ----------
    key : str
        What its events name it by, in lower case: the contract's address, or the pool's id in a manager.
    tokens : tuple of Token
        In the order of the contract.
    facts : tuple of int or str
        Whatever else the protocol needs.
    """

    key: str
    tokens: tuple[Token, ...]
    facts: tuple[int | str, ...] = ()

    def get_number(self, place: int) -> int:
        """Return the fact at a place, a number."""
        return int(self.facts[place])


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a pool is not offered, as a short name: what it counts under."""

    reason: str


State = TypeVar("State")
States: TypeAlias = Mapping[str, State | Refused]
"""By `Pool.key`."""


class ChainProtocol(Protocol[State]):
    """One protocol's contracts on one chain.

    `State` is whatever the protocol remembers of a pool between blocks: a frozen value, often the market itself. What
    most protocols do alike is written here: a subclass says only what is different.
    """

    name: str
    """Short name, unique on its chain: what requests allow and deny."""
    factories: tuple[str, ...] = ()
    """Contracts, in lower case, whose events in `creations` tell of new pools."""
    creations: tuple[str, ...] = ()
    """First topics of events that tell of new pools."""
    topics: tuple[str, ...] = ()
    """First topics of events that change pools."""

    def list_emitters(self, pool: Pool) -> tuple[str, ...]:
        """Return the contracts, in lower case, that emit a pool's events; by default the pool itself."""
        return (pool.key,)

    def read_key(self, log: Log) -> str:
        """Return the `Pool.key` that one of `topics` is about; by default whoever emitted it."""
        return log.address

    def discover(self, tokens: ChainTokens) -> Reading[tuple[Pool, ...]]:
        """Find the pools whose tokens are all listed."""
        ...

    def find_created(self, logs: tuple[Log, ...], tokens: ChainTokens) -> Reading[tuple[Pool, ...]]:
        """Find the new pools that events of `creations` tell of, and whose tokens are all listed; none by default."""
        yield from ()
        return ()

    def read(self, pools: tuple[Pool, ...]) -> Reading[States[State]]:
        """Read the states of pools from nothing."""
        ...

    def apply(self, pool: Pool, state: State, log: Log) -> State | None:
        """Return the state after an event, or None where the pool must be read again.

        Raises
        ------
        BadPayload
            If the event's numbers are impossible.
        InvalidMarket
            If the state would be.
        """
        ...

    def refresh(self, held: Mapping[str, tuple[Pool, State]]) -> Reading[States[State]]:
        """Read what changes without events, nothing by default; pools that are left out stay as they are."""
        yield from ()
        return {}

    def make_market(self, pool: Pool, state: State) -> Market | None:
        """Return the market in this state, or None while it cannot trade; the state itself by default.

        Raises
        ------
        InvalidMarket
            If the state is impossible.
        """
        return cast("Market | None", state)


AnyProtocol: TypeAlias = ChainProtocol[Any]


class Deployments(Protocol):
    """What an entry point in the group ``routing_engine.protocols`` names, or a bridge has as its `protocol`."""

    def __call__(self, chain_id: int) -> Iterable[AnyProtocol]:
        """Return the protocol, and its forks, as they are deployed on a chain; nothing where they are not."""
        ...


def load_protocols() -> dict[str, Deployments]:
    """Return what installed packages offer, by entry point name."""
    return load_installed("protocol", ENTRY_POINTS)


def find_protocols(chain_id: int) -> tuple[AnyProtocol, ...]:
    """Return every installed protocol that is deployed on a chain; one whose code fails is left out, and logged.

    Raises
    ------
    ValueError
        If two have one name: requests could not tell them apart, and one would take the other's pools.
    """
    found: dict[str, tuple[str, AnyProtocol]] = {}
    for entry, find_deployments in load_protocols().items():
        try:
            deployed = tuple(find_deployments(chain_id))
        except Exception:  # the others go on
            logger.exception("the entry point %s, a protocol, fails on chain %s", entry, chain_id)
            continue
        for protocol in deployed:
            if protocol.name in found:
                other, _ = found[protocol.name]
                both = f"of the entry points {other!r} and {entry!r}"
                raise ValueError(f"chain {chain_id} has two protocols {protocol.name!r}, {both}: rename one")
            found[protocol.name] = entry, protocol
    return tuple(protocol for _, protocol in found.values())


def make_market_id(chain_id: int, key: str) -> str:
    """Return the id of a pool's market in a snapshot."""
    return f"{chain_id}:{key}"


def collect_named(logs: Iterable[Log], pool_of: Callable[[Log], Pool | None]) -> Reading[tuple[Pool, ...]]:
    """Return the pools that events name in full: the `find_created` of protocols that need not ask."""
    yield from ()
    found: list[Pool | None] = []
    for log in logs:
        with suppress(BadPayload):
            found.append(pool_of(log))
    return tuple(pool for pool in found if pool is not None)


def build_states(pools: Iterable[Pool], build: Callable[[Pool], State | Refused]) -> dict[str, State | Refused]:
    """Build each pool's state; one that cannot be read, or is impossible, is refused without the others."""
    found: dict[str, State | Refused] = {}
    for pool in pools:
        try:
            found[pool.key] = build(pool)
        except CallFailed:
            found[pool.key] = Refused("unreadable")
        except InvalidMarket as error:
            found[pool.key] = Refused(f"invalid_{error.field}")
    return found
