"""Public ids: a prefix that says what it is, then the time, then randomness.

The text sorts by the time of making, and nobody can guess one: 130 of its bits are random.
"""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
from enum import StrEnum

# Crockford's alphabet in lower case: URL-safe, in ASCII order, without i, l, o and u.
ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
TIME_CHARS = 10
RANDOM_CHARS = 26
_PAIRS = [first + second for first in ALPHABET for second in ALPHABET]
_PAIR_BITS = len(_PAIRS) - 1


class IdPrefix(StrEnum):
    """What an id stands for."""

    VENDOR = "ven"
    API_KEY = "key"
    ORDER = "po"
    SUBSCRIPTION = "ep"
    EVENT = "evt"
    DELIVERY = "dlv"
    ROUTE = "rt"
    QUOTE = "qt"
    TRANSFER = "tr"
    REFUND = "rf"


def make_id(prefix: IdPrefix, at: datetime) -> str:
    """Make an id such as ``po_01k…``.

    Parameters
    ----------
    prefix : IdPrefix
        What the id stands for.
    at : datetime
        Moment of making; ids of different milliseconds sort by it.
    """
    milliseconds = int(at.timestamp() * 1000)
    time = _encode_base32(milliseconds, TIME_CHARS)
    return f"{prefix}_{time}{_encode_base32(secrets.randbits(5 * RANDOM_CHARS), RANDOM_CHARS)}"


def read_time(text: str) -> datetime | None:
    """Return the moment at which an id was made; None for what is no id."""
    time = text.partition("_")[2][:TIME_CHARS]
    if len(time) < TIME_CHARS or not set(time) <= set(ALPHABET):
        return None
    milliseconds = sum(ALPHABET.index(digit) * 32**place for place, digit in enumerate(reversed(time)))
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC)
    except (OverflowError, ValueError, OSError):
        return None


def find_first_id(prefix: IdPrefix, at: datetime, later_ms: int = 0) -> str:
    """Return where ids begin that were made in this millisecond, or some later: what sorts before is older.

    Before 1970 there were none.
    """
    milliseconds = max(0, int(at.timestamp() * 1000) + later_ms)
    return f"{prefix}_{_encode_base32(milliseconds, TIME_CHARS)}"


def make_reference() -> bytes:
    """Make the 16 bytes that mark a payment's calldata as belonging to one order."""
    return secrets.token_bytes(16)


def _encode_base32(value: int, length: int) -> str:
    """Write a number with so many digits, two of them at a time; its higher ones are left out."""
    pairs = [_PAIRS[value >> shift & _PAIR_BITS] for shift in range(5 * length - 10, -1, -10)]
    return "".join(pairs)
