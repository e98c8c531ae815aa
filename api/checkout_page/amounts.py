"""Amounts as people read them: exact, whatever their size."""

from __future__ import annotations

from collections.abc import Mapping

CENTS = 2
CENT_SYMBOLS = frozenset({"USD", "USDC", "USDC.e", "USDT", "DAI"})
"""Currencies that are never written with fewer than two decimal places."""

INFORMATIVE_DIGITS = 4
_UNITS = (("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1))


def format_whole_units(amount: int, decimals: int, *, min_places: int = 0) -> str:
    """Write an amount in whole units, every digit of it, thousands grouped by commas.

    Parameters
    ----------
    amount : int
        Smallest units, not negative.
    decimals : int
        How many of its digits stand after the point.
    min_places : int
        Decimal places to keep although they are zero, as far as `decimals` allows.
    """
    whole, rest = divmod(amount, 10**decimals)
    places = f"{rest:0{decimals}d}" if decimals else ""
    kept = places.rstrip("0").ljust(min(min_places, decimals), "0")
    return f"{whole:,}.{kept}" if kept else f"{whole:,}"


def format_money(amount: int, decimals: int, symbol: str) -> str:
    """Write an amount with its currency, such as ``1,250.00 USDC``."""
    min_places = CENTS if symbol in CENT_SYMBOLS else 0
    return f"{format_whole_units(amount, decimals, min_places=min_places)} {symbol}"


def round_up_amount(amount: int, decimals: int) -> str:
    """Write an amount that only informs with its first digits, never less than it is."""
    surplus = max(0, len(str(amount)) - INFORMATIVE_DIGITS)
    shown = -(-amount // 10**surplus) * 10**surplus
    return format_whole_units(shown, decimals)


def format_duration(seconds: int, words: Mapping[str, str]) -> str:
    """Write a waiting time the way a person would say it, rounded up to the unit that is said.

    Parameters
    ----------
    words : mapping
        For each unit its singular, such as ``minute``, and with an ``{n}`` its plural, such as ``minutes``.
    """
    unit, size = next(((name, size) for name, size in _UNITS if seconds >= size), _UNITS[-1])
    count = max(1, -(-seconds // size))
    return words[unit] if count == 1 else words[f"{unit}s"].format(n=count)
