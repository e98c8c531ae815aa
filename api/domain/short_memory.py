"""What was looked up a moment ago, so that it is not looked up for everybody who asks."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from threading import Event, Lock, Thread
from typing import Any, TypeVar

Answer = TypeVar("Answer")
MOST = 10_000
"""Answers that are kept; when there are more, all are forgotten."""
UNKNOWN: Any = object()


@dataclass(slots=True)
class _Search:
    """What is being found out; there is no answer until it is `done`, nor where finding it out failed."""

    begun: float
    done: Event = field(default_factory=Event)
    answer: Any = None


class ShortMemory:
    """Answers that hold for a while."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._known: dict[Hashable, tuple[datetime, Any]] = {}
        self._searches: dict[Hashable, _Search] = {}

    def recall(self, key: Hashable, now: datetime, keep: timedelta, learn: Callable[[], Answer]) -> Answer:
        """Return the answer that is known, or find it out where that is longer than `keep` ago."""
        answer: Answer = self._find(key, now, keep)
        if answer is not UNKNOWN:
            return answer
        value = learn()
        with self._lock:
            if len(self._known) >= MOST:
                self._known.clear()
            self._known[key] = (now, value)
        return value

    def recall_soon(
        self, key: Hashable, now: datetime, keep: timedelta, learn: Callable[[], Answer], *, patience_s: float
    ) -> Answer | None:
        """Return the answer as `recall` does, or None where it is not found out within `patience_s`.

        A thread of its own finds it out, one at a time for each key. Whoever asks meanwhile waits for what is left of
        the patience: not at all once the search has taken longer than that.
        """
        known: Answer = self._find(key, now, keep)
        if known is not UNKNOWN:
            return known
        search = self._join(key, partial(self.recall, key, now, keep, learn))
        search.done.wait(max(0.0, search.begun + patience_s - time.monotonic()))
        answer: Answer | None = search.answer
        return answer

    def _find(self, key: Hashable, now: datetime, keep: timedelta) -> Any:
        with self._lock:
            known = self._known.get(key)
        return known[1] if known is not None and known[0] <= now < known[0] + keep else UNKNOWN

    def _join(self, key: Hashable, learn: Callable[[], Any]) -> _Search:
        """Return the search that is under way, or begin one."""
        with self._lock:
            search = self._searches.get(key)
            if search is not None:
                return search
            search = self._searches[key] = _Search(begun=time.monotonic())
        try:
            Thread(target=self._search, args=(key, search, learn), name="search", daemon=True).start()
        except RuntimeError:  # the system has no thread left
            self._end(key, search)
        return search

    def _search(self, key: Hashable, search: _Search, learn: Callable[[], Any]) -> None:
        try:
            search.answer = learn()
        finally:
            self._end(key, search)

    def _end(self, key: Hashable, search: _Search) -> None:
        with self._lock:
            self._searches.pop(key)
        search.done.set()
