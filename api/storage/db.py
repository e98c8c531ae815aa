"""Engine and sessions for SQLite and PostgreSQL."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Self, cast

from sqlalchemy import Connection, Engine, Insert, Table, create_engine, event, func, insert, make_url, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session, sessionmaker
from sqlalchemy.sql.dml import ReturningInsert

from api.storage.base import Base
from api.storage.fencing import Fence
from api.storage.patience import connect, leave_standby, note_use, ping_idle
from api.storage.process import name_process
from api.storage.sqlite import CommitLog, make_readers, make_writer

LOCK_WAIT_MS = 5_000
STATEMENT_MS = 15_000
IDLE_MS = 15_000
"""How long a transaction may stand still on PostgreSQL before its locks are taken from it: its process may hang."""
POOL = {"pool_size": 20, "max_overflow": 10, "pool_timeout": 5}


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
        url = make_url(url)
        self._commits: CommitLog | None = None
        if url.get_backend_name() == "sqlite":
            self.engine, self._writer = make_readers(url, lock_wait_ms), make_writer(url, lock_wait_ms)
            self._commits = CommitLog(Path(url.database or ""))
        else:
            self.engine = self._writer = _make_postgres_engine(url, lock_wait_ms, is_pooled)
        self._is_pooled = is_pooled
        self._fence: Fence | None = None
        # Behind a pooler the limits of time are those of a transaction, so one begins for a single query too.
        self._single = self.engine if is_pooled else self.engine.execution_options(isolation_level="AUTOCOMMIT")
        self._readers = sessionmaker(self.engine, expire_on_commit=False)
        self._still_readers = sessionmaker(_hold_still(self.engine), expire_on_commit=False)
        self._writers = sessionmaker(self._writer, expire_on_commit=False)

    @contextmanager
    def read(self) -> Iterator[Session]:
        """Give a session for reading; nothing of it is kept."""
        with self._readers() as session:
            yield session

    @contextmanager
    def look(self) -> Iterator[Connection]:
        """Give a connection for single queries, each of which sees what is committed by then; no transaction begins."""
        with self._single.connect() as connection:
            yield connection

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

        What is committed then would outlast a power cut.

        Raises
        ------
        LeaseLost
            If this writes in the name of a duty that somebody else does now.
        """
        with self._writers.begin() as session:
            if self._fence is not None:
                self._fence.check(session)
            yield session
        self.wait_for_disk()

    def wait_for_disk(self) -> None:
        """Wait until what was committed by now would outlast a power cut; PostgreSQL commits nothing earlier.

        Raises
        ------
        OperationalError
            If the disk does not take it, for example because it is full; nobody knows then what would outlast one.
        """
        if self._commits is None:
            return
        try:
            self._commits.wait()
        except OSError as error:
            raise OperationalError("fdatasync", None, error) from error

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
        self._writer.dispose()


def read_database_time(session: Session) -> datetime:
    """Return the database's own time: its server's, or on SQLite this machine's, on which all its processes run."""
    if session.get_bind().dialect.name == "postgresql":
        now: datetime = session.execute(select(func.clock_timestamp())).scalar_one()
        return now.astimezone(UTC)
    return datetime.now(UTC)


def insert_row(session: Session, row: Base) -> None:
    """Insert a new row now. The session keeps nothing of it: what is changed in `row` later is not written."""
    statement, names, version = _describe_table(type(row))
    given = vars(row)
    values = {column: given[attribute] for attribute, column in names if attribute in given}
    session.execute(statement, values if version is None else {**values, version: 1})


@lru_cache(maxsize=64)
def _describe_table(table: type[Base]) -> tuple[Insert, tuple[tuple[str, str], ...], str | None]:
    mapper = table.__mapper__
    names = tuple((each.key, each.columns[0].key) for each in mapper.column_attrs)
    version = mapper.version_id_col
    return insert(cast(Table, table.__table__)).inline(), names, None if version is None else version.key


def insert_new(session: Session, table: type[Base], values: Mapping[str, Any]) -> bool:
    """Insert a row, given by its columns, unless one with the same unique key is there.

    The answer comes from RETURNING: PostgreSQL's row count says 1 for a row that was not inserted.

    Returns
    -------
    bool
        Whether this call inserted the row.
    """
    statement = _prepare_insert_new(table, session.get_bind().dialect.name)
    return session.execute(statement, values).first() is not None


@lru_cache(maxsize=64)
def _prepare_insert_new(table: type[Base], dialect: str) -> ReturningInsert[tuple[Any]]:
    into = cast(Table, table.__table__)
    new = (postgresql.insert if dialect == "postgresql" else sqlite.insert)(into)
    return new.on_conflict_do_nothing().returning(next(iter(into.primary_key)))


def _make_postgres_engine(url: URL, lock_wait_ms: int, is_pooled: bool) -> Engine:
    limits: dict[str, int | str] = {
        "statement_timeout": STATEMENT_MS,
        "lock_timeout": lock_wait_ms,
        "idle_in_transaction_session_timeout": IDLE_MS,
        "timezone": "UTC",
    }
    arguments: dict[str, Any] = {"connect_timeout": 5, "application_name": name_process()}
    if is_pooled:  # the next transaction may be another connection's, where no statement is prepared and no limit set
        arguments["prepare_threshold"] = None
    else:
        arguments["options"] = " ".join(f"-c {name}={value}" for name, value in limits.items())
    engine = create_engine(url, connect_args=arguments, **POOL)
    event.listen(engine, "do_connect", connect)
    event.listen(engine, "connect", note_use)
    event.listen(engine, "checkin", note_use)
    event.listen(engine, "checkout", partial(ping_idle, engine.dialect))
    event.listen(engine, "handle_error", leave_standby)
    if is_pooled:
        event.listen(engine, "begin", partial(_set_limits, limits))
    return engine


def _set_limits(limits: Mapping[str, int | str], connection: Connection) -> None:
    """Set limits for one transaction."""
    calls = ", ".join(f"set_config('{name}', '{value}', true)" for name, value in limits.items())
    connection.exec_driver_sql(f"SELECT {calls}")


def _hold_still(engine: Engine) -> Engine:
    """Let each transaction read one state: a deferred one does on SQLite, PostgreSQL has to be asked."""
    if engine.dialect.name == "sqlite":
        return engine
    return engine.execution_options(isolation_level="REPEATABLE READ")
