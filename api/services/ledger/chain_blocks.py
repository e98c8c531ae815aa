"""One real chain's blocks, and whatever else is asked of it, so that every answer belongs to the same fork."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import pairwise
from typing import TypeVar

from adapters.base import AdapterError
from adapters.rpc.block import Block as Header
from adapters.rpc.endpoint import Answer, LacksBlock, Question
from adapters.rpc.endpoint_pool import RpcPool
from adapters.rpc.single_endpoint import Asker
from api.domain.ledger import ChainUnavailable, Head
from api.domain.transfers import CanonicalBlock
from api.services.ledger.rpc_records import (
    FullBlock,
    Receipt,
    ask_for_blocks,
    read_full_blocks,
    read_headers,
    read_known_blocks,
    read_receipt,
    read_transaction,
    to_block,
)
from api.services.ledger.transfers import Mined

AT_ONCE = 20
"""Whole blocks in one request: a full one has some hundred kilobytes, but where many come at once they are small."""

Item = TypeVar("Item")
Parsed = TypeVar("Parsed")


class ChainBlocks:
    """Reads blocks of one chain.

    Parameters
    ----------
    rpc : Asker
        Endpoints that stand in for each other, or one by itself.
    """

    def __init__(self, rpc: Asker) -> None:
        self._rpc = rpc
        self._at: Header | None = None
        self.failed: frozenset[str] = frozenset()
        """Those of the transactions that were read last that have failed, as their receipts say."""

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

    def load_full_blocks(self, numbers: Collection[int]) -> list[FullBlock]:
        """Return whole blocks."""
        blocks: list[FullBlock] = []
        for portion in split_into_portions(sorted(numbers), AT_ONCE):
            blocks += self.ask(ask_for_blocks(portion), partial(read_full_blocks, numbers=portion))
        return blocks

    def load_known_blocks(self, numbers: Collection[int]) -> dict[int, FullBlock]:
        """Return whole blocks, as far as there are such."""
        found = self.ask(ask_for_blocks(sorted(numbers)), read_known_blocks)
        return {block.block.number: block for block in found}

    def read_mined(self, hashes: Mapping[str, FullBlock]) -> Iterator[Mined]:
        """Read the receipts of these transactions, and give those that succeeded."""
        asked = list(hashes)
        questions: list[Question] = [("eth_getTransactionReceipt", [tx_hash]) for tx_hash in asked]

        def parse(answers: list[Answer]) -> list[Receipt]:
            return [read_receipt(answer, tx_hash) for answer, tx_hash in zip(answers, asked, strict=True)]

        receipts = self.ask(questions, parse) if questions else []
        self.failed = frozenset(each.tx_hash for each in receipts if not each.is_successful)
        for receipt in receipts:
            block = hashes[receipt.tx_hash]
            if receipt.block_hash != block.block.hash:
                raise ChainUnavailable(f"chain {self._rpc.chain_id}: {receipt.tx_hash} moved while it was read")
            if receipt.is_successful:
                transaction = read_transaction(block.records[receipt.tx_hash])
                yield Mined(chain_id=self._rpc.chain_id, block=block.block, transaction=transaction, receipt=receipt)

    def require_chain(self, blocks: Sequence[FullBlock], end: CanonicalBlock | None) -> None:
        """Refuse blocks of which one does not follow the one before, or the last is not the one that was told of.

        Raises
        ------
        LacksBlock
            If so: another endpoint may have the others.
        """
        for before, after in pairwise(blocks):
            if before.block.hash != after.parent_hash:
                raise LacksBlock(f"chain {self._rpc.chain_id} changed at block {after.block.number}")
        if end is None or (blocks[-1].block.number == end.number and blocks[-1].block != end):
            raise LacksBlock(f"chain {self._rpc.chain_id} changed at block {blocks[-1].block.number}")

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


def split_into_portions(items: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
    """Yield the items in portions of this size."""
    for start in range(0, len(items), size):
        yield items[start : start + size]
