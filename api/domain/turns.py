"""One at a time for each: who has something under way."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from threading import Lock
from typing import TypeVar

Line = TypeVar("Line")


class Turns:
    """Names of those who have their turn now."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._taken: set[Hashable] = set()

    def take(self, name: Hashable) -> Callable[[], None] | None:
        """Take a turn; return what ends it, however often it is called, or None if one is under way."""
        with self._lock:
            if name in self._taken:
                return None
            self._taken.add(name)
        pending = [name]

        def end() -> None:
            with self._lock:
                self._taken.difference_update(pending)
                pending.clear()

        return end


def end_after(lines: Iterator[Line], end: Callable[[], None]) -> Iterator[Line]:
    """Yield `lines`, and end a turn when there are no more, or nobody wants more."""
    try:
        yield from lines
    finally:
        end()
