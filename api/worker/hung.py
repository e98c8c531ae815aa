"""Gets a database's locks back from a hung process that held a lease."""

from __future__ import annotations

import os
import signal
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path

import structlog
from sqlalchemy import Engine, text
from sqlalchemy.exc import DBAPIError

from api.storage.fault_names import name_fault
from api.storage.process import Process

WRITE_LOCK = 120
"""Byte of SQLite's ``-shm`` file that a writer locks: WALINDEX_LOCK_OFFSET + WAL_WRITE_LOCK of its ``wal.c``."""
TRIES = 3
"""How often in a row the way must be blocked by a process that is not stopped, before that counts as hanging."""

log = structlog.get_logger(__name__)


class Remover:
    """Ends what a hung holder of an expired lease keeps others from writing with: its sessions, or itself.

    On PostgreSQL its sessions are ended. SQLite has no sessions: there the process itself is killed, and only if it is
    the very one that holds the write lock. Whoever holds none is left alone: its token is refused.

    Parameters
    ----------
    engine : Engine
        Of the database that is blocked.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._blocked: tuple[Process | None, int] = (None, 0)

    def clear(self, holder: str, others: Collection[str]) -> bool:
        """Take the locks from whoever is in the way; return whether that was done.

        Parameters
        ----------
        holder : str
            Who held the lease that can't be taken over, if anybody did.
        others : collection of str
            Whose leases have expired too. SQLite's one lock may be any of theirs.
        """
        if self._engine.dialect.name == "postgresql":
            return any(map(self._end_sessions, _parse([holder])))
        return any(map(self._end_process, _parse([holder, *others])))

    def _end_sessions(self, process: Process) -> bool:
        end = text(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
            " WHERE application_name = :name AND datname = current_database()"
        )
        try:
            with self._engine.connect() as connection:
                ended = connection.scalar(end, {"name": process.name})
        except DBAPIError as error:
            log.warning("database_unavailable", kind=name_fault(error))
            return False
        log.warning("sessions_of_hung_worker_ended", process=process.name, sessions=ended)
        return bool(ended)

    def _end_process(self, process: Process) -> bool:
        path = self._engine.url.database
        if not path or not process.is_here or process.pid not in _find_writers(Path(f"{path}-shm")):
            self._blocked = (None, 0) if self._blocked[0] == process else self._blocked
            return False
        tries = self._blocked[1] + 1 if self._blocked[0] == process else 1
        self._blocked = (process, tries)
        if not process.is_stopped and tries < TRIES:
            return False
        with suppress(ProcessLookupError):
            descriptor = os.pidfd_open(process.pid)
            try:
                # Between opening and looking again the number can't pass on to another process unnoticed.
                if process.is_here:
                    signal.pidfd_send_signal(descriptor, signal.SIGKILL)
                    log.warning("hung_worker_killed", process=process.name)
                    return True
            finally:
                os.close(descriptor)
        return False


def _parse(holders: Sequence[str]) -> list[Process]:
    """Return the processes that these holders were, each once, without the one that asks."""
    found = [Process.parse(each.partition("/")[0]) for each in dict.fromkeys(holders)]
    present = Process.find_present()
    return list(dict.fromkeys(each for each in found if each is not None and each != present))


def _find_writers(shared_memory: Path) -> frozenset[int]:
    """Return who holds the write lock of a SQLite database.

    The system's list is read, since opening and closing the file would drop this process's own locks on it.
    """
    try:
        inode = shared_memory.stat().st_ino
        lines = Path("/proc/locks").read_text().splitlines()
    except OSError:
        return frozenset()
    found = set()
    for words in map(str.split, lines):
        if len(words) != 8 or words[1] == "->" or words[3] != "WRITE":
            continue
        pid, file, first, last = words[4:]
        is_there = last == "EOF" or int(last) >= WRITE_LOCK
        if file.rpartition(":")[2] == str(inode) and int(first) <= WRITE_LOCK and is_there:
            found.add(int(pid))
    return frozenset(found)
