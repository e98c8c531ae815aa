"""Only one worker works; the others wait to take over."""

from __future__ import annotations

import fcntl
from contextlib import suppress
from pathlib import Path
from typing import IO, Protocol

import structlog
from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError

from api.config import Config
from api.storage.db import Database

ADVISORY_LOCK = 0x636865636B6F7574
"""Key of the PostgreSQL lock: the word checkout in ASCII."""

log = structlog.get_logger(__name__)


class Leadership(Protocol):
    """A claim that at most one worker can have; it ends with the process at the latest."""

    def acquire(self) -> bool:
        """Try to get the claim, without waiting."""
        ...

    def is_held(self) -> bool:
        """Whether the claim still stands."""
        ...

    def release(self) -> None:
        """Give the claim up."""
        ...


class FileLeadership:
    """A lock on a file, for workers on one machine."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: IO[str] | None = None

    def acquire(self) -> bool:
        """Try to lock the file."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        file = self._path.open("w")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            return False
        self._file = file
        return True

    def is_held(self) -> bool:
        """Whether this process has the lock; the system takes it away from no living process."""
        return self._file is not None

    def release(self) -> None:
        """Unlock the file."""
        if self._file is not None:
            self._file.close()
            self._file = None


class PostgresLeadership:
    """A session's advisory lock, for workers anywhere; PostgreSQL drops it with the connection."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._connection: Connection | None = None

    def acquire(self) -> bool:
        """Try to take the lock on a connection of its own."""
        try:
            connection = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        except DBAPIError as error:
            log.warning("leader_database_unavailable", kind=type(error).__name__)
            return False
        connection.detach()
        if not connection.scalar(text("SELECT pg_try_advisory_lock(:key)"), {"key": ADVISORY_LOCK}):
            connection.close()
            return False
        self._connection = connection
        return True

    def is_held(self) -> bool:
        """Whether the connection, and with it the lock, is still there."""
        if self._connection is None:
            return False
        try:
            self._connection.execute(text("SELECT 1"))
        except DBAPIError:
            return False
        return True

    def release(self) -> None:
        """Drop the lock and close the connection."""
        if self._connection is None:
            return
        connection, self._connection = self._connection, None
        if not connection.invalidated:
            with suppress(DBAPIError):  # a connection lost this moment has dropped the lock as well
                connection.execute(text("SELECT pg_advisory_unlock_all()"))
        connection.close()


def leadership_for(config: Config, database: Database) -> Leadership:
    """Choose the lock that all workers of this installation see."""
    if database.engine.dialect.name == "postgresql":
        return PostgresLeadership(database.engine)
    return FileLeadership(config.data_dir / "worker.lock")
