"""Functions and events of contracts: what is asked, encoded; what was answered, decoded within its types' bounds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from eth_abi.abi import decode, encode
from eth_abi.exceptions import DecodingError, EncodingError
from eth_abi.grammar import parse
from eth_utils.crypto import keccak

from adapters.base import BadPayload

WORD, SELECTOR_BYTES = 32, 4

_QUANTITY = re.compile(r"0x[0-9a-fA-F]{1,64}")


class CallFailed(BadPayload):
    """A contract refused a call, or answered something that its interface does not allow."""

    code = "call_failed"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one call gave: the data returned, or that it reverted."""

    data: bytes
    reverted: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """One question to one contract; `to` is an address in lower case."""

    to: str
    data: bytes
    function: Function

    def decode(self, outcome: Outcome) -> tuple[Any, ...]:
        """Return the function's results.

        Raises
        ------
        CallFailed
            If the contract reverted, is not there, or its data does not fit the types.
        """
        return self.function.decode(outcome, self.to)

    def decode_one(self, outcome: Outcome) -> Any:
        """Return the function's only result; see `decode`."""
        return self.decode(outcome)[0]


class Function:
    """A view function of a contract.

    Parameters
    ----------
    signature : str
        Name and types of the arguments, as selectors are computed from: ``balanceOf(address)``.
    *outputs : str
        Types of the results. Trailing ones may be left out.
    """

    __slots__ = ("_inputs", "outputs", "selector", "signature")

    def __init__(self, signature: str, *outputs: str) -> None:
        self.signature = signature
        self.selector = keccak(text=signature)[:SELECTOR_BYTES]
        self._inputs = _split_types(signature)
        self.outputs = outputs

    def __call__(self, to: str, *arguments: object) -> Call:
        """Return the call of this function of the contract at `to`."""
        return Call(to.lower(), self.selector + _encode(self._inputs, arguments), self)

    def read(self, calldata: bytes) -> tuple[tuple[Any, ...], bytes] | None:
        """Return the arguments of a call and what stands behind them, or None.

        None for a call of another function, and for one whose arguments are not encoded just as they are here: whoever
        reads such a call may see other arguments than the contract does.
        """
        if calldata[:SELECTOR_BYTES] != self.selector:
            return None
        encoded = calldata[SELECTOR_BYTES:]
        try:
            arguments = tuple(decode(self._inputs, encoded))
            again = encode(self._inputs, arguments)
        except (DecodingError, EncodingError, OverflowError, UnicodeDecodeError):
            return None
        return (arguments, encoded[len(again) :]) if encoded.startswith(again) else None

    def decode(self, outcome: Outcome, to: str) -> tuple[Any, ...]:
        """Return the results in `outcome`; see `Call.decode`."""
        if outcome.reverted or not outcome.data:
            what = "reverted" if outcome.reverted else "no answer; is there a contract?"
            raise CallFailed(f"{to} {self.signature}: {what}")
        return _decode(self.outputs, outcome.data, f"{to} {self.signature}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """One event as a chain recorded it; address, topics and hash in lower case."""

    address: str
    topics: tuple[str, ...]
    data: bytes
    block_number: int
    block_hash: str
    index: int


class Event:
    """An event of a contract.

    Parameters
    ----------
    signature : str
        Name and types, with ``indexed`` behind those that are topics: ``Approval(address indexed,uint256)``.
    """

    __slots__ = ("data", "indexed", "signature", "topic")

    def __init__(self, signature: str) -> None:
        self.signature = signature.replace(" indexed", "")
        self.topic = "0x" + keccak(text=self.signature).hex()
        fields = signature[signature.index("(") + 1 : -1].split(",")
        self.indexed = tuple(field.removesuffix(" indexed") for field in fields if field.endswith(" indexed"))
        self.data = tuple(field for field in fields if not field.endswith(" indexed"))

    def decode(self, log: Log) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """Return the indexed values and the others.

        Raises
        ------
        BadPayload
            If the log is not of this event, or a number is out of its type's bounds.
        """
        if log.topics[:1] != (self.topic,) or len(log.topics) != 1 + len(self.indexed):
            raise BadPayload(f"{log.address}: a log is not {self.signature}")
        where = f"{log.address} {self.signature}"
        topics = b"".join(bytes.fromhex(topic[2:]) for topic in log.topics[1:])
        return _decode(self.indexed, topics, where), _decode(self.data, log.data, where)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFilter:
    """Which logs to read.

    Parameters
    ----------
    addresses : tuple of str
        Contracts that emit them.
    topics : tuple of tuples of str
        Allowed values of each topic in turn; an empty one allows all.
    first_block, last_block : int
        Range, both ends included; by default all there are.
    """

    addresses: tuple[str, ...]
    topics: tuple[tuple[str, ...], ...]
    first_block: int = 0
    last_block: int = 2**63

    def allows(self, log: Log) -> bool:
        """Whether a log's block and topics are what was asked for, whoever emitted it."""
        if not self.first_block <= log.block_number <= self.last_block or len(log.topics) < len(self.topics):
            return False
        return all(not allowed or topic in allowed for allowed, topic in zip(self.topics, log.topics, strict=False))


def read_quantity(record: Mapping[str, Any], field: str, bits: int = 64) -> int:
    """Return a JSON-RPC quantity: ``0x`` and hex digits, below ``2**bits``.

    Raises
    ------
    BadPayload
        Naming the field.
    """
    text = record.get(field)
    if isinstance(text, str) and _QUANTITY.fullmatch(text) and int(text, 16) < 2**bits:
        return int(text, 16)
    raise BadPayload(f"{field} must be a hex quantity below 2**{bits}, not {str(text)[:80]!r}")


def read_hex(text: object, field: str, length: int | None = None) -> bytes:
    """Return bytes written as ``0x`` and hex digits, of a given length if any.

    Raises
    ------
    BadPayload
        Naming the field.
    """
    if isinstance(text, str) and text.startswith("0x") and text.isalnum() and length in (None, len(text) / 2 - 1):
        try:
            return bytes.fromhex(text[2:])
        except ValueError:
            pass
    raise BadPayload(f"{field} must be hex data{f' of {length} bytes' if length else ''}, not {str(text)[:80]!r}")


def _split_types(signature: str) -> tuple[str, ...]:
    inputs = signature[signature.index("(") :]
    return () if inputs == "()" else tuple(part.to_type_str() for part in parse(inputs).components)


@lru_cache(maxsize=2**15)
def _encode(types: tuple[str, ...], arguments: tuple[object, ...]) -> bytes:
    """Encode arguments; the words of bitmaps are asked for by the same numbers in every pool."""
    return encode(types, arguments) if types else b""


@lru_cache(maxsize=256)
def _find_bounds(types: tuple[str, ...]) -> tuple[tuple[int, int], ...] | None:
    """Return the least and the greatest number of each type, or None unless all are integers."""
    found = []
    for name in types:
        bits = name.removeprefix("u").removeprefix("int")
        if not bits.isdecimal():
            return None
        found.append((0, 2 ** int(bits)) if name.startswith("u") else (-(2 ** (int(bits) - 1)), 2 ** (int(bits) - 1)))
    return tuple(found)


def _decode(types: tuple[str, ...], data: bytes, where: str) -> tuple[Any, ...]:
    bounds = _find_bounds(types)
    if bounds is not None:
        return _decode_integers(types, bounds, data, where)
    try:
        return tuple(decode(types, data))
    except (DecodingError, OverflowError, UnicodeDecodeError) as error:
        raise CallFailed(f"{where}: the answer does not fit {', '.join(types)}") from error


def _decode_integers(
    types: tuple[str, ...], bounds: tuple[tuple[int, int], ...], data: bytes, where: str
) -> tuple[int, ...]:
    """Decode words; most answers are nothing else, and the general codec takes ten times as long."""
    found = tuple(
        int.from_bytes(data[WORD * place : WORD * (place + 1)], signed=low < 0) for place, (low, _) in enumerate(bounds)
    )
    if len(data) < WORD * len(bounds) or not all(low <= n < high for n, (low, high) in zip(found, bounds, strict=True)):
        raise CallFailed(f"{where}: the answer does not fit {', '.join(types)}")
    return found
