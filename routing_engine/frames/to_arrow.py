"""Columns as an Arrow table."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from routing_engine.frames.column import Column, Kind

if TYPE_CHECKING:
    import pyarrow as pa

DIGITS = 38
"""Of the decimals that every reader of Arrow knows."""


def build_arrow_table(pyarrow: Any, columns: Sequence[Column]) -> pa.Table:
    """Return a table whose fields carry their units as metadata."""
    arrays = [_build_array(pyarrow, column) for column in columns]
    fields = [
        pyarrow.field(column.name, array.type, metadata={"unit": column.unit} if column.unit else None)
        for column, array in zip(columns, arrays, strict=True)
    ]
    table: pa.Table = pyarrow.table(arrays, schema=pyarrow.schema(fields))
    return table


def _build_array(pyarrow: Any, column: Column) -> Any:
    if column.kind is not Kind.UNITS:
        types = {Kind.TEXT: pyarrow.string, Kind.COUNT: pyarrow.int64, Kind.NUMBER: pyarrow.float64}
        return pyarrow.array(list(column.values), types.get(column.kind, pyarrow.bool_)())
    if all(abs(value) < 10**DIGITS for value in column.values):
        return pyarrow.array([Decimal(int(value)) for value in column.values], pyarrow.decimal128(DIGITS, 0))
    return pyarrow.array([str(value) for value in column.values], pyarrow.string())
