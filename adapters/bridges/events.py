"""What bridges' own events say, in words that all bridges share; each bridge reads its own.

A bridge names a deposit alike on both chains, so the two are put together by that name, whichever is read first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from eth_abi.abi import decode
from eth_abi.exceptions import DecodingError
from eth_utils.crypto import keccak

from adapters.base import BadPayload
from adapters.bridges.promise import Promise
from adapters.installed import load_installed
from adapters.rpc.abi import WORD, Log


@dataclass(frozen=True, slots=True, kw_only=True)
class Deposit:
    """Tokens that a bridge took in.

    Parameters
    ----------
    bridge_id : str
        The deposit's identity, which its delivery has too.
    contract, token_address, amount : str, str and int
        Who took in what.
    recipient : str
        To whom it is to go on the other chain; empty where only the call says so.
    payer : str
        Whose tokens the contract's code takes, as the event tells; empty where anybody may be named.
    fill_deadline : datetime or None
        The bridge delivers until then, where there is such a moment.
    promise : Promise or None
        What is to arrive, where it can be told.
    delivery_topics : tuple of str
        The first topics of the event that is going to tell of its delivery, by which that can be searched for; empty
        where none are known.
    """

    bridge_id: str
    contract: str
    token_address: str
    recipient: str
    amount: int
    payer: str = ""
    fill_deadline: datetime | None = None
    promise: Promise | None = None
    delivery_topics: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """Tokens that a bridge, or a relayer in its name, paid out; a transfer beside the event shows that they moved.

    Parameters
    ----------
    bridge_id, contract : str
        Which deposit it answers, and who says so.
    token_address : str
        As the event names it. The coin itself may come for the token that wraps it.
    recipient : str
        Who received it.
    amount : int
        Exactly what the recipient received; a transfer of another amount is none of the delivery.
    is_announced : bool
        Whether the event comes before the transfer, not after it.
    meant_for : str
        Whom the deposit was for, where that is somebody else: its depositor redirected it.
    """

    bridge_id: str
    contract: str
    token_address: str
    recipient: str
    amount: int
    is_announced: bool
    meant_for: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BridgeRefund:
    """What the contract transfers in this transaction is its users' deposits, given back."""

    contract: str


BridgeEvent = Deposit | Delivery | BridgeRefund
BridgeEvents = Sequence[tuple[int, BridgeEvent]]
"""What bridges say in a transaction, by the place among its receipt's logs."""


class EventReader(Protocol):
    """The events of one bridge on one chain."""

    @property
    def contracts(self) -> frozenset[str]:
        """Who emits them, in lower case."""
        ...

    @property
    def topics(self) -> frozenset[str]:
        """First topics of its events."""
        ...

    def read(self, log: Log) -> BridgeEvent | None:
        """Return what one of its events says, or None if that is nothing which the bridge vouches for.

        Whatever else it raises is taken as `BadPayload` is: nothing of that transaction counts until it can be read.

        Raises
        ------
        BadPayload
            If the log is not as long as the event.
        """
        ...

    def complete(self, deposit: Deposit, calldata: bytes) -> Deposit:
        """Return a deposit with what only the call of the bridge's contract says: for whom it is, and how much."""
        ...


class FindReaders(Protocol):
    """The `events` of a `Bridge`."""

    def __call__(self, chain_id: int) -> Iterable[EventReader]:
        """Return the bridge's events as they are emitted on a chain; nothing where it is not deployed."""
        ...


def find_event_readers(chain_id: int) -> tuple[EventReader, ...]:
    """Return the readers of all installed bridges that are deployed on a chain.

    A delivery that nothing recognises looks like a payment by whoever relays it, for the order that he names. So all
    bridges are read, or none.

    Raises
    ------
    CannotLoad
        If an installed bridge cannot be loaded.
    """
    found: Iterable[FindReaders] = load_installed("events", all_or_none=True).values()
    return tuple(reader for find_readers in found for reader in find_readers(chain_id))


def name_reader(reader: EventReader) -> str:
    """Return by which name operators find whose code reads a bridge's events: its module and class."""
    return f"{type(reader).__module__}.{type(reader).__qualname__}"


def hash_signature(signature: str) -> str:
    """Return an event's first topic."""
    return "0x" + keccak(text=signature).hex()


def hash_fields(*fields: bytes | int) -> str:
    """Return one hash over all fields, each a word."""
    words = (each.to_bytes(WORD) if isinstance(each, int) else each.rjust(WORD, b"\0") for each in fields)
    return "0x" + keccak(b"".join(words)).hex()


def read_values(log: Log, *types: str) -> tuple[Any, ...]:
    """Return what an event has beside its topics.

    Raises
    ------
    BadPayload
        If it does not fit the types.
    """
    try:
        return tuple(decode(types, log.data))
    except (DecodingError, OverflowError) as error:
        raise BadPayload(f"{log.address}: an event does not fit {', '.join(types)}") from error


def read_word(log: Log, place: int) -> bytes:
    """Return a word of an event's data; raise `BadPayload` where it is too short."""
    found = log.data[WORD * place : WORD * (place + 1)]
    if len(found) < WORD:
        raise BadPayload(f"{log.address}: an event has {len(log.data)} bytes of data, too few")
    return found


def read_number(log: Log, place: int) -> int:
    """Return a word as a number; see `word`."""
    return int.from_bytes(read_word(log, place))


def read_topic(log: Log, place: int) -> bytes:
    """Return an indexed value; raise `BadPayload` where there are too few."""
    if len(log.topics) <= place:
        raise BadPayload(f"{log.address}: an event has {len(log.topics)} topics, too few")
    return bytes.fromhex(log.topics[place][2:])


def read_topic_number(log: Log, place: int) -> int:
    """Return an indexed value as a number; see `read_topic`."""
    return int.from_bytes(read_topic(log, place))
