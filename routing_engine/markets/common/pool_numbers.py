"""Numbers and objects inside a pool's ``raw_state`` or ``extra``, where sources keep their own notation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from routing_engine.errors import InvalidMarket
from routing_engine.markets.common.record import read, to_int


def read_object(record: Mapping[str, Any], field: str) -> Mapping[str, Any]:
    """Return a nested object."""
    value = read(record, field)
    if not isinstance(value, dict):
        raise InvalidMarket(field, "expected an object")
    return value


def read_number(record: Mapping[str, Any], field: str) -> int:
    """Return an integer, decimal digits, or hexadecimal ones after ``0x``."""
    value = read(record, field)
    if isinstance(value, str) and value.startswith("0x"):
        return read_hex(value.removeprefix("0x"), field)
    return to_int(value, field)


def read_hex(digits: object, field: str) -> int:
    """Return the integer of at most 64 hexadecimal digits without a prefix."""
    if isinstance(digits, str) and 0 < len(digits) <= 64 and all(digit in "0123456789abcdefABCDEF" for digit in digits):
        return int(digits, 16)
    raise InvalidMarket(field, f"must be 1 to 64 hexadecimal digits, not {str(digits)[:80]!r}")
