"""How many requests came in each of the last seconds, in memory that all processes of one machine share.

The memory is a file of `DATA_DIR`, which only the service's own account may open. Its size never changes: who has more
callers than it has room for forgets those who came least. A process may be killed at any moment. Its lock is the
system's, which takes it back; what it was writing is one caller's numbers, which are over after a minute anyway.
"""

from __future__ import annotations

import mmap
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from struct import Struct

import structlog

from api.storage.file_lock import lock_file, unlock_file

WINDOW_S = 60
NAME = "requests-1.counts"
"""With the number of this layout, which each other layout has to change."""
WAYS, SETS = 8, 2_048
"""Callers that share a place, and places."""
LOCK_WAIT_S = 0.05
"""How long a process that stands still may hold all others up."""
HURRY_S = 1.0
"""For how long after that nobody waits again: each caller waits in turn, and would have to for each request."""
_SLOTS = WINDOW_S + 1
"""One more than seconds, since the present one is not over: so no minute, wherever it begins, has more than counts."""
_SECRET = Struct("32s")
_NAMES, _LAST, _COUNTS, _COUNT = Struct(f"{WAYS}Q"), Struct("I"), Struct(f"{_SLOTS}I"), Struct("I")
_LAST_AT, _COUNTS_AT = _NAMES.size, _NAMES.size + WAYS * _LAST.size
_SET_BYTES = _COUNTS_AT + WAYS * _COUNTS.size
SIZE = mmap.PAGESIZE + SETS * _SET_BYTES
_NONE = (0,) * _SLOTS

log = structlog.get_logger(__name__)


class CountTable:
    """Counts by name; any number of threads and processes at once.

    Parameters
    ----------
    folder : Path
        Where the file is. Without room for it, this process counts by itself.
    """

    def __init__(self, folder: Path) -> None:
        self._turn = threading.Lock()
        self._hurries_until = 0.0
        self._file, self._memory = _open(folder / NAME)
        with self._alone():
            if not any(self._memory[: _SECRET.size]):
                _SECRET.pack_into(self._memory, 0, os.urandom(_SECRET.size))
            self._secret = bytes(self._memory[: _SECRET.size])

    def take(self, name: str, most: int, amount: int = 1) -> bool:
        """Count `amount` requests now, unless there would be more than `most` within the window."""
        with self._alone():
            second = int(time.monotonic())
            place, way = self._find_or_make(name, second)
            counts = self._bring_up_to(place, way, second)
            if sum(counts) + amount > most:
                return False
            slot = second % _SLOTS
            at = place + _COUNTS_AT + way * _COUNTS.size + slot * _COUNT.size
            _COUNT.pack_into(self._memory, at, min(counts[slot] + amount, 2**32 - 1))
            return True

    def read(self, name: str) -> tuple[float, int]:
        """Return after how many seconds the oldest request that counts will count no more, and how many count."""
        with self._alone():
            now = time.monotonic()
            second = int(now)
            place, way = self._find(name)
            if way is None:
                return 0.0, 0
            counts = self._bring_up_to(place, way, second)
        oldest = next((age for age in range(WINDOW_S, -1, -1) if counts[(second - age) % _SLOTS]), None)
        return (0.0, 0) if oldest is None else (second - oldest + _SLOTS - now, sum(counts))

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep other threads and processes out; a process that stands still keeps nobody out for long."""
        with self._turn:
            hurries = time.monotonic() < self._hurries_until
            if not lock_file(self._file, 0.0 if hurries else LOCK_WAIT_S) and not hurries:
                self._hurries_until = time.monotonic() + HURRY_S
            try:
                yield
            finally:
                unlock_file(self._file)

    def _find(self, name: str) -> tuple[int, int | None]:
        """Return where a caller's set of places begins, and which of its places he has."""
        number = self._number(name)
        place = _find_place(number)
        numbers = _NAMES.unpack_from(self._memory, place)
        return place, numbers.index(number) if number in numbers else None

    def _find_or_make(self, name: str, second: int) -> tuple[int, int]:
        place, way = self._find(name)
        if way is not None:
            return place, way
        way = min(range(WAYS), key=lambda each: sum(self._bring_up_to(place, each, second)))
        _COUNTS.pack_into(self._memory, place + _COUNTS_AT + way * _COUNTS.size, *_NONE)
        Struct("Q").pack_into(self._memory, place + way * 8, self._number(name))
        return place, way

    def _bring_up_to(self, place: int, way: int, second: int) -> tuple[int, ...]:
        """Forget what is over by now, and return what counts."""
        last_at, counts_at = place + _LAST_AT + way * _LAST.size, place + _COUNTS_AT + way * _COUNTS.size
        (last,) = _LAST.unpack_from(self._memory, last_at)
        counts: tuple[int, ...] = _COUNTS.unpack_from(self._memory, counts_at)
        if last == second:
            return counts
        if 0 < second - last < _SLOTS:
            kept = list(counts)
            for over in range(last + 1, second + 1):
                kept[over % _SLOTS] = 0
            counts = tuple(kept)
        else:  # nobody came for a minute, or the machine began to count anew
            counts = _NONE
        _COUNTS.pack_into(self._memory, counts_at, *counts)
        _LAST.pack_into(self._memory, last_at, second)
        return counts

    def _number(self, name: str) -> int:
        """Give a caller a number that nobody can foresee, who would choose names to push others out."""
        return int.from_bytes(blake2b(name.encode(), digest_size=8, key=self._secret).digest(), "little") or 1


def _find_place(number: int) -> int:
    return mmap.PAGESIZE + number % SETS * _SET_BYTES


def _open(path: Path) -> tuple[int, mmap.mmap]:
    """Open the file, and its memory; without room on the disk, memory of this process alone."""
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    file = os.open(path, flags, 0o600)
    os.fchmod(file, 0o600)
    try:
        if os.fstat(file).st_size != SIZE:
            _make_room(file)
        return file, mmap.mmap(file, SIZE)
    except OSError as error:
        log.warning("limits_not_shared", kind=type(error).__name__)
        return file, mmap.mmap(-1, SIZE)


def _make_room(file: int) -> None:
    """Take the disk's space now: memory of a file without space ends the process that writes to it."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file, 0, SIZE)
    else:  # macOS
        os.write(file, bytes(SIZE))
