"""From one block to the next: what to read of a chain, given what is known of it.

Pure, as all readings are: `read_everything` starts from nothing, `read_changes` from a memory and the events since.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from adapters.base import BadPayload
from adapters.chain.protocol import AnyProtocol
from adapters.chain.state import Holding, Journal, Memory, is_possible
from adapters.chain.tokens import ChainTokens, check_tokens
from adapters.rpc.abi import Log, LogFilter
from adapters.rpc.block import Block
from adapters.rpc.reading import Reading, ask_logs, join_readings
from routing_engine.errors import InvalidMarket

Protocols = Mapping[str, AnyProtocol]

RETRY_S = 600
"""How often a pool that was refused is read again: what was wrong may pass without an event."""


def read_everything(protocols: Protocols, listed: ChainTokens, head: Block) -> Reading[Memory]:
    """Read everything from nothing."""
    tokens, notes = yield from check_tokens(listed)
    results = yield from join_readings({name: _discover(protocol, tokens) for name, protocol in protocols.items()})
    journal = Journal().add_step(head, ())
    now = head.timestamp
    memory = Memory(head=head, tokens=tokens, notes=notes, journal=journal, since=now, retried=now)
    return memory.add_results(results)


def read_changes(protocols: Protocols, memory: Memory, ancestor: Block, head: Block) -> Reading[Memory]:
    """Read what has changed since `memory`.

    Parameters
    ----------
    protocols : mapping of str to ChainProtocol
        By name.
    memory : Memory
        Of the block read last.
    ancestor : Block
        That block; or, where the chain was reorganised since, the last one in the journal that is still part of it.
        Pools that were touched after it are read again.
    head : Block
        Where to read.
    """
    journal, undone = memory.journal.rewind(ancestor)
    logs = yield from ask_logs(_make_filters(protocols, memory, ancestor.number + 1, head.number))
    changes = _sort_out(protocols, memory, logs)
    for name, key in undone:
        if name in changes and key in memory.holdings[name].pools:
            changes[name].again.add(key)
    is_retry = head.timestamp - memory.retried >= RETRY_S
    for name in changes if is_retry else ():
        changes[name].again.update(memory.holdings[name].refused)
    readings = {
        name: _settle(protocols[name], memory.holdings[name], change, memory.tokens) for name, change in changes.items()
    }
    if is_retry:
        missing = [name for name in protocols if name not in changes]
        readings |= {name: _discover(protocols[name], memory.tokens) for name in missing}
    results = yield from join_readings(readings)
    retried = head.timestamp if is_retry else memory.retried
    following = replace(memory, head=head, retried=retried).add_results(results)
    return replace(following, journal=journal.add_step(head, _list_touched(memory, following)))


@dataclass(slots=True)
class _Changes:
    """What a range of events did to one protocol's pools."""

    creations: list[Log] = field(default_factory=list)
    states: dict[str, Any] = field(default_factory=dict)
    again: set[str] = field(default_factory=set)

    def note(self, protocol: AnyProtocol, holding: Holding, log: Log) -> None:
        """Apply one event; what cannot be followed is to be read again."""
        key = protocol.read_key(log)
        if key not in holding.pools or key in self.again:
            return
        state = self.states.pop(key, holding.states.get(key))
        try:
            following = None if state is None else protocol.apply(holding.pools[key], state, log)
        except (BadPayload, InvalidMarket):
            following = None
        if following is None:
            self.again.add(key)
        else:
            self.states[key] = following


def _list_touched(before: Memory, after: Memory) -> set[tuple[str, str]]:
    """Name the pools whose state is not what it was."""
    found: set[tuple[str, str]] = set()
    for name, holding in after.holdings.items():
        old = before.holdings.get(name, Holding()).states
        found.update((name, key) for key in holding.pools if holding.states.get(key) is not old.get(key))
    return found


def _make_filters(protocols: Protocols, memory: Memory, first: int, last: int) -> tuple[LogFilter, ...]:
    held = [(protocols[name], holding) for name, holding in memory.holdings.items()]
    addresses = {
        each for protocol, holding in held for pool in holding.pools.values() for each in protocol.list_emitters(pool)
    }
    addresses.update(factory for protocol, _ in held for factory in protocol.factories)
    topics = {topic for protocol, _ in held for topic in (*protocol.topics, *protocol.creations)}
    if first > last or not addresses or not topics:
        return ()
    wanted = LogFilter(
        addresses=tuple(sorted(addresses)), topics=(tuple(sorted(topics)),), first_block=first, last_block=last
    )
    return (wanted,)


def _sort_out(protocols: Protocols, memory: Memory, logs: tuple[Log, ...]) -> dict[str, _Changes]:
    """Give each protocol its events."""
    changes = {name: _Changes() for name in memory.holdings if name in protocols}
    emitters: dict[str, set[str]] = {}
    for name in changes:
        protocol, holding = protocols[name], memory.holdings[name]
        for address in chain(protocol.factories, *map(protocol.list_emitters, holding.pools.values())):
            emitters.setdefault(address, set()).add(name)
    for log in logs:
        for name in emitters.get(log.address, ()):
            protocol, holding = protocols[name], memory.holdings[name]
            if log.topics[0] in protocol.creations and log.address in protocol.factories:
                changes[name].creations.append(log)
            if log.topics[0] in protocol.topics:
                changes[name].note(protocol, holding, log)
    return changes


def _discover(protocol: AnyProtocol, tokens: ChainTokens) -> Reading[Holding]:
    pools = {pool.key: pool for pool in (yield from protocol.discover(tokens))}
    states = yield from protocol.read(tuple(pools.values()))
    return Holding().update(protocol, pools.values(), states)


def _settle(protocol: AnyProtocol, holding: Holding, changes: _Changes, tokens: ChainTokens) -> Reading[Holding]:
    """Read what must be read again or is new, and what changes without events."""
    told = (yield from protocol.find_created(tuple(changes.creations), tokens)) if changes.creations else ()
    created = {pool.key: pool for pool in told if pool.key not in holding.pools}
    pools = {**holding.pools, **created}
    # A state that cannot be means that an event was missed.
    changes.again.update(key for key, state in changes.states.items() if not is_possible(protocol, pools[key], state))
    again = {key: pools[key] for key in (*sorted(changes.again), *created)}
    held = {key: (pools[key], state) for key, state in {**holding.states, **changes.states}.items() if key not in again}
    parts = yield from join_readings({"again": protocol.read(tuple(again.values())), "refresh": protocol.refresh(held)})
    states = {key: state for key, state in changes.states.items() if key not in again}
    for part in parts.values():
        if not isinstance(part, Mapping):
            raise part
        states.update(part)
    return holding.update(protocol, again.values(), states)
