"""The calls of a transaction, as ``callTracer`` of a node's ``debug_traceTransaction`` tells them.

A trace is believed only if it is this transaction's and its events are those of the receipt, one by one. geth, erigon,
nethermind, reth and anvil say with ``position`` before which inner call an event came; older nodes do not, and then
the receipt tells.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from adapters.base import BadPayload
from adapters.rpc.abi import Log, read_hex, read_quantity
from adapters.rpc.endpoint import Answer, Question
from api.services.ledger.rpc_records import ChainTransaction, Receipt

MOST_FRAMES = 100_000
LAST_OF_CHAINS_OWN = 0xFFFF
"""Nobody can put a contract at an address that is so low: what is there is the chain's."""
TRACER_TIMEOUT = "10s"

CALL, CREATIONS, SELF_DESTRUCT = "CALL", frozenset({"CREATE", "CREATE2"}), "SELFDESTRUCT"
MOVES_COIN = CREATIONS | {CALL, SELF_DESTRUCT}


class UnbelievableTrace(Exception):
    """What a node gave as a trace is none, or not of this transaction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One call.

    Parameters
    ----------
    parent : int
        Number of the call that made it; -1 of the transaction's own.
    kind : str
        ``CALL``, ``DELEGATECALL``, ``CREATE`` …
    sender, recipient : str
        Addresses in lower case; the recipient is empty where no contract came to be.
    value : int
        Wei that went along; 0 where the call moved none.
    is_undone : bool
        Whether it, or a call around it, reverted.
    logs_before : int
        How many of the receipt's logs had been written when it began.
    calldata : bytes
        What it was given.
    """

    parent: int
    kind: str
    sender: str
    recipient: str
    value: int
    is_undone: bool
    logs_before: int
    calldata: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class CallTree:
    """A transaction's calls in the order in which they began, and the call that wrote each of the receipt's logs."""

    frames: tuple[Frame, ...]
    frame_of_log: tuple[int, ...]


def is_chains_own(address: str) -> bool:
    """Whether an address is of the chain's own contracts, which keep its books: of fees, of blocks, of coin."""
    return int(address, 16) <= LAST_OF_CHAINS_OWN


def find_calls_around(tree: CallTree) -> list[int]:
    """Return the call on whose behalf each runs: itself, or the one that borrowed its code."""
    found: list[int] = []
    for number, frame in enumerate(tree.frames):
        found.append(number if frame.kind == CALL or frame.parent < 0 else found[frame.parent])
    return found


def are_bridges_calls(tree: CallTree, bridges: Collection[str]) -> list[bool]:
    """Return of each call whether it, or one around it, is of a bridge's contract."""
    found: list[bool] = []
    for frame in tree.frames:
        is_around = frame.parent >= 0 and found[frame.parent]
        found.append(is_around or frame.recipient in bridges or frame.sender in bridges)
    return found


@dataclass(slots=True)
class _Open:
    """A call that is being read."""

    number: int
    is_undone: bool
    calls: Sequence[Any]
    logs: Sequence[Any]
    calls_read: int = 0
    logs_read: int = 0


@dataclass(slots=True)
class _Reading:
    receipt: Receipt
    frames: list[Frame] = field(default_factory=list)
    frame_of_log: list[int] = field(default_factory=list)
    open: list[_Open] = field(default_factory=list)


def trace_question(tx_hash: str) -> Question:
    """Return the question that `read_trace` takes the answer to."""
    options = {"tracer": "callTracer", "tracerConfig": {"withLog": True}, "timeout": TRACER_TIMEOUT}
    return ("debug_traceTransaction", [tx_hash, options])


