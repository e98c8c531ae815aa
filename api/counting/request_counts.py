"""Counts requests in Redis, and for this machine's processes while Redis is away or where there is none."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import structlog
from limits import RateLimitItem
from limits.storage import Storage, storage_from_string
from limits.strategies import MovingWindowRateLimiter
from limits.util import WindowStats
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from api.counting.recent_requests import RecentRequests

LONGEST_WAIT_S = 32
"""Redis is asked again after a second, then after twice as long each time, up to this."""

log = structlog.get_logger(__name__)


class RequestCounts:
    """Requests within the last minute, by any names.

    Parameters
    ----------
    redis_url : str or None
        Where the processes of all machines count together.
    folder : Path
        Where those of this machine do without it.
    """

    def __init__(self, redis_url: str | None, folder: Path) -> None:
        self._own = MovingWindowRateLimiter(RecentRequests(folder))
        self._shared: MovingWindowRateLimiter | None = None
        if redis_url is not None:
            self._shared = MovingWindowRateLimiter(_connect(redis_url))
        self._retry_at, self._wait_s = 0.0, 1

    def take(self, limit: RateLimitItem, *names: str) -> bool:
        """Count a request, unless there would be more than the limit."""
        shared = self._find_shared()
        if shared is not None:
            try:
                return shared.hit(limit, *names)
            except RedisError as error:
                self._leave(error)
        return self._own.hit(limit, *names)

    def read(self, limit: RateLimitItem, *names: str) -> WindowStats:
        """Return how many more may come, and when the oldest that counts will count no more."""
        shared = self._find_shared()
        if shared is not None:
            try:
                return shared.get_window_stats(limit, *names)
            except RedisError as error:
                self._leave(error)
        return self._own.get_window_stats(limit, *names)

    def _find_shared(self) -> MovingWindowRateLimiter | None:
        """Return Redis unless it failed a moment ago; one request in a while finds out whether it is back."""
        if self._shared is None or not self._retry_at:
            return self._shared
        if time.monotonic() < self._retry_at:
            return None
        self._wait()
        if not self._shared.storage.check():
            return None
        self._retry_at, self._wait_s = 0.0, 1
        log.info("limits_shared_again")
        return self._shared

    def _leave(self, error: RedisError) -> None:
        log.warning("limits_not_shared", kind=type(error).__name__)
        self._wait()

    def _wait(self) -> None:
        self._retry_at, self._wait_s = time.monotonic() + self._wait_s, min(LONGEST_WAIT_S, 2 * self._wait_s)


def _connect(redis_url: str) -> Storage:
    """Give Redis a second to answer, once: the client's own retries would hold a request up for ten."""
    options: dict[str, Any] = {"socket_connect_timeout": 1, "socket_timeout": 1, "retry": Retry(NoBackoff(), 0)}
    storage = storage_from_string(redis_url, **options)
    if not isinstance(storage, Storage):
        raise TypeError(f"{type(storage).__name__}: requests are counted by threads")
    return storage
