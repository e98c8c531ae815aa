"""What was looked up a moment ago, so that it is not looked up for everybody who asks."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from datetime import datetime, timedelta
from threading import Lock
from typing import Any, TypeVar

Answer = TypeVar("Answer")
MOST = 10_000
"""Answers that are kept; when there are more, all are forgotten."""


class ShortMemory:
    """Answers that hold for a while."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._known: dict[Hashable, tuple[datetime, Any]] = {}

    def recall(self, key: Hashable, now: datetime, keep: timedelta, learn: Callable[[], Answer]) -> Answer:
        """Return the answer that is known, or find it out where that is longer than `keep` ago."""
        with self._lock:
            known = self._known.get(key)
        if known is not None and known[0] <= now < known[0] + keep:
            answer: Answer = known[1]
            return answer
        value = learn()
        with self._lock:
            if len(self._known) >= MOST:
                self._known.clear()
            self._known[key] = (now, value)
        return value
