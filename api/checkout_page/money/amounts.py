"""Amounts as people read them: exact, whatever their size, and written the way their language and region do."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from babel.dates import format_skeleton, format_time, get_datetime_format
from babel.numbers import get_decimal_symbol, get_group_symbol

from api.checkout_page.language.strings import Strings

CENTS = 2
CENT_SYMBOLS = frozenset({"USD", "USDC", "USDC.e", "USDT", "DAI", "EURC"})
"""Currencies that are never written with fewer than two decimal places."""

SHOWN_DIGITS = 6
"""Of an amount to pay; every digit of it is a tap away."""
_UNITS = (("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1))


LATIN = "latn"
"""Digits 0 to 9 in every language: they are what wallets, explorers and receipts show."""
RTL = "rtl"


def format_whole_units(amount: int, decimals: int, strings: Strings, *, min_places: int = 0) -> str:
    """Write an amount in whole units, every digit of it, grouped.

    Parameters
    ----------
    amount : int
        Smallest units, not negative.
    decimals : int
        How many of its digits stand after the point.
    min_places : int
        Decimal places to write although they are zero.
    """
    whole, places = _split(amount, decimals)
    kept = places.ljust(min_places, "0")
    grouped = format_count(whole, strings)
    return f"{grouped}{get_decimal_symbol(strings.locale, numbering_system=LATIN)}{kept}" if kept else grouped


def format_plain(amount: int, decimals: int) -> str:
    """Write an amount to be pasted into a wallet, which reads no language: digits and a point alone."""
    whole, places = _split(amount, decimals)
    return f"{whole}.{places}" if places else str(whole)


def _split(amount: int, decimals: int) -> tuple[int, str]:
    """Return an amount's whole units, and its decimal places without the zeros at their end."""
    whole, rest = divmod(amount, 10**decimals)
    return whole, f"{rest:0{decimals}d}".rstrip("0") if decimals else ""


def format_count(number: int, strings: Strings) -> str:
    """Write a whole number, not negative, its digits grouped."""
    primary, secondary = strings.locale.decimal_formats[None].grouping
    rest, groups = str(number), []
    size = primary
    while len(rest) > size:
        groups.append(rest[-size:])
        rest, size = rest[:-size], secondary
    return get_group_symbol(strings.locale, numbering_system=LATIN).join((rest, *reversed(groups)))


def format_money(amount: int, decimals: int, symbol: str, strings: Strings) -> str:
    """Write an amount with its currency, such as ``1,250.00 USDC``."""
    return join_unit(format_number(amount, decimals, symbol, strings), symbol, strings)


def format_number(amount: int, decimals: int, symbol: str, strings: Strings) -> str:
    """Write the same without its currency, which the text around it names."""
    min_places = CENTS if symbol in CENT_SYMBOLS else 0
    return format_whole_units(amount, decimals, strings, min_places=min_places)


def join_unit(number: str, symbol: str, strings: Strings) -> str:
    """Put a number and its unit together so that they stay in this order, also in a text from right to left."""
    joined = f"{number} {symbol}"
    return f"\N{LEFT-TO-RIGHT ISOLATE}{joined}\N{POP DIRECTIONAL ISOLATE}" if strings.dir == RTL else joined


def round_amount(amount: int, decimals: int, symbol: str, *, up: bool = True) -> int:
    """Round an amount to its first six digits, whole units and cents untouched: up what is paid, down what is held."""
    kept = SHOWN_DIGITS - len(str(amount))
    least = min(decimals, CENTS) if symbol in CENT_SYMBOLS else 0
    places = max(least, min(decimals, decimals + kept))
    unit: int = 10 ** (decimals - places)
    return (-(-amount // unit) if up else amount // unit) * unit


def format_rounded(amount: int, decimals: int, symbol: str, strings: Strings, *, up: bool = True) -> str:
    """Write an amount with its currency as `round_amount` rounds it, such as ``0.0121467 ETH``."""
    return format_money(round_amount(amount, decimals, symbol, up=up), decimals, symbol, strings)


def write_payment(amount: int, decimals: int, symbol: str, strings: Strings, *, is_fixed: bool) -> str:
    """Write what a customer pays: the price to the unit, however long; what moves with ``≈`` where a digit is left out.

    Parameters
    ----------
    is_fixed : bool
        Whether it is the price itself, which does not move while it is looked at.
    """
    shown = round_payment(amount, decimals, symbol, is_fixed=is_fixed)
    number = format_number(shown, decimals, symbol, strings)
    return join_unit(number if shown == amount else f"≈ {number}", symbol, strings)


def round_payment(amount: int, decimals: int, symbol: str, *, is_fixed: bool) -> int:
    """Return an amount as `write_payment` shows it."""
    return amount if is_fixed else round_amount(amount, decimals, symbol)


def format_duration(seconds: int, strings: Strings) -> str:
    """Write a waiting time the way a person would say it, rounded up to the unit that is said."""
    unit, size = next(((name, size) for name, size in _UNITS if seconds >= size), _UNITS[-1])
    count = max(1, -(-seconds // size))
    return strings.say_count(unit, count, format_count(count, strings))


def format_moment(moment: datetime, strings: Strings, length: Literal["short", "medium"] = "short") -> str:
    """Write a moment, which is in UTC: to the minute, or where that is ``medium`` to the second."""
    day, time = (
        format_skeleton("yMMMd", moment, locale=strings.locale),
        format_time(moment, length, locale=strings.locale),
    )
    pattern = str(get_datetime_format("medium", strings.locale))
    return f"{pattern.replace('{1}', day).replace('{0}', time)} UTC"
