"""Columns as rows that JSON and CSV can hold."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from typing import Any

from routing_engine.frames.column import Column, Kind


def list_records(columns: Sequence[Column]) -> list[dict[str, Any]]:
    """Return a mapping for each row: smallest units as text, as JSON readers lose long integers; None for NaN."""
    names = [column.name for column in columns]
    return [dict(zip(names, row, strict=True)) for row in zip(*map(_list_values, columns), strict=True)]


def write_csv(columns: Sequence[Column]) -> str:
    """Return lines of a heading and of the rows."""
    text = io.StringIO()
    writer = csv.DictWriter(text, [column.name for column in columns], lineterminator="\n")
    writer.writeheader()
    writer.writerows(list_records(columns))
    return text.getvalue()


def _list_values(column: Column) -> list[Any]:
    if column.kind is Kind.UNITS:
        return [str(value) for value in column.values]
    if column.kind is Kind.NUMBER:
        return [float(value) if math.isfinite(value) else None for value in column.values]
    if column.kind is Kind.COUNT:
        return [int(value) for value in column.values]
    return list(column.values)
