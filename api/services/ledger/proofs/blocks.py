"""Whole blocks whose receipts and transactions were checked against the block's hash."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import structlog

from adapters.base import BadPayload
from adapters.rpc.abi import read_hex
from adapters.rpc.endpoint import Answer, Question, RpcRefused
from api.domain.transfers import CanonicalBlock
from api.services.ledger.chain_reader import ChainReader
from api.services.ledger.hashes.receipts import NotProven, check_header, check_receipts
from api.services.ledger.hashes.transactions import check_sender, check_transactions, is_known
from api.services.ledger.rpc_records import (
    FoundLog,
    FullBlock,
    Receipt,
    read_full_blocks,
    read_receipt,
    read_transaction,
)
from api.services.ledger.transfers import Mined

PROVEN_AT_ONCE = 5
"""Blocks with all their receipts in one request: a full one has a megabyte or two."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvenBlock:
    """A block that hashes to its hash with everything in it."""

    full: FullBlock
    receipts: Mapping[str, Receipt]

    def events(self) -> Iterator[FoundLog]:
        """Return all its events."""
        for tx_hash, receipt in self.receipts.items():
            yield from (FoundLog(log=each, tx_hash=tx_hash) for each in receipt.logs)

    def mined(self, chain_id: int, hashes: Sequence[str], *, is_rehearsal: bool) -> list[Mined]:
        """Return the transactions with these hashes that succeeded, and were sent by whom they say.

        Raises
        ------
        NotProven
            If one was sent by somebody else, or has another hash.
        """
        found = []
        for tx_hash in hashes:
            record = self.full.records[tx_hash]
            check_sender(record, is_rehearsal=is_rehearsal)
            receipt, transaction = self.receipts[tx_hash], read_transaction(record)
            if receipt.is_successful:
                found.append(Mined(chain_id=chain_id, block=self.full.block, transaction=transaction, receipt=receipt))
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """What came of an attempt to prove blocks, by their numbers.

    `other_hashes` are those of blocks that the endpoint has with another hash; `refuted` are those whose content, as
    it told it, does not hash to the block.
    """

    proven: Mapping[int, ProvenBlock]
    other_hashes: Mapping[int, str]
    refuted: frozenset[int]


def prove_blocks(
    reader: ChainReader, chain_id: int, blocks: Sequence[CanonicalBlock], *, is_rehearsal: bool
) -> Attempt:
    """Read blocks with all their receipts, and check them.

    Raises
    ------
    ChainUnavailable
        If the endpoint does not answer.
    """
    proven: dict[int, ProvenBlock] = {}
    others: dict[int, str] = {}
    refuted: set[int] = set()
    for start in range(0, len(blocks), PROVEN_AT_ONCE):
        portion = blocks[start : start + PROVEN_AT_ONCE]
        headers, receipts = reader.ask(_questions(portion), _split)
        for block, header, answer in zip(portion, headers, receipts, strict=True):
            if not isinstance(header, dict):
                continue  # it is behind
            if str(header.get("hash")).lower() != block.hash:
                others[block.number] = str(header.get("hash")).lower()
                continue
            try:
                proven[block.number] = _prove(reader, chain_id, block, header, answer, is_rehearsal)
            except BadPayload as fault:
                log.warning("block_not_proven", chain_id=chain_id, block_number=block.number, reason=str(fault))
                refuted.add(block.number)
    return Attempt(proven=proven, other_hashes=others, refuted=frozenset(refuted))


def _prove(
    reader: ChainReader,
    chain_id: int,
    block: CanonicalBlock,
    header: Mapping[str, Any],
    answer: Answer,
    is_rehearsal: bool,
) -> ProvenBlock:
    (full,) = read_full_blocks([header], [block.number])
    check_header(header, block.hash)
    strange = [str(each.get("hash")).lower() for each in header["transactions"] if not is_known(each)]
    check_transactions(header, _raw(reader, strange), is_rehearsal=is_rehearsal)
    receipts = answer if isinstance(answer, list) else _each(reader, "eth_getTransactionReceipt", list(full.records))
    if not all(isinstance(each, dict) for each in receipts):
        raise NotProven(f"block {block.number}: a receipt is missing")
    check_receipts(chain_id, header, receipts)
    read = [read_receipt(each, str(each.get("transactionHash")).lower()) for each in receipts]
    return ProvenBlock(full=full, receipts={each.tx_hash: each for each in read if each.tx_hash in full.records})


def _raw(reader: ChainReader, hashes: Sequence[str]) -> dict[str, bytes]:
    """Return transactions as they were sent, in binary: so those hash whose type is not known here."""
    answers = _each(reader, "eth_getRawTransactionByHash", hashes)
    return {tx_hash: read_hex(answer, "transaction") for tx_hash, answer in zip(hashes, answers, strict=True)}


def _each(reader: ChainReader, method: str, hashes: Sequence[str]) -> list[Answer]:
    """Return the answers about each transaction, for a node that does not give those of a block at once."""
    questions: list[Question] = [(method, [tx_hash]) for tx_hash in hashes]
    return reader.ask(questions, _keep) if questions else []


def _keep(answers: list[Answer]) -> list[Answer]:
    return answers


def _questions(blocks: Sequence[CanonicalBlock]) -> list[Question]:
    numbers = [hex(block.number) for block in blocks]
    whole: list[Question] = [("eth_getBlockByNumber", [number, True]) for number in numbers]
    return [*whole, *(("eth_getBlockReceipts", [number]) for number in numbers)]


def _split(answers: list[Answer]) -> tuple[list[Answer], list[Answer]]:
    half = len(answers) // 2
    if any(isinstance(each, RpcRefused) for each in answers[:half]):
        raise BadPayload("a block was refused")
    return answers[:half], answers[half:]
