"""Engine and sessions for SQLite and PostgreSQL."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Self

from sqlalchemy import Connection, Engine, create_engine, event, func, make_url, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.orm import Session, sessionmaker
from sqlalchemy.pool import ConnectionPoolEntry

from api.storage.base import Base
from api.storage.fencing import Fence
from api.storage.private_files import FOLDER_MODE, make_private_file, restrict_file
from api.storage.process import name_process

LOCK_WAIT_MS = 5_000
STATEMENT_MS = 15_000
IDLE_MS = 15_000
"""How long a transaction may stand still on PostgreSQL before its locks are taken from it: its process may hang."""
POOL = {"pool_size": 20, "max_overflow": 10, "pool_timeout": 5}
SQLITE_BEGIN = "sqlite_begin"
"""Execution option: how a transaction begins on SQLite, `DEFERRED` unless it says `IMMEDIATE`."""


class Database:
    """Sessions of one process.

    Parameters
    ----------
    url : str or URL
        SQLAlchemy URL of SQLite or PostgreSQL.
    lock_wait_ms : int
        How long a statement waits for a lock.
    is_pooled : bool
        Whether a pooler in transaction mode stands before PostgreSQL: nothing that outlives a transaction is asked of
        a connection then.
    """

    def __init__(self, url: str | URL, *, lock_wait_ms: int = LOCK_WAIT_MS, is_pooled: bool = False) -> None:
        self.engine = _make_engine(make_url(url), lock_wait_ms, is_pooled)
        self._is_pooled = is_pooled
        self._fence: Fence | None = None
        self._readers = sessionmaker(self.engine, expire_on_commit=False)
        self._still_readers = sessionmaker(_hold_still(self.engine), expire_on_commit=False)
        # A deferred transaction that turns into a writer fails under load whatever the busy timeout; this one waits.
        self._writers = sessionmaker(
            self.engine.execution_options(**{SQLITE_BEGIN: "IMMEDIATE"}), expire_on_commit=False
        )

    @contextmanager
    def read(self) -> Iterator[Session]:
        """Give a session for reading; nothing of it is kept."""
        with self._readers() as session:
            yield session

    @contextmanager
    def read_one_state(self) -> Iterator[Session]:
        """Give a session whose queries all read the state of the first, whatever is written meanwhile.

        Not for one that waits for a lock first: what it waited for would not be in that state.
        """
        with self._still_readers() as session:
            yield session

    @contextmanager
    def write(self) -> Iterator[Session]:
        """Give a session that commits at the end of the block, or rolls back if the block raises.

        Raises
        ------
        LeaseLost
            If this writes in the name of a duty that somebody else does now.
        """
        with self._writers.begin() as session:
            if self._fence is not None:
                self._fence.check(session)
            yield session

    def connect_anew(self, *, lock_wait_ms: int) -> Database:
        """Return the same database over connections of its own."""
        return Database(self.engine.url, lock_wait_ms=lock_wait_ms, is_pooled=self._is_pooled)

    def fenced(self, fence: Fence) -> Self:
        """Return the same database for writing in the name of a duty: only while nobody else has taken it over."""
        fenced = copy.copy(self)
        fenced._fence = fence
        return fenced

    def require_lease(self) -> None:
        """Ask whether the duty that this acts for is still this process's, before doing what no transaction holds.

        Raises
        ------
        LeaseLost
            If somebody else does it now.
        """
        if self._fence is not None:
            with self.read() as session:
                self._fence.check(session)

    def close(self) -> None:
        """Close every pooled connection."""
        self.engine.dispose()


def read_database_time(session: Session) -> datetime:
    """Return the database's own time: its server's, or on SQLite this machine's, on which all its processes run."""
    if session.get_bind().dialect.name == "postgresql":
        now: datetime = session.execute(select(func.clock_timestamp())).scalar_one()
        return now.astimezone(UTC)
    return datetime.now(UTC)


def insert_new(session: Session, table: type[Base], values: Mapping[str, Any]) -> bool:
    """Insert a row unless one with the same unique key is there.

    The answer comes from RETURNING: PostgreSQL's row count says 1 for a row that was not inserted.

    Returns
    -------
    bool
        Whether this call inserted the row.
    """
    name = session.get_bind().dialect.name
    statement = (postgresql.insert if name == "postgresql" else sqlite.insert)(table).values(**values)
    key = next(iter(table.__table__.primary_key))
    return session.execute(statement.on_conflict_do_nothing().returning(key)).first() is not None


def _make_engine(url: URL, lock_wait_ms: int, is_pooled: bool) -> Engine:
    if url.get_backend_name() == "sqlite":
        return _make_sqlite_engine(url, lock_wait_ms)
    limits: dict[str, int | str] = {
        "statement_timeout": STATEMENT_MS,
        "lock_timeout": lock_wait_ms,
        "idle_in_transaction_session_timeout": IDLE_MS,
        "timezone": "UTC",
    }
    arguments: dict[str, Any] = {"connect_timeout": 5, "application_name": name_process()}
    if is_pooled:  # the next transaction may be another connection's, where no statement is prepared and no limit set
        engine = create_engine(url, pool_pre_ping=True, connect_args=arguments | {"prepare_threshold": None}, **POOL)
        event.listen(engine, "begin", partial(_set_limits, limits))
        return engine
    arguments["options"] = " ".join(f"-c {name}={value}" for name, value in limits.items())
    return create_engine(url, pool_pre_ping=True, connect_args=arguments, **POOL)


def _set_limits(limits: Mapping[str, int | str], connection: Connection) -> None:
    """Set limits for one transaction."""
    calls = ", ".join(f"set_config('{name}', '{value}', true)" for name, value in limits.items())
    connection.exec_driver_sql(f"SELECT {calls}")


def _hold_still(engine: Engine) -> Engine:
    """Let each transaction read one state: a deferred one does on SQLite, PostgreSQL has to be asked."""
    if engine.dialect.name == "sqlite":
        return engine
    return engine.execution_options(isolation_level="REPEATABLE READ")


def _make_sqlite_engine(url: URL, lock_wait_ms: int) -> Engine:
    if url.database and url.database != ":memory:" and not url.database.startswith("file:"):
        _make_sqlite_file(Path(url.database))
    engine = create_engine(url, **POOL)
    event.listen(engine, "connect", partial(_configure_sqlite, lock_wait_ms))
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _make_sqlite_file(path: Path) -> None:
    """Make the file before SQLite does, for its owner alone; SQLite gives the files beside it the same rights."""
    path.parent.mkdir(FOLDER_MODE, parents=True, exist_ok=True)
    make_private_file(path)
    for suffix in ("-wal", "-shm", "-journal"):
        restrict_file(path.with_name(path.name + suffix))


def _configure_sqlite(lock_wait_ms: int, connection: DBAPIConnection, _: ConnectionPoolEntry) -> None:
    connection.isolation_level = None  # `_begin_sqlite` begins transactions instead of the driver
    cursor = connection.cursor()
    for pragma in (f"busy_timeout={lock_wait_ms}", "journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    connection.exec_driver_sql(f"BEGIN {connection.get_execution_options().get(SQLITE_BEGIN, 'DEFERRED')}")
