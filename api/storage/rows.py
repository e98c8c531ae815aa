"""New rows that nobody changes in the session that wrote them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

from sqlalchemy import Column, Table, insert

from api.storage.base import Base
from api.storage.statements import Place, Statement


def insert_row(place: Place, table: type[Base], **given: Any) -> None:
    """Insert a new row now, given by the attributes of its class; no session knows of it."""
    insertion = _prepare_insert(table, frozenset(given))
    values = {insertion.names[attribute]: value for attribute, value in given.items()}
    for name, make in insertion.defaults:
        values[name] = make(None)
    insertion.statement.run(place, values)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Insertion:
    """How rows are inserted of which the same attributes are given.

    Parameters
    ----------
    names : dict of str to str
        The columns, by their attributes.
    defaults : list of (str, callable)
        What stands in the others, but for those that the database counts.
    """

    statement: Statement
    names: dict[str, str]
    defaults: list[tuple[str, Callable[[Any], Any]]]


@lru_cache(maxsize=128)
def _prepare_insert(table: type[Base], given: frozenset[str]) -> _Insertion:
    columns = {each.key: cast("Column[Any]", each.columns[0]) for each in table.__mapper__.column_attrs}
    names = {attribute: column.key for attribute, column in columns.items()}
    defaults: list[tuple[str, Callable[[Any], Any]]] = []
    for attribute, column in columns.items():
        make = _find_default(column)
        if column is table.__mapper__.version_id_col:
            defaults.append((column.key, _begin_version))
        elif attribute not in given and make is not None:
            defaults.append((column.key, make))
    inserted = [*(names[attribute] for attribute in sorted(given)), *(name for name, _ in defaults)]
    statement = Statement(insert(cast(Table, table.__table__)).inline(), inserted)
    return _Insertion(statement=statement, names=names, defaults=defaults)


def _find_default(column: Column[Any]) -> Callable[[Any], Any] | None:
    """Return what makes the value of a column that nothing was said about; None where the database counts."""
    default: Any = column.default
    if default is not None:
        return cast("Callable[[Any], Any]", default.arg) if default.is_callable else lambda _: default.arg
    return (lambda _: None) if column.nullable and column.server_default is None else None


def _begin_version(_: Any) -> int:
    return 1
