"""Engine and sessions for SQLite and PostgreSQL."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Self, cast

from sqlalchemy import Engine, Table, func, make_url, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session, sessionmaker
from sqlalchemy.sql.dml import ReturningInsert

from api.storage.base import Base
from api.storage.direct import Job
from api.storage.fencing import Fence
from api.storage.postgres import list_postgres_pools, make_postgres_engine
from api.storage.rows import NewRow, insert_rows
from api.storage.sqlite import CommitLog, list_sqlite_pools, make_readers, make_writer
from api.storage.statements import DirectConnection, Place, Statement, find_direct

LOCK_WAIT_MS = 5_000
BY = "by"
"""Where a session's `info` says who writes."""
_NOW = Statement(select(func.clock_timestamp()))


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
            self._direct = list_sqlite_pools(self.engine, self._writer, self.wait_for_disk)
        else:
            self.engine = self._writer = make_postgres_engine(url, lock_wait_ms, is_pooled)
            self._direct = list_postgres_pools(self.engine, lock_wait_ms, is_pooled)
        self._is_pooled = is_pooled
        self._fence: Fence | None = None
        self._readers = sessionmaker(self.engine, expire_on_commit=False)
        self._still_readers = sessionmaker(_hold_still(self.engine), expire_on_commit=False)
        self._writers = sessionmaker(self._writer, expire_on_commit=False)

    @contextmanager
    def read(self) -> Iterator[Session]:
        """Give a session for reading; nothing of it is kept."""
        with self._readers() as session:
            yield session

    def look(self) -> AbstractContextManager[DirectConnection]:
        """Give a connection for single queries, each of which sees what is committed by then; no transaction begins."""
        return self._direct.singles.open()

    def look_at_one_state(self) -> AbstractContextManager[DirectConnection]:
        """Give a connection whose queries all read the state of the first, whatever is written meanwhile."""
        return self._direct.still.open()

    @contextmanager
    def read_one_state(self) -> Iterator[Session]:
        """Give a session whose queries all read the state of the first, whatever is written meanwhile.

        Not for one that waits for a lock first: what it waited for would not be in that state.
        """
        with self._still_readers() as session:
            yield session

    @contextmanager
    def write(self, by: str | None = None) -> Iterator[Session]:
        """Give a session that commits at the end of the block, or rolls back if the block raises.

        What is committed then would outlast a power cut.

        Parameters
        ----------
        by : str, optional
            The id of the key in whose name it is; without it, it is this process's own doing.

        Raises
        ------
        LeaseLost
            If this writes in the name of a duty that somebody else does now.
        """
        with self._writers.begin() as session:
            session.info[BY] = by
            if self._fence is not None:
                self._fence.check(session)
            yield session
        self.wait_for_disk()

    @contextmanager
    def write_directly(self) -> Iterator[DirectConnection]:
        """Give a connection for statements that commits as `write` does.

        Raises
        ------
        LeaseLost
            If this writes in the name of a duty that somebody else does now.
        """
        if self._fence is not None:
            with self.write() as session:
                yield find_direct(session)
            return
        with self._direct.writers.write() as direct:
            yield direct
        self.wait_for_disk()

    def write_rows(self, rows: Sequence[NewRow]) -> None:
        """Insert rows, each behind those that it refers to; see `write_at_once`."""
        self.write_at_once(partial(insert_rows, rows=rows))

    def write_at_once(self, job: Job, *, is_lasting: bool = True) -> None:
        """Have `job` insert rows by one call: all of them or none, committed as `write` does.

        On SQLite one transaction carries out the jobs of all who write so at the same time (ADR 133). Another thread
        may call it, and once more after it was rolled back.

        Parameters
        ----------
        is_lasting : bool
            Whether to wait until it would outlast a power cut. What a process has written outlasts that anyway, and
            PostgreSQL commits nothing earlier.

        Raises
        ------
        LeaseLost
            If this writes in the name of a duty that somebody else does now.
        """
        if self._fence is None:
            self._direct.at_once.carry_out(job, is_lasting=is_lasting)
            return
        with self.write_directly() as direct:
            job(direct)

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


def read_database_time(place: Place) -> datetime:
    """Return the database's own time: its server's, or on SQLite this machine's, on which all its processes run."""
    if find_direct(place).dialect.name == "postgresql":
        ((now,),) = _NOW.fetch(place)
        moment: datetime = now.astimezone(UTC)
        return moment
    return datetime.now(UTC)


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


def _hold_still(engine: Engine) -> Engine:
    """Let each transaction read one state: a deferred one does on SQLite, PostgreSQL has to be asked."""
    if engine.dialect.name == "sqlite":
        return engine
    return engine.execution_options(isolation_level="REPEATABLE READ")
