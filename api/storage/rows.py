"""New rows that nobody changes in the session that wrote them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, cast

from sqlalchemy import Column, Table, insert

from api.storage.base import Base
from api.storage.statements import Place, Statement


def insert_row(place: Place, row: Base) -> None:
    """Insert a new row now. The session keeps nothing of it: what is changed in `row` later is not written."""
    given = vars(row)
    values, missing = {}, []
    for attribute, column in _list_columns(type(row)):
        if attribute in given:
            values[column.key] = given[attribute]
        else:
            missing.append(column)
    values |= {column.key: value for column in missing for value in _find_default(column)}
    version = type(row).__mapper__.version_id_col
    if version is not None:
        values[str(version.key)] = 1
    _prepare_insert(type(row), tuple(values)).run(place, values)


@lru_cache(maxsize=64)
def _list_columns(table: type[Base]) -> tuple[tuple[str, Column[Any]], ...]:
    return tuple((each.key, cast("Column[Any]", each.columns[0])) for each in table.__mapper__.column_attrs)


def _find_default(column: Column[Any]) -> list[Any]:
    """Return what stands in a column that nothing was said about; nothing where the database counts."""
    default: Any = column.default
    if default is not None:
        return [default.arg(None) if default.is_callable else default.arg]
    return [None] if column.nullable and column.server_default is None else []


@lru_cache(maxsize=128)
def _prepare_insert(table: type[Base], columns: tuple[str, ...]) -> Statement:
    return Statement(insert(cast(Table, table.__table__)).inline(), columns)
