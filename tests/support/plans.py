"""How a database carries a query out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import event, text
from sqlalchemy.orm import Session

from api.storage.db import Database


def explain_all(database: Database, act: Callable[[Session], Any]) -> list[str]:
    """Return the plans of the queries that `act` makes; on PostgreSQL as if no table were read whole."""
    asked: list[tuple[str, Any]] = []
    with database.read() as session:
        connection = session.connection()

        def note(_: Any, __: Any, statement: str, parameters: Any, *___: Any) -> None:
            asked.append((statement, tuple(parameters) if isinstance(parameters, list) else parameters))

        event.listen(connection, "before_cursor_execute", note)
        act(session)
        event.remove(connection, "before_cursor_execute", note)
        is_sqlite = connection.dialect.name == "sqlite"
        if not is_sqlite:
            session.execute(text("SET LOCAL enable_seqscan = off"))
        prefix = "EXPLAIN QUERY PLAN " if is_sqlite else "EXPLAIN "
        return [
            "\n".join(str(row[-1]) for row in connection.exec_driver_sql(prefix + statement, parameters))
            for statement, parameters in asked
        ]
