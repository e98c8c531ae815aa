"""Several rows as one value of a query: a JSON object, as each kind of database makes it."""

from __future__ import annotations

from typing import Any

from sqlalchemy import JSON, ColumnElement
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import GenericFunction


class gather_object(GenericFunction[Any]):  # noqa: N801 - SQLAlchemy calls functions so
    """The rows' first values as names, and the second ones as what stands there; of no rows None or {}."""

    type = JSON()
    inherit_cache = True

    def __init__(self, name: ColumnElement[Any], value: ColumnElement[Any]) -> None:
        super().__init__(name, value)


@compiles(gather_object, "postgresql")
def _write_for_postgresql(element: gather_object, compiler: SQLCompiler, **options: Any) -> str:
    name, value = (compiler.process(each, **options) for each in element.clauses)
    return f"json_object_agg({name}, {value})"


@compiles(gather_object, "sqlite")
def _write_for_sqlite(element: gather_object, compiler: SQLCompiler, **options: Any) -> str:
    name, value = (compiler.process(each, **options) for each in element.clauses)
    is_json = isinstance(list(element.clauses)[1].type, JSON)
    return f"json_group_object({name}, {f'json({value})' if is_json else value})"
