"""One real chain: what moved in a range of blocks, read so that every answer belongs to the same fork.

A range costs the same however many orders wait: one request for its blocks and for the events of the addresses and of
the bridges, and one for the receipts of the transactions that were found.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

import structlog

from adapters.bridges.events import EventReader
from adapters.rpc.endpoint import Answer
from adapters.rpc.single_endpoint import Asker
from api.domain.ledger import ChainUnavailable, Doubt, Head, Reading
from api.domain.transfers import CanonicalBlock, Transfer
from api.domain.watched import Watched
from api.services.ledger.candidates import choose_paying_or_naming
from api.services.ledger.chain_blocks import AT_ONCE, ChainBlocks, split_into_portions
from api.services.ledger.event_searches import is_relevant, plan_bloom_searches, plan_event_searches
from api.services.ledger.hashes.contents import is_whole
from api.services.ledger.look_budgets import LookBudget, ReadBefore, allow_receipts
from api.services.ledger.other_words import find_doubted_failures, list_others
from api.services.ledger.reading import TransactionReader
from api.services.ledger.rpc_records import (
    FoundLog,
    FullBlock,
    ask_for_blocks,
    read_full_blocks,
    read_if_told,
)
from api.services.ledger.transfers import Mined

log = structlog.get_logger(__name__)

HINT = "hint"
"""In place of a host, in a doubt that no host raised: its block may hold what no event tells."""
Hashes: TypeAlias = dict[str, FullBlock]
"""Transactions and their blocks."""


class ChainReader(ChainBlocks):
    """Reads one chain.

    Parameters
    ----------
    rpc : Asker
        Endpoints that stand in for each other, or one by itself.
    bridges : sequence of EventReader
        Whose events count on it.
    is_rehearsal : bool
        Whether it may be a developer's chain; see `check_sender`.
    """

    def __init__(self, rpc: Asker, bridges: Sequence[EventReader], *, is_rehearsal: bool = False) -> None:
        super().__init__(rpc)
        self._bridges, self._is_rehearsal = tuple(bridges), is_rehearsal
        self.sample: str | None = None
        """A transaction that was read lately."""
        self._transactions = TransactionReader(rpc, self._bridges)
        self.budget = LookBudget()
        """What the look that goes on has left."""
        self.read_before = ReadBefore()
        """What need not be read again for a doubt."""
        self.untold: frozenset[int] = frozenset()
        """Blocks of what was read last of which the endpoint did not tell all events: there were too many."""

    @property
    def untraced(self) -> Mapping[str, CanonicalBlock]:
        """The newest transactions, by their hashes, that no trace was to be had of when they were read last."""
        return self._transactions.untraced

    @property
    def unread(self) -> Mapping[str, Doubt]:
        """The newest transactions, by their hashes, at whose events a bridge's code failed when they were read last."""
        return self._transactions.unread

    @property
    def put_off(self) -> Mapping[str, CanonicalBlock]:
        """Those of the transactions that were read last for which the budget had nothing left."""
        return self._transactions.put_off

    def begin_look(self) -> None:
        """Begin to count what a look spends."""
        self.budget = LookBudget()

    def read_head(self) -> Head:
        """Begin a look, and return the newest block; see `ChainBlocks.read_head`."""
        self.begin_look()
        return super().read_head()

    def read(self, first: int, last: int, watched: Watched) -> Reading:
        """Return what moved to vendors, back, and into bridges, oldest first, and which blocks may hold more.

        What the look has no time for is put off: what no event tells of before it is asked about, the rest untraced.
        """
        return self._guard(lambda: self._read(first, last, watched))

    def read_again(self, number: int, watched: Watched) -> Reading:
        """Return what moved in a block, without the transactions that were read whole before."""
        return self._guard(lambda: self._read(number, number, watched, is_again=True))

    def search(self, first: int, last: int, watched: Watched) -> tuple[Transfer, ...]:
        """Return what the events of these blocks tell of transfers that matter; only blocks that have any are read.

        Raises
        ------
        ChainUnavailable
            If the chain can't be read just now.
        """
        found = self._search_events(first, last, watched)
        if self.untold:
            raise ChainUnavailable(f"chain {self._rpc.chain_id}: not all events of {sorted(self.untold)} are told")
        relevant = [each for each in found if is_relevant(each, watched, self._bridges)]
        return self.interpret(self.load_mined(relevant), watched)

    def load_mined(self, found: Sequence[FoundLog]) -> Iterator[Mined]:
        """Return the transactions of these events."""
        blocks = {
            block.block.number: block for block in self.load_full_blocks({each.log.block_number for each in found})
        }
        return self.read_mined({each.tx_hash: self._find_block(each, blocks) for each in found})

    def choose(self, blocks: Mapping[int, FullBlock], found: Iterable[FoundLog], watched: Watched) -> Hashes:
        """Return the transactions that may have moved something that matters: by these events, or by what they say."""
        hashes = choose_paying_or_naming(blocks, watched)
        for each in found:
            block = self._find_block(each, blocks)
            if is_relevant(each, watched, self._bridges):
                hashes[each.tx_hash] = block
        return hashes

    def interpret(
        self, mined: Iterable[Mined], watched: Watched, budget: LookBudget | None = None
    ) -> tuple[Transfer, ...]:
        """Return what these transactions moved to vendors, into bridges and back, oldest first.

        Without a budget each has its trace, as long as they are quick.
        """
        spent = budget or LookBudget(is_generous=True)
        found = self._guard(lambda: self._transactions.read_all(mined, watched, self._at, spent))
        return tuple(sorted(found, key=lambda row: (row.block.number, row.tx_hash, row.log_index)))

    def note_read(self, read: Iterable[tuple[str, CanonicalBlock]]) -> None:
        """Note those of these transactions that were read whole just now."""
        partly = (self.put_off, self.untraced, self.unread, self.failed)
        for tx_hash, block in read:
            if not any(tx_hash in each for each in partly):
                self.read_before.note(tx_hash, block.hash)

    def _read(self, first: int, last: int, watched: Watched, *, is_again: bool = False) -> Reading:
        blocks, found = self._read_range(first, last, watched)
        self.read_before.begin(watched)
        chosen = self.choose(blocks, found, watched)
        if is_again:
            chosen = {each: block for each, block in chosen.items() if not self.read_before.has(each, block.block.hash)}
        hashes, later = allow_receipts(chosen, {each.tx_hash for each in found}, watched, self.budget)
        told_by = self._rpc.answered_by
        self.sample = next((tx_hash for block in blocks.values() for tx_hash in block.records), self.sample)
        searches = plan_bloom_searches(watched, self._bridges)
        doubtful = [
            each.block
            for number, each in blocks.items()
            if number in self.untold or any(search.may_match(each.bloom) for search in searches)
        ]
        transfers = self.interpret(self.read_mined(hashes), watched, self.budget)
        self.note_read((tx_hash, block.block) for tx_hash, block in hashes.items())
        put_off = {each.number: each for each in (*later, *self.put_off.values())}
        return Reading(
            transfers=transfers,
            doubts=(
                *(Doubt(block=each, told_by=told_by) for each in doubtful),
                *(self.unread[tx_hash] for tx_hash in hashes if tx_hash in self.unread),
                *(Doubt(block=each, told_by=HINT) for each in self._list_odd(blocks, hashes)),
            ),
            untraced=tuple(tx_hash for tx_hash in hashes if tx_hash in self.untraced),
            put_off=tuple(Doubt(block=each, told_by=HINT) for each in put_off.values()),
        )

    def _list_odd(self, blocks: Mapping[int, FullBlock], hashes: Hashes) -> list[CanonicalBlock]:
        """Return the blocks that do not hash to what was told, or of which a failure was told that another denies.

        No hash tells of a failure, and nobody else would be asked.
        """
        parted = [each for each in blocks.values() if not is_whole(each, is_rehearsal=self._is_rehearsal)]
        failed = sorted(self.failed & hashes.keys())
        doubted = find_doubted_failures(list_others(self._rpc) if failed else (), failed, self._at)
        return [each.block for each in (*parted, *(hashes[tx_hash] for tx_hash in doubted))]

    def _read_range(self, first: int, last: int, watched: Watched) -> tuple[dict[int, FullBlock], list[FoundLog]]:
        """Return the blocks, and the transfers of tokens to these addresses with the bridges' events; in one request.

        Blocks are large: of a long range, those that do not fit follow in requests of their own.
        """
        asked = plan_event_searches(first, last, watched, self._bridges)
        numbers, *later = split_into_portions(range(first, last + 1), AT_ONCE)
        self.untold = frozenset()
        end = self.read_blocks([last]).get(last)

        def parse(answers: list[Answer]) -> tuple[list[FullBlock], list[FoundLog] | None]:
            told = read_full_blocks(answers[len(asked) :], numbers)
            self.require_chain(told, end)
            return told, read_if_told(answers[: len(asked)])

        blocks, told = self.ask([*asked, *ask_for_blocks(numbers)], parse)
        found = told if told is not None else self._search_events(first, last, watched)
        blocks += self.load_full_blocks([number for portion in later for number in portion])
        self.require_chain(blocks, end)
        return {block.block.number: block for block in blocks}, found

    def _search_events(self, first: int, last: int, watched: Watched) -> list[FoundLog]:
        """Return the events of these blocks; those that have more than the endpoint tells at once are in `untold`.

        Strangers make as many events as fit into a block, in whoever's name.
        """
        found: list[FoundLog] = []
        untold: set[int] = set()
        spans = [(first, last)]
        while spans:
            begin, end = spans.pop()
            told = self.ask(plan_event_searches(begin, end, watched, self._bridges), read_if_told)
            found += told or ()
            if told is None and begin < end:
                middle = (begin + end) // 2
                spans += [(begin, middle), (middle + 1, end)]
            elif told is None:
                log.warning("events_not_told", chain_id=self._rpc.chain_id, block_number=begin)
                untold.add(begin)
        self.untold = frozenset(untold)
        return found

    def _find_block(self, found: FoundLog, blocks: Mapping[int, FullBlock]) -> FullBlock:
        block = blocks.get(found.log.block_number)
        if block is None or block.block.hash != found.log.block_hash or found.tx_hash not in block.records:
            raise ChainUnavailable(f"chain {self._rpc.chain_id} changed while it was read")
        return block
