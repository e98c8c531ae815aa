"""One line for all processes that write to one SQLite file, so that each has its turn soon.

SQLite's own way to wait for its lock is to sleep and ask again, longer each time, up to a tenth of a second: who came
last is often first, and the lock stands idle meanwhile. Here the processes wait by two locks on files. Who is first in
the line holds one of them while he waits for the other, which is held by whoever writes. So who has just written, and
wants to write again, can't come before him.

The line orders those who write; what keeps them apart is SQLite's own lock. So nothing is lost where there is no line,
as on a file system without locks, or where somebody writes who knows nothing of it, such as a migration.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from pathlib import Path

from api.storage.file_lock import lock_file, unlock_file
from api.storage.private_files import FILE_MODE

SUFFIXES = ("-line", "-turn")
"""Of the files beside the database: who is next, and who writes."""


class WritersLine:
    """The line, as one connection of one process stands in it.

    Parameters
    ----------
    database : Path
        The database's file.
    patience_s : float
        After how long to go on, for each of the two locks: somebody stands still then who may not even write.
    """

    def __init__(self, database: Path, patience_s: float) -> None:
        self._database, self._patience_s = database, patience_s
        self._opening = threading.Lock()
        self._files: list[int] = []
        self._owner = self._inside = 0

    def enter(self) -> None:
        """Wait for the turn, which lasts until `leave`."""
        with self._opening:
            self._inside += 1
            files = self._open()
        if len(files) == len(SUFFIXES) and lock_file(files[0], self._patience_s):
            lock_file(files[1], self._patience_s)
            unlock_file(files[0])

    def leave(self) -> None:
        """Give the next one the turn, if this has it."""
        with self._opening:
            self._inside = max(0, self._inside - 1)  # who found no database to write to has not entered
            if self._files and self._owner == os.getpid():
                unlock_file(self._files[-1])

    def close(self) -> None:
        """Close the files until the next time, unless they are in use."""
        with self._opening:
            if self._inside == 0:
                self._close()

    def _open(self) -> tuple[int, ...]:
        """Open the files, unless this process has: a lock would be shared with a process that was forked."""
        if self._owner != os.getpid():
            self._close()
        if not self._files:
            self._owner = os.getpid()
            with suppress(OSError):  # then there is no line
                owner = self._database.stat()
                for suffix in SUFFIXES:
                    self._files.append(_open_or_make(f"{self._database}{suffix}", owner))
        return tuple(self._files)

    def _close(self) -> None:
        while self._files:
            os.close(self._files.pop())


def _open_or_make(path: str, owner: os.stat_result) -> int:
    """Open a file that belongs to the database's owner, also where a command of root's makes it."""
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, FILE_MODE)
    if os.geteuid() == 0:
        os.fchown(file, owner.st_uid, owner.st_gid)
    return file
