"""When requests came within the last minute, for all processes of this machine, as the library of limits asks it."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from limits.storage import MovingWindowSupport, Storage

from api.counting.count_table import WINDOW_S, CountTable

SCHEME = "recent"


class RecentRequests(Storage, MovingWindowSupport):
    """Counts exactly, by whole seconds: a request counts for a minute and the rest of the second in which it came.

    The library's own memory is for one process. It starts a thread each hundredth of a second, which goes through
    everything that is counted; a limit of a million a minute made that a quarter of a request.
    """

    STORAGE_SCHEME = [SCHEME]  # noqa: RUF012 - the library's type

    def __init__(self, folder: Path, **options: Any) -> None:
        super().__init__(None, wrap_exceptions=False, **options)
        self._folder = folder
        self._opened: tuple[int, CountTable] | None = None

    @property
    def base_exceptions(self) -> type[Exception]:
        """What can fail here."""
        return OSError

    def acquire_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        """Count `amount` requests, unless there would be more than `limit` within `expiry` seconds."""
        _require_minute(expiry)
        return self._table.take(key, limit, amount)

    def get_moving_window(self, key: str, limit: int, expiry: int) -> tuple[float, int]:
        """Return when the oldest request that still counts came, and how many count."""
        _require_minute(expiry)
        left_s, count = self._table.read(key)
        return time.time() + left_s - (expiry if count else 0), count

    def incr(self, key: str, expiry: int, amount: int = 1) -> int:
        """Refuse: only the moving window is counted here."""
        raise NotImplementedError

    def get(self, key: str) -> int:
        """Return how many requests are counted."""
        return self._table.read(key)[1]

    def get_expiry(self, key: str) -> float:
        """Return when the oldest request counts no more."""
        return time.time() + self._table.read(key)[0]

    def check(self) -> bool:
        """Whether it can count: always."""
        return True

    def reset(self) -> int | None:
        """Refuse: what others count is not to be forgotten."""
        raise NotImplementedError

    def clear(self, key: str) -> None:
        """Refuse: as `reset`."""
        raise NotImplementedError

    @property
    def _table(self) -> CountTable:
        """The table as this process opened it: a lock that was opened before a fork would be parent's and child's."""
        if self._opened is None or self._opened[0] != os.getpid():
            self._opened = os.getpid(), CountTable(self._folder)
        return self._opened[1]


def _require_minute(expiry: int) -> None:
    if expiry != WINDOW_S:
        raise ValueError(f"requests are counted by the minute, not for {expiry} s")
