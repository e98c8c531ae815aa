"""One real chain: what moved in a range of blocks, read so that every answer belongs to the same fork.

A range costs the same however many orders wait: one request for its blocks and for the events of the addresses and of
the bridges, and one for the receipts of the transactions that were found.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import pairwise
from typing import TypeAlias, TypeVar

from adapters.base import AdapterError
from adapters.bridges.events import EventReader
from adapters.rpc.block import Block as Header
from adapters.rpc.endpoint import Answer, Question
from adapters.rpc.endpoint_pool import RpcPool
from adapters.rpc.single_endpoint import Asker
from api.domain.ledger import ChainUnavailable, Doubt, Head, Reading
from api.domain.transfers import CanonicalBlock, Transfer
from api.domain.watched import Watched
from api.services.ledger.candidates import choose_paying_or_naming
from api.services.ledger.event_searches import is_relevant, plan_bloom_searches, plan_event_searches
from api.services.ledger.evidence.signatures import accepts_signature
from api.services.ledger.reading import TransactionReader
from api.services.ledger.rpc_records import (
    FoundLog,
    FullBlock,
    Receipt,
    ask_for_blocks,
    read_full_blocks,
    read_headers,
    read_known_blocks,
    read_receipt,
    read_searches,
    read_transaction,
    to_block,
)
from api.services.ledger.transfers import Mined

AT_ONCE = 20
"""Whole blocks in one request: a full one has some hundred kilobytes, but where many come at once they are small."""

Item = TypeVar("Item")
Parsed = TypeVar("Parsed")
Hashes: TypeAlias = dict[str, FullBlock]
"""Transactions and their blocks."""


class ChainReader:
    """Reads one chain.

    Parameters
    ----------
    rpc : Asker
        Endpoints that stand in for each other, or one by itself.
    bridges : sequence of EventReader
        Whose events count on it.
    """

    def __init__(self, rpc: Asker, bridges: Sequence[EventReader]) -> None:
        self._rpc, self._bridges = rpc, tuple(bridges)
        self._at: Header | None = None
        self.sample: str | None = None
        """A transaction that was read lately."""
        self._transactions = TransactionReader(rpc, self._bridges)

    @property
    def untraced(self) -> Mapping[str, CanonicalBlock]:
        """The newest transactions, by their hashes, that no trace was to be had of when they were read last."""
        return self._transactions.untraced

    @property
    def unread(self) -> Mapping[str, Doubt]:
        """The newest transactions, by their hashes, at whose events a bridge's code failed when they were read last."""
        return self._transactions.unread

    def read_head(self) -> Head:
        """Return the newest block, and up to where the chain says it is final, or else is deep enough to be.

        Raises
        ------
        ChainUnavailable
            If no endpoint answers.
        """
        if not isinstance(self._rpc, RpcPool):
            raise TypeError("where a chain ends is for its endpoints together to say")
        pool, last = self._rpc, self._at.number if self._at else None
        newest = self._at = self._guard(lambda: pool.read_head(beside=last))
        return Head(block=to_block(newest), final_number=newest.final)

    def read_blocks(self, numbers: Collection[int]) -> dict[int, CanonicalBlock]:
        """Return the canonical blocks with these numbers; one beyond the head is left out."""
        told = {each.number: to_block(each) for each in (self._at, self._at and self._at.beside) if each}
        asked = sorted(number for number in numbers if number >= 0 and number not in told)
        questions = [("eth_getBlockByNumber", [hex(number), False]) for number in asked]
        found = self.ask(questions, read_headers) if questions else []
        return {block.number: block for block in (*told.values(), *found) if block.number in numbers}

    def find_block_at(self, moment: datetime, newest: int) -> int:
        """Return the number of the first block mined at `moment` or later, searching below `newest`."""
        low, high = 0, newest
        while low < high:
            middle = (low + high) // 2
            block = self.read_blocks([middle]).get(middle)
            if block is not None and block.mined_at < moment:
                low = middle + 1
            else:
                high = middle
        return low

    def accepts_signature(self, account: str, digest: bytes, signature: bytes, number: int) -> bool:
        """Say whether an account has signed a digest; a contract is asked in block `number` and in the newest one."""
        return self._guard(lambda: accepts_signature(self._rpc, account, digest, signature, number))

    def read(self, first: int, last: int, watched: Watched) -> Reading:
        """Return what moved to vendors, back, and into bridges, oldest first, and which blocks may hold more."""
        return self._guard(lambda: self._read(first, last, watched))

    def search(self, first: int, last: int, watched: Watched) -> tuple[Transfer, ...]:
        """Return what the events of these blocks tell of transfers that matter; only blocks that have any are read.

        Raises
        ------
        ChainUnavailable
            If the chain can't be read just now.
        """
        searches = plan_event_searches(first, last, watched, self._bridges)
        found = self.ask(searches, read_searches)
        relevant = [each for each in found if is_relevant(each, watched, self._bridges)]
        return self.locate(relevant, watched)

    def locate(self, found: Sequence[FoundLog], watched: Watched) -> tuple[Transfer, ...]:
        """Return what the transactions of these events moved to `watched`."""
        blocks = {
            block.block.number: block for block in self.load_full_blocks({each.log.block_number for each in found})
        }
        hashes = {each.tx_hash: self._find_block(each, blocks) for each in found}
        return self.interpret(self.read_mined(hashes), watched)

    def load_full_blocks(self, numbers: Collection[int]) -> list[FullBlock]:
        """Return whole blocks."""
        blocks: list[FullBlock] = []
        for portion in _split_into_portions(sorted(numbers), AT_ONCE):
            blocks += self.ask(ask_for_blocks(portion), partial(read_full_blocks, numbers=portion))
        return blocks

    def load_known_blocks(self, numbers: Collection[int]) -> dict[int, FullBlock]:
        """Return whole blocks, as far as there are such."""
        found = self.ask(ask_for_blocks(sorted(numbers)), read_known_blocks)
        return {block.block.number: block for block in found}

    def choose(self, blocks: Mapping[int, FullBlock], found: Iterable[FoundLog], watched: Watched) -> Hashes:
        """Return the transactions that may have moved something that matters: by these events, or by what they say."""
        hashes = choose_paying_or_naming(blocks, watched)
        for each in found:
            block = self._find_block(each, blocks)
            if is_relevant(each, watched, self._bridges):
                hashes[each.tx_hash] = block
        return hashes

    def interpret(self, mined: Iterable[Mined], watched: Watched) -> tuple[Transfer, ...]:
        """Return what these transactions moved to `watched`, into bridges and back, oldest first."""
        found = self._transactions.read_all(mined, watched, self._at)
        return tuple(sorted(found, key=lambda row: (row.block.number, row.tx_hash, row.log_index)))

    def _read(self, first: int, last: int, watched: Watched) -> Reading:
        blocks, found = self._read_range(first, last, watched)
        hashes = self.choose(blocks, found, watched)
        told_by = self._rpc.answered_by
        self.sample = next((tx_hash for block in blocks.values() for tx_hash in block.records), self.sample)
        searches = plan_bloom_searches(watched, self._bridges)
        doubtful = [each.block for each in blocks.values() if any(search.may_match(each.bloom) for search in searches)]
        transfers = self.interpret(self.read_mined(hashes), watched)
        return Reading(
            transfers=transfers,
            doubts=(
                *(Doubt(block=each, told_by=told_by) for each in doubtful),
                *(self.unread[tx_hash] for tx_hash in hashes if tx_hash in self.unread),
            ),
            untraced=tuple(tx_hash for tx_hash in hashes if tx_hash in self.untraced),
        )

    def _read_range(self, first: int, last: int, watched: Watched) -> tuple[dict[int, FullBlock], list[FoundLog]]:
        """Return the blocks, and the transfers of tokens to these addresses with the bridges' events; in one request.

        Blocks are large: of a long range, those that do not fit follow in requests of their own.
        """
        asked = plan_event_searches(first, last, watched, self._bridges)
        numbers, *later = _split_into_portions(range(first, last + 1), AT_ONCE)

        def parse(answers: list[Answer]) -> tuple[list[FullBlock], list[FoundLog]]:
            return read_full_blocks(answers[len(asked) :], numbers), read_searches(answers[: len(asked)])

        blocks, found = self.ask([*asked, *ask_for_blocks(numbers)], parse)
        blocks += self.load_full_blocks([number for portion in later for number in portion])
        for before, after in pairwise(blocks):
            if before.block.hash != after.parent_hash:
                raise ChainUnavailable(f"chain {self._rpc.chain_id} changed at block {after.block.number}")
        return {block.block.number: block for block in blocks}, found

    def _find_block(self, found: FoundLog, blocks: Mapping[int, FullBlock]) -> FullBlock:
        block = blocks.get(found.log.block_number)
        if block is None or block.block.hash != found.log.block_hash or found.tx_hash not in block.records:
            raise ChainUnavailable(f"chain {self._rpc.chain_id} changed while it was read")
        return block

    def read_mined(self, hashes: Mapping[str, FullBlock]) -> Iterator[Mined]:
        """Read the receipts of these transactions, and give those that succeeded."""
        asked = list(hashes)
        questions: list[Question] = [("eth_getTransactionReceipt", [tx_hash]) for tx_hash in asked]

        def parse(answers: list[Answer]) -> list[Receipt]:
            return [read_receipt(answer, tx_hash) for answer, tx_hash in zip(answers, asked, strict=True)]

        for receipt in self.ask(questions, parse) if questions else ():
            block = hashes[receipt.tx_hash]
            if receipt.block_hash != block.block.hash:
                raise ChainUnavailable(f"chain {self._rpc.chain_id}: {receipt.tx_hash} moved while it was read")
            if receipt.is_successful:
                transaction = read_transaction(block.records[receipt.tx_hash])
                yield Mined(chain_id=self._rpc.chain_id, block=block.block, transaction=transaction, receipt=receipt)

    def ask(self, questions: Sequence[Question], parse: Callable[[list[Answer]], Parsed]) -> Parsed:
        """Put questions to an endpoint that is on the fork of the head.

        Raises
        ------
        ChainUnavailable
            If none answers them.
        """
        return self._guard(lambda: self._rpc.ask(questions, parse, self._at))

    def _guard(self, ask: Callable[[], Parsed]) -> Parsed:
        try:
            return ask()
        except AdapterError as fault:
            raise ChainUnavailable(str(fault)) from fault


def _split_into_portions(items: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]
