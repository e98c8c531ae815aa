"""Statements that are written out once, and asked over the driver's own cursor.

SQLAlchemy writes their text, and says how values of each type go to the database and come back. What it does for each
execution besides costs several times the query itself (ADR 57); it is left out here, and nothing else is different.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Dialect, Executable
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session
from sqlalchemy.types import TypeEngine

from api.storage.patience import READ_ONLY

Process = Callable[[Any], Any]
NOTHING: Mapping[str, Any] = {}


class DirectConnection:
    """A connection over which statements are asked directly.

    Parameters
    ----------
    held : PoolProxiedConnection or Connection
        Has the driver's connection; is told if that is gone.
    source : Engine or Connection
        Whose listeners hear of each statement, and whose engine makes connections.
    """

    __slots__ = ("_driver", "_held", "_source", "dialect")

    def __init__(self, driver: Any, held: Any, source: Any) -> None:
        self._driver, self._held, self._source = driver, held, source
        self.dialect: Dialect = source.dialect

    @classmethod
    def over(cls, connection: Connection) -> DirectConnection:
        """Ask within the transaction of a connection of SQLAlchemy's."""
        return cls(connection.connection.dbapi_connection, connection, connection)

    def execute(self, text: str, values: Any) -> Any:
        """Execute a text; return the cursor.

        Raises
        ------
        DBAPIError
            As SQLAlchemy raises it, without the values.
        """
        cursor = None
        heard = self._source.dispatch
        try:
            cursor = self._driver.cursor()
            for tell in heard.before_cursor_execute:
                tell(self, cursor, text, values, None, False)
            cursor.execute(text, values)
            for tell in heard.after_cursor_execute:
                tell(self, cursor, text, values, None, False)
        except self.dialect.loaded_dbapi.Error as error:
            raise self.explain(error, text) from error
        return cursor

    def commit(self) -> None:
        """Commit what was written; raises DBAPIError."""
        try:
            self._driver.commit()
        except self.dialect.loaded_dbapi.Error as error:
            raise self.explain(error, None) from error

    def explain(self, error: Exception, text: str | None) -> Exception:
        """Return the error as SQLAlchemy raises it; give the connection up, and those in the pool, if it is gone."""
        is_gone = self.dialect.is_disconnect(error, self._driver, None)  # type: ignore[arg-type]  # any driver's
        is_gone = is_gone or getattr(error, "sqlstate", None) == READ_ONLY
        if is_gone:
            # As SQLAlchemy does it: the pool makes others anew as they are asked for, and closes those of before.
            # `dispose` would leave the ones that are in use now to the garbage collector, open.
            held = self._held.connection if isinstance(self._held, Connection) else self._held
            self._source.engine.pool._invalidate(held, error, _checkin=False)
            self._held.invalidate(error)
        return wrap_error(self.dialect, error, text, is_gone=is_gone)


Place = Session | Connection | DirectConnection
"""Where a statement is asked."""


def wrap_error(dialect: Dialect, error: Exception, text: str | None, *, is_gone: bool) -> Exception:
    """Return a driver's error as SQLAlchemy raises it, without the statement's values."""
    base = dialect.loaded_dbapi.Error
    return DBAPIError.instance(
        text, None, error, base, hide_parameters=True, connection_invalidated=is_gone, dialect=dialect
    )


class Statement:
    """A statement that is written out once for each kind of database.

    Parameters
    ----------
    clause : Select, Insert or Update
        Its values are `bindparam`s. Lists of a length that is known only then can't be told directly.
    columns : sequence of str, optional
        Of an insert: what is given for each row.
    """

    def __init__(self, clause: Executable, columns: Sequence[str] | None = None) -> None:
        self._clause, self._columns = clause, columns
        self._written: dict[str, _Written] = {}

    def fetch(self, place: Place, values: Mapping[str, Any] = NOTHING) -> list[Any]:
        """Return all rows, as tuples whose places have the columns' names."""
        direct = find_direct(place)
        written = self._write(direct.dialect)
        cursor = direct.execute(written.text, written.convert(values))
        try:
            return written.read(cursor.fetchall(), cursor.description)
        except direct.dialect.loaded_dbapi.Error as error:
            raise direct.explain(error, written.text) from error
        finally:
            cursor.close()

    def run(self, place: Place, values: Mapping[str, Any] = NOTHING) -> None:
        """Carry the statement out, whatever it returns."""
        direct = find_direct(place)
        written = self._write(direct.dialect)
        direct.execute(written.text, written.convert(values)).close()

    def _write(self, dialect: Dialect) -> _Written:
        written = self._written.get(dialect.name)
        if written is None:
            written = self._written[dialect.name] = _Written(self._clause, self._columns, dialect)
        return written


class _Written:
    """A statement in the words of one kind of database, with what turns values into the driver's and back."""

    def __init__(self, clause: Any, columns: Sequence[str] | None, dialect: Dialect) -> None:
        compiled = clause.compile(dialect=dialect, column_keys=columns)
        self.text = str(compiled)
        if "POSTCOMPILE" in self.text:
            raise ValueError(f"its length is not known: {self.text}")
        self._dialect = dialect
        self._fixed = {name: bind.value for name, bind in compiled.binds.items() if not bind.required}
        processes = {name: _find_bind_process(bind.type, dialect) for name, bind in compiled.binds.items()}
        self._is_positional = bool(compiled.positional)
        names: Sequence[str] | None = compiled.positiontup if self._is_positional else list(compiled.binds)
        self._binds = [(name, processes[name]) for name in names or ()]
        self._columns = list(clause.exported_columns) if hasattr(clause, "exported_columns") else []
        row: Any = namedtuple("Row", clause.exported_columns.keys() if self._columns else [])  # type: ignore[misc]
        self._make_row: Process = row._make
        self._results: list[tuple[int, Process]] | None = None

    def convert(self, values: Mapping[str, Any]) -> Any:
        """Return the values as the driver takes them."""
        given = {**self._fixed, **values} if self._fixed else values
        if self._is_positional:
            return [given[name] if process is None else process(given[name]) for name, process in self._binds]
        return {name: given[name] if process is None else process(given[name]) for name, process in self._binds}

    def read(self, rows: Sequence[Sequence[Any]], description: Sequence[Sequence[Any]]) -> list[Any]:
        """Return the driver's rows as the service knows their values."""
        if self._results is None:
            found = [
                (place, column.type.dialect_impl(self._dialect).result_processor(self._dialect, described[1]))
                for place, (column, described) in enumerate(zip(self._columns, description, strict=True))
            ]
            self._results = [(place, process) for place, process in found if process is not None]
        made = []
        for row in rows:
            ready = list(row)
            for place, process in self._results:
                ready[place] = process(ready[place])
            made.append(self._make_row(ready))
        return made


def _find_bind_process(of: TypeEngine[Any], dialect: Dialect) -> Process | None:
    """Return what turns a value into the driver's, or None where it is taken as it is."""
    return of.dialect_impl(dialect).bind_processor(dialect)


def find_direct(place: Place) -> DirectConnection:
    """Return where a statement is asked directly, within the transaction of a session if that is given."""
    if isinstance(place, DirectConnection):
        return place
    return DirectConnection.over(place.connection() if isinstance(place, Session) else place)
