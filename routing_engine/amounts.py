"""Amounts as people write and read them; exact, without a float or a decimal context in between."""

from __future__ import annotations

import re
from decimal import Decimal
from operator import index
from typing import SupportsIndex

from routing_engine.errors import InvalidRequest

MAX_LENGTH = 100
"""Longer than any amount of 2**256 - 1 units; bounds the work that a hostile argument can cause."""

SIGNIFICANT = 8
SMALL_ZEROS = 5
SMALL_DIGITS = 5
MINUTE, HOUR, DAY = 60, 3_600, 86_400
LARGE_DIGITS = 15

_DECIMAL = re.compile(r"([0-9]+)(?:\.([0-9]+))?|\.([0-9]+)")
_UNITS = re.compile(r"[0-9]+")


def parse_decimal(text: str, decimals: int, field: str, unit: str) -> int:
    """Return a decimal number of whole `unit` in smallest units.

    Parameters
    ----------
    text : str
        ASCII digits with at most one dot; no sign, exponent or separators.
    decimals : int
        How many digits after the dot `unit` has.
    field, unit : str
        For the error: the option, and what is counted.

    Raises
    ------
    InvalidRequest
        If `text` is no such number, or finer than the smallest unit.
    """
    match = _DECIMAL.fullmatch(text) if len(text) <= MAX_LENGTH else None
    if match is None:
        raise InvalidRequest(field, f"{_quoted(text)} is not an amount; write digits with at most one dot, such as 1.5")
    whole, fraction = match[1] or "", match[2] or match[3] or ""
    if len(fraction) > decimals:
        raise InvalidRequest(
            field, f"{text} has {len(fraction)} digits after the dot, but {unit} has only {decimals}; shorten it"
        )
    return int(whole + fraction.ljust(decimals, "0") or "0")


def parse_whole(amount: object, decimals: int, unit: str) -> int:
    """Return whole `unit`, as text, an int (of numpy too) or a Decimal, in smallest units, exactly.

    Raises
    ------
    InvalidRequest
        If it is something else, such as a float, or as `parse_decimal` says.
    """
    if isinstance(amount, bool) or not isinstance(amount, str | Decimal | SupportsIndex):
        kind = type(amount).__name__
        raise InvalidRequest("amount", f"{amount!r} is a {kind}, which is not exact; write it as text, such as '1.5'")
    if isinstance(amount, Decimal):
        amount = f"{amount:f}"
    if isinstance(amount, str):
        return parse_decimal(amount, decimals, "amount", unit)
    whole = index(amount)
    if abs(whole) >= 10**MAX_LENGTH:  # Python writes no integer of more than 4,300 digits
        raise InvalidRequest("amount", f"has more than {MAX_LENGTH} digits; no token has so many")
    return parse_decimal(str(whole), decimals, "amount", unit)


def read_units(amount: object, unit: str) -> int:
    """Return a number of smallest units, of numpy or not, as a plain int.

    Raises
    ------
    InvalidRequest
        If it is something else, such as a number of whole `unit`.
    """
    if isinstance(amount, bool) or not hasattr(amount, "__index__"):
        raise InvalidRequest("amount", f"must be an int in smallest units of {unit}, not {_quoted(str(amount))}")
    return index(amount)


def parse_units(text: str, field: str) -> int:
    """Return a number of smallest units.

    Raises
    ------
    InvalidRequest
        If `text` is not made of ASCII digits only.
    """
    if len(text) > MAX_LENGTH or not _UNITS.fullmatch(text):
        raise InvalidRequest(field, f"{_quoted(text)} is not a number of smallest units; write digits only")
    return int(text)


def write_exact(amount: int, decimals: int) -> str:
    """Write an amount in whole tokens with all its digits, such as ``1,058,037.360994``."""
    sign = "-" if amount < 0 else ""
    whole, fraction = divmod(abs(amount), 10**decimals)
    digits = str(fraction).rjust(decimals, "0").rstrip("0") if decimals else ""
    return f"{sign}{whole:,}" + (f".{digits}" if digits else "")


def write_short(amount: int, decimals: int) -> str:
    """Write an amount for a narrow column: cut, never rounded up; with an exponent where it is tiny or huge."""
    text = write_exact(amount, decimals)
    whole, _, fraction = text.partition(".")
    integer_digits = sum(letter.isdecimal() for letter in whole)
    zeros = len(fraction) - len(fraction.lstrip("0"))
    if integer_digits > LARGE_DIGITS or (abs(amount) < 10**decimals and amount and zeros > SMALL_ZEROS):
        return _with_exponent(amount, decimals)
    kept = SIGNIFICANT - integer_digits if whole.strip("-") != "0" else zeros + SMALL_DIGITS
    fraction = fraction[: max(kept, 0)].rstrip("0")
    return f"{whole}.{fraction}" if fraction else whole


def _with_exponent(amount: int, decimals: int) -> str:
    digits = str(abs(amount))
    mantissa = f"{digits[0]}.{digits[1:4]}".rstrip("0").rstrip(".")
    return f"{'-' if amount < 0 else ''}{mantissa}e{len(digits) - 1 - decimals}"


def write_duration(seconds: int) -> str:
    """Write a time for people in the two largest units that it has, such as ``10 min 5 s`` or ``7 days``.

    Seconds up to two minutes, minutes up to two hours, and hours up to two days.
    """
    if seconds < 2 * MINUTE:
        return f"{seconds} s"
    large, name, small, short = (DAY, "days", HOUR, "h") if seconds >= 2 * DAY else (HOUR, "h", MINUTE, "min")
    if seconds < 2 * HOUR:
        large, name, small, short = MINUTE, "min", 1, "s"
    whole, rest = divmod(seconds, large)
    return f"{whole:,} {name}" + (f" {rest // small} {short}" if rest >= small else "")


def _quoted(text: str) -> str:
    return repr(text if len(text) <= MAX_LENGTH else text[:MAX_LENGTH] + "…")