def read_trace(answer: Answer, transaction: ChainTransaction, receipt: Receipt) -> CallTree:
    """Read the calls of a transaction that did not revert, without recursion.

    Raises
    ------
    UnbelievableTrace
        If it is refused, malformed or too large, if it is of other calls, or if its events are not the receipt's.
    """
    reading = _Reading(receipt)
    try:
        _begin(reading, answer, -1, is_undone=False)
        _check_root(reading.frames[0], transaction)
        while reading.open:
            top = reading.open[-1]
            if _is_log_next(reading, top):
                _take_log(reading, top)
            elif top.calls_read < len(top.calls):
                top.calls_read += 1
                _begin(reading, top.calls[top.calls_read - 1], top.number, is_undone=top.is_undone)
            else:
                reading.open.pop()
    except (BadPayload, ValueError, TypeError, AttributeError) as error:
        raise UnbelievableTrace(f"{transaction.tx_hash}: {error}") from error
    _pass_over(reading, 0, None)
    if len(reading.frame_of_log) != len(receipt.logs):
        raise UnbelievableTrace(f"{transaction.tx_hash}: the trace has fewer events than the receipt")
    return CallTree(frames=tuple(reading.frames), frame_of_log=tuple(reading.frame_of_log))


def _begin(reading: _Reading, record: Answer, parent: int, *, is_undone: bool) -> None:
    if not isinstance(record, Mapping):
        raise UnbelievableTrace(f"a call must be an object, not {str(record)[:80]!r}")
    if len(reading.frames) == MOST_FRAMES:
        raise UnbelievableTrace(f"a trace of more than {MOST_FRAMES} calls")
    kind, is_undone = str(record.get("type")), is_undone or bool(record.get("error"))
    moves = kind in MOVES_COIN and record.get("value") is not None
    number = len(reading.frames)
    reading.frames.append(
        Frame(
            parent=parent,
            kind=kind,
            sender=_read_address(record.get("from")),
            recipient=_read_address(record.get("to")) if record.get("to") is not None else "",
            value=read_quantity(record, "value", 256) if moves else 0,
            is_undone=is_undone,
            logs_before=len(reading.frame_of_log),
            calldata=_read_bytes(record.get("input")),
        )
    )
    logs = () if is_undone else record.get("logs") or ()
    reading.open.append(_Open(number, is_undone, record.get("calls") or (), logs))


def _check_root(root: Frame, transaction: ChainTransaction) -> None:
    told = (root.sender, root.value, root.calldata)
    is_same = told == (transaction.sender, transaction.value, transaction.calldata)
    if not is_same or root.is_undone or transaction.recipient not in (None, root.recipient):
        raise UnbelievableTrace("the trace begins with another call than the transaction")


def _is_log_next(reading: _Reading, top: _Open) -> bool:
    """Whether the call's next event came before its next inner call."""
    if top.logs_read == len(top.logs):
        return False
    if top.calls_read == len(top.calls):
        return True
    log = top.logs[top.logs_read]
    position = log.get("position")
    if position is not None:
        return int(position, 16) <= top.calls_read
    _pass_over(reading, top.number, log)
    written = len(reading.frame_of_log)
    return written < len(reading.receipt.logs) and _is_same(log, reading.receipt.logs[written])


def _pass_over(reading: _Reading, number: int, log: Mapping[str, Any] | None) -> None:
    """Pass over what the chain itself wrote into the receipt before a log: not every node has it in traces."""
    for each in reading.receipt.logs[len(reading.frame_of_log) :]:
        if not is_chains_own(each.address) or (log is not None and _is_same(log, each)):
            return
        reading.frame_of_log.append(number)


def _take_log(reading: _Reading, top: _Open) -> None:
    _pass_over(reading, top.number, top.logs[top.logs_read])
    written = len(reading.frame_of_log)
    if written == len(reading.receipt.logs) or not _is_same(top.logs[top.logs_read], reading.receipt.logs[written]):
        raise UnbelievableTrace(f"event {written} of the trace is not the receipt's")
    top.logs_read += 1
    reading.frame_of_log.append(top.number)


def _is_same(record: Mapping[str, Any], log: Log) -> bool:
    topics = tuple(str(each).lower() for each in record.get("topics") or ())
    return (_read_address(record.get("address")), topics) == (log.address, log.topics) and _read_bytes(
        record.get("data")
    ) == log.data


def _read_address(text: object) -> str:
    return "0x" + read_hex(text, "address", 20).hex()


def _read_bytes(text: object) -> bytes:
    """Return the bytes of hex digits; what has none is empty."""
    if text is None:
        return b""
    if not isinstance(text, str) or not text.startswith("0x"):
        raise ValueError(f"not hex data: {str(text)[:80]!r}")
    return bytes.fromhex(text[2:])
