"""Numbers, addresses and names as they stand in an auction's JSON, which anybody may have written."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from routing_engine.errors import InvalidAuction, InvalidRequest
from routing_engine.token_fields import read_address

MOST = 2**256 - 1
MOST_DIGITS = 78  # of 2**256
DECIMAL_LENGTH = 100
HEX = re.compile("0x[0-9a-fA-F]{1,64}")
DIGITS = re.compile(f"[0-9]{{1,{MOST_DIGITS}}}")
DECIMAL = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?")
UID = re.compile("0x[0-9a-fA-F]{112}")
ID_LENGTH = 128


def read_member(record: Mapping[str, Any], field: str) -> Any:
    """Return the value at `field`.

    Raises
    ------
    InvalidAuction
        If it is absent, or the record is no object.
    """
    if not isinstance(record, Mapping):
        raise InvalidAuction(field, "is missing: an object is expected here")
    if field not in record:
        raise InvalidAuction(field, "is missing")
    return record[field]


def read_units(record: Mapping[str, Any], field: str) -> int:
    """Return an unsigned integer of 256 bits: a string of decimal digits, or of hex digits after ``0x``."""
    value = read_member(record, field)
    if isinstance(value, str) and (HEX.fullmatch(value) or DIGITS.fullmatch(value)):
        value = int(value, 16 if value.startswith("0x") else 10)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MOST:
        raise InvalidAuction(field, f"must be a string of digits up to 2**256 - 1, not {shorten(value)}")
    return value


def read_positive(record: Mapping[str, Any], field: str) -> int:
    """Return an unsigned integer of 256 bits that is not 0."""
    value = read_units(record, field)
    if value == 0:
        raise InvalidAuction(field, "must not be 0")
    return value


def read_signed(record: Mapping[str, Any], field: str, bits: int) -> int:
    """Return an integer of so many bits: a JSON number, or a string of digits with an optional minus."""
    value = read_member(record, field)
    if isinstance(value, str) and DIGITS.fullmatch(value.removeprefix("-")):
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not -(2 ** (bits - 1)) <= value < 2 ** (bits - 1):
        raise InvalidAuction(field, f"must be an integer of {bits} bits, not {shorten(value)}")
    return value


def read_decimal(record: Mapping[str, Any], field: str) -> Decimal:
    """Return a decimal number of at most 100 characters, given as a string or a JSON number."""
    value = read_member(record, field)
    text = str(value) if isinstance(value, str | int | float | Decimal) and not isinstance(value, bool) else ""
    if len(text) > DECIMAL_LENGTH or not DECIMAL.fullmatch(text):
        raise InvalidAuction(field, f"must be a decimal number, not {shorten(value)}")
    return Decimal(text)


def read_scaled(record: Mapping[str, Any], field: str, scale: int) -> int:
    """Return a decimal number times `scale`, which must be an integer of 256 bits then."""
    number = read_decimal(record, field)
    try:
        numerator, denominator = (
            (number.copy_abs()).as_integer_ratio() if abs(number.adjusted()) < MOST_DIGITS else (1, 0)
        )
    except (InvalidOperation, OverflowError, ValueError):
        numerator, denominator = 1, 0
    exact = denominator and number >= 0 and numerator * scale % denominator == 0
    if not exact or numerator * scale // denominator > MOST:
        raise InvalidAuction(field, f"must be a multiple of 1/{scale}, from 0 up, not {shorten(number)}")
    return numerator * scale // denominator


def read_owner(record: Mapping[str, Any], field: str) -> str:
    """Return an address in lower case."""
    return parse_address(read_member(record, field), field)


def parse_address(value: object, field: str) -> str:
    """Return an address in lower case, or say at which field there is none."""
    try:
        return read_address(value)
    except InvalidRequest as error:
        raise InvalidAuction(field, error.message) from error


def read_uid(record: Mapping[str, Any], field: str) -> str:
    """Return the uid of an order: 56 bytes as hex digits, in lower case."""
    value = read_member(record, field)
    if not isinstance(value, str) or not UID.fullmatch(value):
        raise InvalidAuction(field, f"must be 0x and 112 hex digits, not {shorten(value)}")
    return value.lower()


def read_id(record: Mapping[str, Any], field: str) -> str:
    """Return the opaque id of a piece of liquidity; drivers of old wrote a number."""
    value = read_member(record, field)
    text = str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""
    if not 0 < len(text) <= ID_LENGTH or not text.isprintable():
        raise InvalidAuction(field, f"must be a string of 1 to {ID_LENGTH} characters, not {shorten(value)}")
    return text


def read_word(record: Mapping[str, Any], field: str, words: tuple[str, ...]) -> str:
    """Return one of some words."""
    value = read_member(record, field)
    if value not in words:
        raise InvalidAuction(field, f"must be one of {', '.join(words)}, not {shorten(value)}")
    return str(value)


def read_flag(record: Mapping[str, Any], field: str) -> bool:
    """Return true or false."""
    value = read_member(record, field)
    if not isinstance(value, bool):
        raise InvalidAuction(field, f"must be true or false, not {shorten(value)}")
    return value


def read_time(record: Mapping[str, Any], field: str) -> datetime:
    """Return a moment, given by ISO 8601; without a time zone it is UTC's."""
    value = read_member(record, field)
    try:
        moment = datetime.fromisoformat(value if isinstance(value, str) else "")
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise InvalidAuction(field, f"must be a time like 2026-01-01T00:00:00Z, not {shorten(value)}") from None


def shorten(value: object) -> str:
    """Return a value as people may read it: of a message's length."""
    return repr(value)[:60] if isinstance(value, str | float | bool | None) else f"a {type(value).__name__}"
