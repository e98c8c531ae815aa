"""SQLite: many readers, one writer at a time, and commits that last a power cut, many at once."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection, Dialect, Engine, create_engine, event
from sqlalchemy.engine import URL
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import DisconnectionError
from sqlalchemy.pool import ConnectionPoolEntry, PoolProxiedConnection

from api.storage.direct import DirectPool, DirectPools
from api.storage.group_commit import GroupCommit
from api.storage.private_files import FOLDER_MODE, make_private_file, restrict_file
from api.storage.writers_line import SUFFIXES, WritersLine

READERS = {"pool_size": 20, "max_overflow": 10, "pool_timeout": 5}
ONE = {"pool_size": 1, "max_overflow": 0}
IN_LINE = 10
"""The part of the time that a lock may be waited for after which a writer does not wait for his turn any longer."""
FILE = "sqlite_file"
"""What a pool knows of a connection: the file that it opened."""
WRITES = "sqlite_writes"
"""Execution option of an engine whose transactions take the write lock as they begin."""
_write_to_disk = getattr(os, "fdatasync", os.fsync)  # not every system has the first


def make_readers(url: URL, lock_wait_ms: int) -> Engine:
    """Open a database for reading, and for what writes beside the service, such as a migration; make it if need be."""
    if is_in_file(url):
        _make_file(Path(url.database or ""))
    return _listen(_open_alone(create_engine(url, **READERS)), lock_wait_ms, "FULL")


def make_writer(url: URL, lock_wait_ms: int) -> Engine:
    """Open the one connection over which this process writes; who comes first is served first.

    Threads wait for the connection, and processes in a line. A deferred transaction that turns into a writer fails
    under load whatever the busy timeout; this one waits.

    Its commits do not wait for the disk: `CommitLog` does.
    """
    engine = _open_alone(create_engine(url, pool_timeout=lock_wait_ms / 1000, execution_options={WRITES: True}, **ONE))
    in_line_ms = lock_wait_ms // IN_LINE
    line = WritersLine(Path(url.database or ""), in_line_ms / 1000)
    event.listen(engine, "checkout", lambda *_: line.enter())
    event.listen(engine, "checkin", lambda *_: line.leave())
    event.listen(engine, "engine_disposed", lambda *_: line.close())
    return _listen(engine, lock_wait_ms - 2 * in_line_ms, "NORMAL")


def list_sqlite_pools(readers: Engine, writer: Engine, wait_for_disk: Callable[[], None]) -> DirectPools:
    """Return where statements are asked directly; what is written at once waits for the disk by itself."""
    writers = DirectPool(writer, begin="BEGIN IMMEDIATE")
    return DirectPools(
        singles=DirectPool(readers),
        still=DirectPool(readers, begin="BEGIN"),
        writers=writers,
        at_once=GroupCommit(writers, wait_for_disk),
    )


class CommitLog:
    """The file in which SQLite notes commits before it changes its database; those of many are written to disk at once.

    Parameters
    ----------
    database : Path
        The database's file.
    """

    def __init__(self, database: Path) -> None:
        self._path = database.with_name(f"{database.name}-wal")
        self._news = threading.Condition()
        self._asked = self._done = 0
        self._is_writing = False

    def wait(self) -> None:
        """Wait until everything that was committed before this call would outlast a power cut.

        Raises
        ------
        OSError
            If the disk does not take it.
        """
        with self._news:
            self._asked += 1
            mine = self._asked
            while self._is_writing and self._done < mine:
                self._news.wait()
            if self._done >= mine:
                return
            self._is_writing, upto = True, self._asked
        done = 0
        try:
            self._write()
            done = upto
        finally:
            with self._news:
                self._is_writing = False
                self._done = max(self._done, done)
                self._news.notify_all()

    def _write(self) -> None:
        log = os.open(self._path, os.O_RDWR)
        try:
            _write_to_disk(log)
        finally:
            os.close(log)


def is_in_file(url: URL) -> bool:
    """Whether a database is in a file of this name."""
    return bool(url.database) and url.database != ":memory:" and not (url.database or "").startswith("file:")


def _open_alone(engine: Engine) -> Engine:
    """Have an engine open its file only if it is there, and leave it once another file, or none, is in its place.

    SQLite would make an empty file, and begin its log anew over that of the file that was moved away: what was in there
    would be lost. And what is written to a file without a name is lost when the last process that has it open ends.
    """
    if is_in_file(engine.url):
        path = Path(engine.url.database or "")
        event.listen(engine, "do_connect", partial(_refuse_to_make, path))
        event.listen(engine, "connect", partial(_note_file, path))
        event.listen(engine, "checkout", partial(_require_file, path))
    return engine


def _refuse_to_make(
    path: Path, _: Dialect, __: ConnectionPoolEntry, arguments: list[Any], named: dict[str, Any]
) -> None:
    arguments[0], named["uri"] = f"file:{quote(str(path.absolute()))}?mode=rw", True


def _note_file(path: Path, _: DBAPIConnection, entry: ConnectionPoolEntry) -> None:
    entry.info[FILE] = _identify(path)


def _require_file(path: Path, _: DBAPIConnection, entry: ConnectionPoolEntry, __: PoolProxiedConnection) -> None:
    if entry.info.get(FILE) != _identify(path):
        raise DisconnectionError("another file, or none, is where the database was")


def _identify(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _listen(engine: Engine, lock_wait_ms: int, synchronous: str) -> Engine:
    event.listen(engine, "connect", partial(_configure, lock_wait_ms, synchronous))
    event.listen(engine, "begin", _begin)
    return engine


def _make_file(path: Path) -> None:
    """Make the file before SQLite does, for its owner alone; SQLite gives the files beside it the same rights."""
    path.parent.mkdir(FOLDER_MODE, parents=True, exist_ok=True)
    make_private_file(path)
    for suffix in ("-wal", "-shm", "-journal", *SUFFIXES):
        restrict_file(path.with_name(path.name + suffix))


def _configure(lock_wait_ms: int, synchronous: str, connection: DBAPIConnection, _: ConnectionPoolEntry) -> None:
    connection.isolation_level = None  # `_begin` begins transactions instead of the driver
    cursor = connection.cursor()
    pragmas = (f"busy_timeout={lock_wait_ms}", "journal_mode=WAL", f"synchronous={synchronous}", "foreign_keys=ON")
    for pragma in pragmas:
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin(connection: Connection) -> None:
    options = connection.get_execution_options()
    if options.get("isolation_level") != "AUTOCOMMIT":
        connection.exec_driver_sql("BEGIN IMMEDIATE" if options.get(WRITES) else "BEGIN")
