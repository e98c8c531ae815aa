"""One real chain: what moved in a range of blocks, read so that every answer belongs to the same fork.

A range costs the same however many orders wait: one request for its blocks and for the events of the addresses and of
the bridges, and one for the receipts of the transactions that were found.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import chain, pairwise
from typing import TypeVar

from adapters.base import AdapterError
from adapters.endpoint import Answer, Question
from adapters.rpc import Block as Header
from adapters.rpc import RpcPool
from api.domain.confirmations import finality_blocks
from api.domain.ledger import Block, ChainUnavailable, Head, Transfer
from api.services.chain_ledger_records import (
    FoundLog,
    FullBlock,
    Receipt,
    read_found_logs,
    read_full_blocks,
    read_header,
    read_receipt,
    read_transaction,
)
from api.services.chain_ledger_transfers import TRANSFER_TOPIC, Mined, topic_of
from api.services.ledger.bridge_events import Bridge
from api.services.ledger.candidates import AddressSearch
from api.services.ledger.reading import TransactionReader
from api.services.ledger.signatures import accepts_signature

AT_ONCE = 20
"""Whole blocks in one request: a full one has some hundred kilobytes, but where many come at once they are small."""
MOST_RECIPIENTS = 500
"""Addresses in one search of events."""

Item = TypeVar("Item")
Parsed = TypeVar("Parsed")


class ChainReader:
    """Reads one chain.

    Parameters
    ----------
    rpc : RpcPool
        Of the chain.
    bridges : sequence of Bridge
        Whose events count on it.
    """

    def __init__(self, rpc: RpcPool, bridges: Sequence[Bridge]) -> None:
        self._rpc, self._bridges = rpc, tuple(bridges)
        self._at: Header | None = None
        self._transactions = TransactionReader(rpc, self._bridges)

    @property
    def untraced(self) -> Mapping[str, Block]:
        """The newest transactions, by their hashes, that no trace was to be had of when they were read last."""
        return self._transactions.untraced

    def head(self) -> Head:
        """Return the newest block, and up to where the chain says it is final, or else is deep enough to be.

        Raises
        ------
        ChainUnavailable
            If no endpoint answers.
        """
        last = self._at.number if self._at else None
        newest = self._at = self._guarded(lambda: self._rpc.head(beside=last))
        deep = newest.number - finality_blocks(self._rpc.chain_id)
        return Head(
            block=_block(newest),
            final_number=deep if newest.final is None else min(newest.final, newest.number),
        )

    def blocks(self, numbers: Collection[int]) -> dict[int, Block]:
        """Return the canonical blocks with these numbers; one beyond the head is left out."""
        told = {each.number: _block(each) for each in (self._at, self._at and self._at.beside) if each}
        asked = sorted(number for number in numbers if number >= 0 and number not in told)
        questions = [("eth_getBlockByNumber", [hex(number), False]) for number in asked]
        found = self._ask(questions, _read_headers) if questions else []
        return {block.number: block for block in (*told.values(), *found) if block.number in numbers}

    def block_at(self, moment: datetime, newest: int) -> int:
        """Return the number of the first block mined at `moment` or later, searching below `newest`."""
        low, high = 0, newest
        while low < high:
            middle = (low + high) // 2
            block = self.blocks([middle]).get(middle)
            if block is not None and block.mined_at < moment:
                low = middle + 1
            else:
                high = middle
        return low

    def accepts_signature(self, account: str, digest: bytes, signature: bytes, number: int) -> bool:
        """Say whether an account has signed a digest; a contract is asked in block `number` and in the newest one."""
        return self._guarded(lambda: accepts_signature(self._rpc, account, digest, signature, number))

    def transfers(self, first: int, last: int, recipients: Collection[str]) -> tuple[Transfer, ...]:
        """Return what moved to `recipients`, and into bridges and back, oldest first."""
        return self._guarded(lambda: self._read(first, last, frozenset(recipients)))

    def _read(self, first: int, last: int, wanted: frozenset[str]) -> tuple[Transfer, ...]:
        blocks, token_logs, bridge_logs = self._range(first, last, wanted)
        hashes = self._coin_payments(blocks, wanted) | self._naming(blocks, wanted)
        for found_log in token_logs:
            hashes[found_log.tx_hash] = self._block_of(found_log, blocks)
        for found_log in bridge_logs:
            block = self._block_of(found_log, blocks)
            if found_log.names(wanted):
                hashes[found_log.tx_hash] = block
        found = [row for mined in self._mined(hashes) for row in self._transactions.read(mined, wanted, self._at)]
        return tuple(sorted(found, key=lambda row: (row.block.number, row.tx_hash, row.log_index)))

    def _range(
        self, first: int, last: int, wanted: frozenset[str]
    ) -> tuple[dict[int, FullBlock], list[FoundLog], list[FoundLog]]:
        """Return the blocks, the transfers of tokens to these addresses, and the bridges' events; in one request.

        Blocks are large: of a long range, those that do not fit follow in requests of their own.
        """
        span: dict[str, object] = {"fromBlock": hex(first), "toBlock": hex(last)}
        searches = [span | _transfers_to(each) for each in _portions(sorted(wanted), MOST_RECIPIENTS)]
        asked = [("eth_getLogs", [each]) for each in (*searches, *(span | each for each in self._bridge_events()))]
        numbers, *later = _portions(range(first, last + 1), AT_ONCE)

        def parse(answers: list[Answer]) -> tuple[list[FullBlock], list[list[FoundLog]]]:
            logs = [read_found_logs(answer) for answer in answers[: len(asked)]]
            return read_full_blocks(answers[len(asked) :], numbers), logs

        blocks, logs = self._ask([*asked, *_block_questions(numbers)], parse)
        for portion in later:
            blocks += self._ask(_block_questions(portion), partial(read_full_blocks, numbers=portion))
        for before, after in pairwise(blocks):
            if before.block.hash != after.parent_hash:
                raise ChainUnavailable(f"chain {self._rpc.chain_id} changed at block {after.block.number}")
        by_number = {block.block.number: block for block in blocks}
        of_tokens, of_bridges = logs[: len(searches)], logs[len(searches) :]
        return by_number, [*chain.from_iterable(of_tokens)], [*chain.from_iterable(of_bridges)]

    def _coin_payments(self, blocks: Mapping[int, FullBlock], wanted: frozenset[str]) -> dict[str, FullBlock]:
        """Return the transactions that send the chain's coin to one of the addresses."""
        return {
            tx_hash: block
            for block in blocks.values()
            for tx_hash, record in block.records.items()
            if str(record.get("to")).lower() in wanted and record.get("value") not in (None, "0x0")
        }

    def _naming(self, blocks: Mapping[int, FullBlock], wanted: frozenset[str]) -> dict[str, FullBlock]:
        """Return the transactions that name one of the addresses: they may send coin within, and put into bridges."""
        search = AddressSearch(wanted)
        return {
            tx_hash: block
            for block in blocks.values()
            for tx_hash, record in block.records.items()
            if search.is_named_in(record.get("input"))
        }

    def _bridge_events(self) -> list[dict[str, object]]:
        contracts = sorted({address for bridge in self._bridges for address in bridge.contracts})
        topics = [sorted({topic for bridge in self._bridges for topic in bridge.topics})]
        return [{"address": contracts, "topics": topics}] if contracts else []

    def _block_of(self, found: FoundLog, blocks: Mapping[int, FullBlock]) -> FullBlock:
        block = blocks.get(found.log.block_number)
        if block is None or block.block.hash != found.log.block_hash or found.tx_hash not in block.records:
            raise ChainUnavailable(f"chain {self._rpc.chain_id} changed while it was read")
        return block

    def _mined(self, hashes: Mapping[str, FullBlock]) -> Iterator[Mined]:
        """Read the receipts of these transactions, and give those that succeeded."""
        asked = list(hashes)
        questions: list[Question] = [("eth_getTransactionReceipt", [tx_hash]) for tx_hash in asked]

        def parse(answers: list[Answer]) -> list[Receipt]:
            return [read_receipt(answer, tx_hash) for answer, tx_hash in zip(answers, asked, strict=True)]

        for receipt in self._ask(questions, parse) if questions else ():
            block = hashes[receipt.tx_hash]
            if receipt.block_hash != block.block.hash:
                raise ChainUnavailable(f"chain {self._rpc.chain_id}: {receipt.tx_hash} moved while it was read")
            if receipt.is_successful:
                transaction = read_transaction(block.records[receipt.tx_hash])
                yield Mined(chain_id=self._rpc.chain_id, block=block.block, transaction=transaction, receipt=receipt)

    def _ask(self, questions: Sequence[Question], parse: Callable[[list[Answer]], Parsed]) -> Parsed:
        return self._guarded(lambda: self._rpc.ask(questions, parse, self._at))

    def _guarded(self, ask: Callable[[], Parsed]) -> Parsed:
        try:
            return ask()
        except AdapterError as fault:
            raise ChainUnavailable(str(fault)) from fault


def _block(header: Header) -> Block:
    mined_at = datetime.fromtimestamp(header.timestamp, UTC)
    return Block(number=header.number, hash=header.hash, mined_at=mined_at)


def _read_headers(answers: list[Answer]) -> list[Block]:
    return [read_header(answer) for answer in answers if answer is not None]


def _block_questions(numbers: Sequence[int]) -> list[Question]:
    return [("eth_getBlockByNumber", [hex(number), True]) for number in numbers]


def _transfers_to(recipients: Sequence[str]) -> dict[str, object]:
    return {"topics": [TRANSFER_TOPIC, None, [topic_of(each) for each in recipients]]}


def _portions(items: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]
