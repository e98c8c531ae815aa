"""New rows that nobody changes in the session that wrote them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

from sqlalchemy import CTE, BigInteger, Column, FromClause, Insert, Table, bindparam, func, insert, select
from sqlalchemy.sql.dml import ReturningInsert

from api.storage.base import Base
from api.storage.statements import NOTHING, DirectConnection, Place, Statement, find_direct


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRow:
    """A row that is to be inserted.

    Parameters
    ----------
    table : type
        Its class.
    given : mapping
        What stands in it, by the attributes of the class.
    lock : int or None
        Of a row that the database numbers: PostgreSQL's advisory lock that its transaction holds together with others
        of its kind before the row gets its number, until its end. SQLite has one writer at a time, and needs none.
    """

    table: type[Base]
    given: Mapping[str, Any]
    lock: int | None = None


def insert_row(place: Place, table: type[Base], **given: Any) -> None:
    """Insert a new row now, given by the attributes of its class; no session knows of it."""
    insert_rows(place, (NewRow(table=table, given=given),))


def insert_rows(place: Place, rows: Sequence[NewRow]) -> None:
    """Insert new rows now, each behind those that it refers to; PostgreSQL takes all of them as one statement.

    A statement is a wait for a processor there (ADR 81), and by itself it is a transaction too. SQLite has no
    `WITH … INSERT`, and nobody to wait for.
    """
    direct = find_direct(place)
    if direct.dialect.name == "postgresql":
        _insert(direct, rows)
        return
    for row in rows:
        _insert(direct, (row,))


def insert_rows_after(
    place: Place, first: ReturningInsert[Any], values: Mapping[str, Any], rows: Sequence[NewRow]
) -> bool:
    """Insert rows as `insert_rows` does, but only if another insertion gives something back, which comes first.

    Parameters
    ----------
    first : Insert
        With what it returns; the same object each time, as what is made of it is kept.
    values : mapping
        For its `bindparam`s.

    Returns
    -------
    bool
        Whether it gave something back; without that nothing is inserted.
    """
    direct = find_direct(place)
    if direct.dialect.name == "postgresql":
        return bool(_insert(direct, rows, first, values))
    if not _prepare_first(first).fetch(direct, values):
        return False
    insert_rows(direct, rows)
    return True


def _insert(
    place: DirectConnection,
    rows: Sequence[NewRow],
    first: ReturningInsert[Any] | None = None,
    given: Mapping[str, Any] = NOTHING,
) -> list[Any]:
    has_locks = place.dialect.name == "postgresql"
    shapes = tuple((row.table, tuple(row.given), has_locks and row.lock is not None) for row in rows)
    insertion = _prepare(shapes, first)
    values = dict(given)
    for row, part in zip(rows, insertion.parts, strict=True):
        for attribute, name in part.names:
            values[name] = row.given[attribute]
        for name, make in part.defaults:
            values[name] = make(None)
        if has_locks and row.lock is not None:
            values[part.lock] = row.lock
    if first is not None:
        return insertion.statement.fetch(place, values)
    insertion.statement.run(place, values)
    return []


Shape = tuple[type[Base], tuple[str, ...], bool]
"""A table, the attributes that are given, and whether a lock is held."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """How one row of an insertion is written.

    Parameters
    ----------
    clause : Insert
        Its own statement.
    names : list of (str, str)
        The attributes that are given, and what their values are called in the statement.
    defaults : list of (str, callable)
        What stands in the other columns, but for those that are empty or that the database counts.
    lock : str
        What the lock's number is called.
    """

    clause: Insert
    names: list[tuple[str, str]]
    defaults: list[tuple[str, Callable[[Any], Any]]]
    lock: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Insertion:
    """How rows are inserted of which the same attributes are given."""

    statement: Statement
    parts: list[_Part]


@lru_cache(maxsize=256)
def _prepare(shapes: tuple[Shape, ...], first: ReturningInsert[Any] | None) -> _Insertion:
    condition = None if first is None else first.cte("first")
    parts = [_prepare_part(number, shape, condition) for number, shape in enumerate(shapes)]
    clauses = [part.clause for part in parts]
    last: Any = clauses.pop() if condition is None else select(condition)
    whole = last.add_cte(*(clause.cte(f"row_{number}") for number, clause in enumerate(clauses)))
    return _Insertion(statement=Statement(whole), parts=parts)


@lru_cache(maxsize=8)
def _prepare_first(first: ReturningInsert[Any]) -> Statement:
    return Statement(first)


def _prepare_part(number: int, shape: Shape, condition: CTE | None) -> _Part:
    table, given, is_locked = shape
    columns = {each.key: cast("Column[Any]", each.columns[0]) for each in table.__mapper__.column_attrs}
    if unknown := set(given) - columns.keys():
        raise KeyError(f"{table.__name__} has no {', '.join(sorted(unknown))}")
    names: list[tuple[str, str]] = []
    defaults: list[tuple[str, Callable[[Any], Any]]] = []
    inserted: dict[str, Column[Any]] = {}
    for attribute, column in columns.items():
        name, make = f"{column.key}_{number}", _find_default(column)
        if column is table.__mapper__.version_id_col:
            defaults.append((name, _begin_version))
        elif attribute in given:
            names.append((attribute, name))
        elif make is not None:
            defaults.append((name, make))
        else:
            continue
        inserted[name] = column
    clause = _write_insert(cast(Table, table.__table__), inserted, f"lock_{number}" if is_locked else "", condition)
    return _Part(clause=clause, names=names, defaults=defaults, lock=f"lock_{number}")


def _write_insert(table: Table, inserted: Mapping[str, Column[Any]], lock: str, condition: CTE | None) -> Insert:
    """Write the statement for one row.

    One with a lock is numbered as it comes out of the query that waits for that; one with a condition comes if that has
    a row.
    """
    values = {column.name: bindparam(name, type_=column.type) for name, column in inserted.items()}
    source: list[FromClause] = [] if condition is None else [condition]
    if lock:
        held = select(func.pg_advisory_xact_lock_shared(bindparam(lock, type_=BigInteger())))
        source.append(held.subquery(f"of_{lock}"))
    if not source:
        return insert(table).values(values).inline()
    row = select(*values.values()).select_from(*source)
    return insert(table).from_select(list(values), row, include_defaults=False)


def _find_default(column: Column[Any]) -> Callable[[Any], Any] | None:
    """Return what makes the value of a column that nothing was said about; None where the database knows it."""
    default: Any = column.default
    if default is None:
        return None
    return cast("Callable[[Any], Any]", default.arg) if default.is_callable else lambda _: default.arg


def _begin_version(_: Any) -> int:
    return 1
