"""A block's header, as far as anybody here needs it."""

from __future__ import annotations

from dataclasses import dataclass

from adapters.base import BadPayload
from adapters.rpc.abi import read_hex, read_quantity

TIMESTAMP_BITS = 37
"""Seconds until the year 6325: calendars end before a number of 64 bits does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One block of one chain; `timestamp` in seconds since 1970, `parent` the hash of the block before.

    `final` is the number of the block that was final when this one was the newest, where it was asked for and known, or
    has been agreed on; `beside` the block of another number that was asked for in the same request, where the chain has
    it.
    """

    number: int
    hash: str
    timestamp: int
    parent: str = ""
    final: int | None = None
    beside: Block | None = None


def parse_block(record: object) -> Block:
    """Read a block's header.

    Raises
    ------
    BadPayload
        Naming the field that is missing or malformed.
    """
    if not isinstance(record, dict):
        raise BadPayload(f"a block must be an object, not {str(record)[:80]!r}")
    return Block(
        number=read_quantity(record, "number"),
        hash="0x" + read_hex(record.get("hash"), "hash", 32).hex(),
        timestamp=read_quantity(record, "timestamp", TIMESTAMP_BITS),
        parent="0x" + read_hex(record.get("parentHash"), "parentHash", 32).hex(),
    )
