"""The first rows of a table as text, for people."""

from __future__ import annotations

from collections.abc import Sequence

from routing_engine.frames.column import Column, Kind
from routing_engine.token_fields import printable

ROWS = 20
"""More would push what stands around the table off the screen."""

DIGITS = 6
LONGEST, START, END = 36, 12, 6
"""Characters of a text, and which are kept of a longer one: hashes differ there."""


def choose_columns(columns: Sequence[Column]) -> list[Column]:
    """Return the columns that people look at."""
    return [column for column in columns if not column.is_detail]


def show_values(column: Column) -> list[str]:
    """Return the values of the first rows as text."""
    values = list(column.values[:ROWS])
    if column.kind is Kind.NUMBER:
        return ["" if value != value else f"{value:.{DIGITS}g}" for value in values]  # NaN is not itself
    if column.kind is Kind.FLAG:
        return ["yes" if value else "" for value in values]
    return [_shorten(str(value)) for value in values]


def describe_hidden(columns: Sequence[Column], shown: Sequence[Column]) -> str:
    """Say how many rows and columns are not shown, and how to have them; empty where all are."""
    hidden = {"rows": max(0, len(columns[0].values) - ROWS), "columns": len(columns) - len(shown)}
    parts = [f"{count:,} more {noun}" for noun, count in hidden.items() if count]
    return f"… {' and '.join(parts)}: to_frame(), or --format csv" if parts else ""


def is_numeric(column: Column) -> bool:
    """Whether its values line up on the right."""
    return column.kind in {Kind.UNITS, Kind.COUNT, Kind.NUMBER}


def _shorten(text: str) -> str:
    """Cut a text, and replace what could steer a terminal: names come from files and chains."""
    shown = printable(text)
    return shown if len(text) <= LONGEST else f"{shown[:START]}…{shown[-END:]}"
