"""Alarms at set times, all in one thread: a thread for each costs a third of a short question to a node."""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable, Sequence

Ring = Callable[[], None]


class Alarms:
    """Calls what is due in a thread of its own, which ends once nothing is set any more; safe to share.

    What is called must neither raise nor wait: whatever is due next waits for it.
    """

    def __init__(self) -> None:
        self._begin_anew()
        os.register_at_fork(after_in_child=self._begin_anew)

    def _begin_anew(self) -> None:
        """Set nothing: a forked process has no thread of its parent's, whose lock somebody may have held."""
        self._changed = threading.Condition(threading.Lock())
        self._pending: dict[Ring, float] = {}
        self._wakes_at = math.inf
        self._is_running = False

    def set(self, ring: Ring, at: float) -> None:
        """Have `ring` called at a moment of the monotonic clock, in seconds."""
        with self._changed:
            if not self._is_running:
                threading.Thread(target=self._run, name="alarms", daemon=True).start()
                self._is_running = True
            self._pending[ring] = at
            if at < self._wakes_at:
                self._wakes_at = at
                self._changed.notify()

    def remove(self, ring: Ring) -> None:
        """Let it be, unless it is being called already; the thread is not woken for that."""
        with self._changed:
            self._pending.pop(ring, None)

    def _run(self) -> None:
        while due := self._wait():
            for ring in due:
                ring()

    def _wait(self) -> Sequence[Ring]:
        """Wait for what is due next; nothing if nothing is set any more."""
        with self._changed:
            while self._pending:
                now = time.monotonic()
                due = [ring for ring, at in self._pending.items() if at <= now]
                for ring in due:
                    del self._pending[ring]
                if due:
                    return due
                self._wakes_at = min(self._pending.values())
                self._changed.wait(self._wakes_at - now)
            self._wakes_at = math.inf
            self._is_running = False
            return ()


ALARMS = Alarms()
"""Those of this process."""
