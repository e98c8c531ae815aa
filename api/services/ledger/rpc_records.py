"""What a node answers about blocks, transactions and receipts, checked field by field before it is believed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from adapters.base import BadPayload
from adapters.rpc.abi import Log, read_hex, read_quantity
from adapters.rpc.block import Block as Header
from adapters.rpc.block import parse_block
from adapters.rpc.endpoint import Answer, Question, RpcRefused, TooMuch
from adapters.rpc.logs import parse_log
from api.domain.transfers import CanonicalBlock
from api.services.ledger.blooms import BLOOM_BYTES

REFERENCE_BYTES = 16
WORD = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainTransaction:
    """A transaction as its block lists it; `recipient` is None where it makes a contract."""

    tx_hash: str
    sender: str
    recipient: str | None
    value: int
    calldata: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class FullBlock:
    """A block with its transactions by hash, still as the node gave them: most are nobody's business here.

    `bloom` is that of its events, as a number; `header` the whole block as it came.
    """

    block: CanonicalBlock
    header: Mapping[str, Any]
    parent_hash: str
    bloom: int
    records: Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What a transaction did; no logs where it reverted."""

    tx_hash: str
    block_hash: str
    is_successful: bool
    logs: tuple[Log, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundLog:
    """A log that was searched for, and its transaction."""

    log: Log
    tx_hash: str

    def names(self, addresses: Collection[str]) -> bool:
        """Whether one of the addresses fills one of the event's words."""
        data = self.log.data
        words = (data[place : place + WORD].hex() for place in range(0, len(data), WORD))
        return any("0x" + word[-40:] in addresses for word in (*self.log.topics[1:], *words))


def read_header(record: object) -> CanonicalBlock:
    """Read a block's number, hash and time.

    Raises
    ------
    BadPayload
        Naming the field that is missing or malformed.
    """
    return to_block(parse_block(record))


def read_full_blocks(records: Sequence[object], numbers: Sequence[int]) -> list[FullBlock]:
    """Read the blocks that were asked for by these numbers; see `read_header`."""
    return [_read_full_block(record, number) for record, number in zip(records, numbers, strict=True)]


def _read_full_block(record: object, number: int) -> FullBlock:
    block = read_header(record)
    if not isinstance(record, dict) or block.number != number:
        raise BadPayload(f"block {block.number} was answered for block {number}")
    rows = record.get("transactions")
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise BadPayload(f"block {number}: transactions must be a list of objects")
    return FullBlock(
        block=block,
        header=record,
        parent_hash=_hash(record, "parentHash"),
        bloom=int.from_bytes(read_hex(record.get("logsBloom"), "logsBloom", BLOOM_BYTES)),
        records={str(row.get("hash")).lower(): row for row in rows},
    )


def read_transaction(record: Mapping[str, Any]) -> ChainTransaction:
    """Read a transaction.

    Raises
    ------
    BadPayload
        Naming the field that is missing or malformed.
    """
    to = record.get("to")
    return ChainTransaction(
        tx_hash=_hash(record, "hash"),
        sender=_read_address(record.get("from"), "from"),
        recipient=None if to is None else _read_address(to, "to"),
        value=read_quantity(record, "value", 256),
        calldata=read_hex(record.get("input"), "input"),
    )


def read_receipt(record: object, tx_hash: str) -> Receipt:
    """Read the receipt of a transaction.

    Raises
    ------
    BadPayload
        If it is another's, or a field is missing or malformed.
    """
    if not isinstance(record, dict) or _hash(record, "transactionHash") != tx_hash:
        raise BadPayload(f"there is no receipt of {tx_hash}")
    block_hash, logs = _hash(record, "blockHash"), record.get("logs")
    if not isinstance(logs, list):
        raise BadPayload(f"the receipt of {tx_hash} has no logs")
    found = tuple(sorted(map(parse_log, logs), key=lambda log: log.index))
    if any(log.block_hash != block_hash for log in found):
        raise BadPayload(f"the receipt of {tx_hash} has logs of another block")
    return Receipt(
        tx_hash=tx_hash, block_hash=block_hash, is_successful=read_quantity(record, "status") == 1, logs=found
    )


def read_found_logs(answer: object) -> list[FoundLog]:
    """Read where the logs lie that were searched for.

    Raises
    ------
    RpcRefused
        If the node would not search.
    BadPayload
        If a field is missing or malformed.
    """
    if isinstance(answer, RpcRefused):
        raise answer
    if not isinstance(answer, list):
        raise BadPayload(f"eth_getLogs must give a list, not {type(answer).__name__}")
    return [_read_found_log(record) for record in answer]


def _read_found_log(record: object) -> FoundLog:
    log = parse_log(record)
    return FoundLog(log=log, tx_hash=_hash(record, "transactionHash") if isinstance(record, dict) else "")


def _hash(record: Mapping[str, Any], field: str) -> str:
    return "0x" + read_hex(record.get(field), field, 32).hex()


def _read_address(text: object, field: str) -> str:
    return "0x" + read_hex(text, field, 20).hex()


def to_block(header: Header) -> CanonicalBlock:
    """Return the domain's block of an endpoint's header."""
    mined_at = datetime.fromtimestamp(header.timestamp, UTC)
    return CanonicalBlock(number=header.number, hash=header.hash, mined_at=mined_at)


def read_headers(answers: list[Answer]) -> list[CanonicalBlock]:
    """Read the headers of the blocks that there are."""
    return [read_header(answer) for answer in answers if answer is not None]


def ask_for_blocks(numbers: Sequence[int]) -> list[Question]:
    """Return the questions for whole blocks."""
    return [("eth_getBlockByNumber", [hex(number), True]) for number in numbers]


def read_known_blocks(answers: list[Answer]) -> list[FullBlock]:
    """Read the whole blocks that there are."""
    known = [answer for answer in answers if answer is not None]
    return read_full_blocks(known, [read_header(answer).number for answer in known])


def read_searches(answers: list[Answer]) -> list[FoundLog]:
    """Read the logs that several searches found.

    Raises
    ------
    TooMuch
        If one found more than the endpoint tells at once.
    """
    for answer in answers:
        if isinstance(answer, TooMuch):
            raise answer
    return [found for answer in answers for found in read_found_logs(answer)]


def read_if_told(answers: list[Answer]) -> list[FoundLog] | None:
    """Read what searches found; None where that is more than the endpoint tells at once."""
    try:
        return read_searches(answers)
    except TooMuch:
        return None
