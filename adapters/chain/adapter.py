"""The one adapter for everything on a chain: reads all protocols at one block, then follows the events."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from adapters.base import BadPayload, Source, Venues, VenueUnavailable
from adapters.chain.price_feeds import PriceFeed, find_feeds, read_prices
from adapters.chain.protocol import AnyProtocol, find_protocols
from adapters.chain.state import Memory
from adapters.chain.sync import read_changes, read_everything
from adapters.chain.tokens import ChainTokens
from adapters.chain.warnings import describe_oddities
from adapters.rpc.block import Block
from adapters.rpc.endpoint_pool import RpcPool
from adapters.rpc.reading import Reading, Responder, run
from adapters.rpc.recording import ChainPayload, Recorder, ReplayResponder
from adapters.rpc.responder import ChainClient
from routing_engine.formats import Contents
from routing_engine.reference.chains import block_time_s

logger = logging.getLogger(__name__)

MAX_GAP_S = 3600
RENEW_S = 6 * 3600
FASTEST_S = 2
MAX_AGE_S = 120.0
OPTION = "rpc_"
PRICES_S = 60
"""How often feeds are read."""


@dataclass(frozen=True, slots=True)
class ChainStep:
    """What one fetch brought.

    What to ask a chain next depends on what it has answered, so that a fetch has to understand the answers. Two steps
    are equal where their recordings are: the rest follows from them.

    Parameters
    ----------
    recording : ChainPayload
        The answers.
    before : Memory or None
        What was known before; None where nothing was.
    after : Memory
        What is known since.
    """

    recording: ChainPayload
    before: Memory | None = field(compare=False, repr=False)
    after: Memory = field(compare=False, repr=False)


class OnChainAdapter:
    """Markets of all given protocols on one chain, always of one block.

    The first fetch finds the pools and reads them whole. Later ones read the events since, apply them, and read again
    only what events do not tell; markets that have not changed stay the same objects. Where the chain was reorganised,
    the pools that the abandoned blocks had touched are read again.

    A recording can be replayed elsewhere: in the same order, with the same protocols and tokens.

    Parameters
    ----------
    rpc : RpcPool
        The chain.
    protocols : iterable of ChainProtocol
        With different names; else `ValueError`.
    tokens : ChainTokens
        Pools of any others are not looked for.
    wrap : callable, optional
        Put around whoever replies, to count or keep them.
    max_gap_s : int
        When the last read is older than that, everything is read anew.
    renew_s : int
        So is it this long after the last time, which finds pools that no event told of, and ends whatever may have
        gone wrong unseen.
    feeds : sequence of PriceFeed
        Pools that are far off their prices are left out.
    """

    def __init__(
        self,
        rpc: RpcPool,
        protocols: Iterable[AnyProtocol],
        tokens: ChainTokens,
        *,
        wrap: Callable[[Responder, Block], Responder] = lambda responder, _: responder,
        max_gap_s: int = MAX_GAP_S,
        renew_s: int = RENEW_S,
        feeds: Sequence[PriceFeed] = (),
    ) -> None:
        self.name = f"chain@{rpc.chain_id}"
        self._rpc, self._reader, self._tokens = rpc, ChainClient(rpc), tokens
        self._protocols = _name_protocols(protocols)
        self._wrap, self._max_gap_s, self._renew_s = wrap, max_gap_s, renew_s
        self._feeds = tuple(feeds)
        self._memory: Memory | None = None
        self._told: frozenset[str] = frozenset()

    @classmethod
    def connect(cls, venues: Venues) -> tuple[Source, ...]:
        """Return each chain whose endpoints are given: option ``rpc_1`` holds those of chain 1, separated by commas."""
        return tuple(
            Source(
                adapter=cls(
                    RpcPool(chain_id, urls),
                    find_protocols(chain_id),
                    ChainTokens.from_tokens(venues.tokens, chain_id),
                    feeds=find_feeds(chain_id),
                ),
                interval_s=max(FASTEST_S, block_time_s(chain_id)),
                max_age_s=MAX_AGE_S,
            )
            for chain_id, urls in parse_endpoints(venues.options).items()
        )

    @property
    def memory(self) -> Memory | None:
        """What is known since the last fetch, faults and notes included; None before the first."""
        return self._memory

    def fetch(self) -> ChainStep:
        """Read the chain's newest state; see `Adapter`."""
        return self.read(self._rpc.read_head())

    def read(self, head: Block) -> ChainStep:
        """Read the chain's state at a block; see `fetch`.

        It may be older than the last one read only where that was abandoned since.
        """
        follows = self._find_last_canonical(head)
        recorder = Recorder(self._wrap(self._reader.answer_at(head), head))
        after = run(self._read_memory(follows, head), recorder)
        found = self._rpc.read_block(head.number)
        if found is None or found.hash != head.hash:
            raise VenueUnavailable(f"{self.name}: block {head.number} was replaced while it was read")
        step = self._remember(
            ChainPayload(chain_id=self._rpc.chain_id, head=head, follows=follows, replies=recorder.replies), after
        )
        self._tell(after)
        return step

    def replay(self, recording: ChainPayload) -> ChainStep:
        """Return what `fetch` returned where this was recorded, without asking the chain.

        Raises
        ------
        BadPayload
            If it is of another chain, protocols or tokens, or follows a block that was not read here.
        """
        if recording.chain_id != self._rpc.chain_id:
            raise BadPayload(f"{self.name}: the payload is of chain {recording.chain_id}")
        after = run(self._read_memory(recording.follows, recording.head), ReplayResponder(recording.replies))
        return self._remember(recording, after)

    def parse(self, payload: ChainStep) -> Contents:
        """Return all markets as they are after a step; see `Adapter`."""
        recording, now = payload.recording, payload.after.collect_markets()
        before = payload.before.collect_markets() if payload.before else {}
        return Contents(
            markets=tuple(now.values()),
            refused=payload.after.count_refused(),
            withdrawn=tuple(market_id for market_id in before if market_id not in now),
            blocks={recording.chain_id: recording.head.number},
            taken_at=datetime.fromtimestamp(recording.head.timestamp, UTC).isoformat(),
        )

    def _remember(self, recording: ChainPayload, after: Memory) -> ChainStep:
        before, self._memory = self._memory, after
        return ChainStep(recording, before, after)

    def _read_memory(self, follows: Block | None, head: Block) -> Reading[Memory]:
        before = self._memory
        if follows is None:
            memory = yield from read_everything(self._protocols, self._tokens, head)
        elif before is None or all(block != follows for block, _ in before.journal.steps):
            raise BadPayload(f"{self.name}: the payload follows block {follows.number}, which was not read here")
        else:
            memory = yield from read_changes(self._protocols, before, follows, head)
        if not self._feeds:
            return memory
        book = memory.book
        if book is None or not 0 <= head.timestamp - book.read_at < PRICES_S:
            book = yield from read_prices(self._feeds, memory.tokens, head.timestamp)
        return memory.quarantine(book)

    def _tell(self, memory: Memory) -> None:
        """Log what has gone wrong or odd since the last time."""
        missing = {name: f"{name} cannot be read: {fault}" for name, fault in memory.faults.items()}
        told = {**missing, **describe_oddities(memory, self._rpc.chain_id)}
        for about, line in told.items():
            if about not in self._told:
                logger.warning("%s: %s", self.name, line)
        self._told = frozenset(told)

    def _find_last_canonical(self, head: Block) -> Block | None:
        """Return the last block read that is still part of the chain; None to read anew."""
        if self.memory is None or head.timestamp - self.memory.head.timestamp > self._max_gap_s:
            return None
        if head.timestamp - self.memory.since > self._renew_s:
            return None
        last = self.memory.head
        if head.number < last.number and not self._is_abandoned(last):
            raise VenueUnavailable(f"{self.name}: went back from block {last.number} to {head.number}")
        if head.parent == last.hash:
            return last
        for block, _ in reversed(self.memory.journal.steps):
            if block.number > head.number:
                continue
            found = head if block.number == head.number else self._rpc.read_block(block.number)
            if found is not None and found.hash == block.hash:
                return block
        return None

    def _is_abandoned(self, block: Block) -> bool:
        """Whether the chain has another block of this number: where it has none, an endpoint may only be behind."""
        found = self._rpc.read_block(block.number)
        return found is not None and found.hash != block.hash


def parse_endpoints(options: Mapping[str, str]) -> dict[int, tuple[str, ...]]:
    """Return the URLs of each chain that options name."""
    named = {name.removeprefix(OPTION): options[name] for name in options if name.startswith(OPTION)}
    urls = {int(chain_id): tuple(filter(None, text.split(","))) for chain_id, text in named.items()}
    return {chain_id: each for chain_id, each in urls.items() if each}


def _name_protocols(protocols: Iterable[AnyProtocol]) -> dict[str, AnyProtocol]:
    found: dict[str, AnyProtocol] = {}
    for each in protocols:
        other = found.setdefault(each.name, each)
        if other is not each:
            raise ValueError(f"two protocols are named {each.name!r}: {other!r} and {each!r}")
    return found
