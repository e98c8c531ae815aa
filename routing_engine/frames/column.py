"""Columns, and what kinds of values they hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Kind(StrEnum):
    """What the values of a column are, whichever library holds them."""

    TEXT = "text"
    UNITS = "units"
    """Smallest units, as exact integers of any size."""
    COUNT = "count"
    """Integers of 64 bits."""
    NUMBER = "number"
    """64-bit floats; NaN where nothing is known."""
    FLAG = "flag"


@dataclass(frozen=True, slots=True)
class Column:
    """One property of all rows.

    Parameters
    ----------
    name : str
        Unique in its table.
    kind : Kind
        What its values are.
    values : sequence
        One a row.
    unit : str
        What a number counts, such as ``bps``; empty where the name says it, or there is none.
    is_detail : bool
        Whether people who only look at the table can do without.
    """

    name: str
    kind: Kind
    values: Sequence[Any]
    unit: str = ""
    is_detail: bool = False
