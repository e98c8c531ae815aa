"""What is said while kernels are compiled: a notice at the first one, or progress where it was asked for."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable

from numba.core import event

QUIET = "ROUTING_ENGINE_QUIET"
"""Environment variable; with any value but an empty one, the notice is not given."""

NOTICE = f"""\
routing_engine: compiling the routing kernels, which happens once and takes a minute or two.
`routing-engine warm` does it beforehand and shows progress; {QUIET}=1 silences this notice."""

Tell = Callable[[str, float], None]
"""Told the name of a kernel that was compiled, and the seconds that it took, with the kernels that it calls."""

_COMPILING = "numba:compile"
"""The event of a kernel that is compiled; one that is loaded from the cache has none."""


class _Watch(event.Listener):
    """Hears of every compilation of this process, and speaks of the engine's own."""

    def __init__(self) -> None:
        self.tell: Tell | None = None
        self._was_announced = False
        self._starts: list[float] = []

    def on_start(self, event: event.Event) -> None:
        """Give the notice, if it is the first kernel and nobody is told of progress."""
        if not _is_ours(event):
            return
        self._starts.append(time.perf_counter())
        if not self.tell and not self._was_announced and not os.environ.get(QUIET) and sys.stderr:
            print(NOTICE, file=sys.stderr, flush=True)
        self._was_announced = True

    def on_end(self, event: event.Event) -> None:
        """Tell of the kernel."""
        if _is_ours(event):
            seconds = time.perf_counter() - self._starts.pop()
            if self.tell:
                self.tell(event.data["dispatcher"].py_func.__name__, seconds)


_watch = _Watch()
event.register(_COMPILING, _watch)  # type: ignore[no-untyped-call]


def report_progress(tell: Tell) -> None:
    """From now on, tell of every kernel that this process compiles, in the place of the notice."""
    _watch.tell = tell


def _is_ours(event: event.Event) -> bool:
    return str(event.data["dispatcher"].py_func.__module__).startswith("routing_engine.")
