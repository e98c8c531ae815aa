"""When requests came within the last minute, in this process's memory."""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import Any

from limits.storage import MovingWindowSupport, Storage

SCHEME = "recent"
SWEEP_AFTER = 10_000
"""Requests after which callers are forgotten that have not come again."""


class RecentRequests(Storage, MovingWindowSupport):
    """Counts as the library's own memory does, exactly, at a cost that does not grow with the requests counted.

    The library's starts a thread each hundredth of a second, which goes through everything that is counted; a limit of
    a million a minute made that a quarter of a request.
    """

    STORAGE_SCHEME = [SCHEME]  # noqa: RUF012 - the library's type

    def __init__(self, uri: str | None = None, wrap_exceptions: bool = False, **options: Any) -> None:
        super().__init__(uri, wrap_exceptions=wrap_exceptions, **options)
        self._lock = threading.Lock()
        self._moments: dict[str, deque[float]] = {}
        self._ends: dict[str, float] = {}
        self._until_sweep = SWEEP_AFTER

    @property
    def base_exceptions(self) -> type[Exception]:
        """What can fail here."""
        return ValueError

    def acquire_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        """Count `amount` requests, unless there would be more than `limit` within `expiry` seconds."""
        now = time.time()
        with self._lock:
            self._sweep(now)
            moments = self._forget_old(key, now - expiry)
            if len(moments) + amount > limit:
                return False
            moments.extend([now] * amount)
            self._moments[key], self._ends[key] = moments, now + expiry
            return True

    def get_moving_window(self, key: str, limit: int, expiry: int) -> tuple[float, int]:
        """Return when the oldest request that still counts came, and how many count."""
        now = time.time()
        with self._lock:
            moments = self._forget_old(key, now - expiry)
            return (moments[0] if moments else now), len(moments)

    def incr(self, key: str, expiry: int, amount: int = 1) -> int:
        """Refuse: only the moving window is counted here."""
        raise NotImplementedError

    def get(self, key: str) -> int:
        """Return how many requests are counted."""
        return len(self._moments.get(key, ()))

    def get_expiry(self, key: str) -> float:
        """Return when the newest request counts no more."""
        return self._ends.get(key, time.time())

    def check(self) -> bool:
        """Whether it can count: always."""
        return True

    def reset(self) -> int:
        """Forget everything; return how many callers there were."""
        with self._lock:
            count = len(self._moments)
            self._moments.clear()
            self._ends.clear()
            return count

    def clear(self, key: str) -> None:
        """Forget a caller."""
        with self._lock:
            self._moments.pop(key, None)
            self._ends.pop(key, None)

    def _forget_old(self, key: str, since: float) -> deque[float]:
        moments = self._moments.get(key)
        if moments is None:
            return deque()
        while moments and moments[0] < since:
            moments.popleft()
        return moments

    def _sweep(self, now: float) -> None:
        self._until_sweep -= 1
        if self._until_sweep > 0:
            return
        self._until_sweep = SWEEP_AFTER
        for key in [key for key, end in self._ends.items() if end < now]:
            del self._moments[key], self._ends[key]
