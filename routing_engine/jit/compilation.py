"""What is said while kernels are compiled: a notice at the first one, or progress where it was asked for."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable

from numba.core import event
from numba.core.dispatcher import Dispatcher

from routing_engine.jit.inner_kernel import InnerKernel

QUIET = "ROUTING_ENGINE_QUIET"
"""Environment variable; with any value but an empty one, the notice is not given."""

NOTICE = f"""\
routing_engine: compiling the routing kernels, once for each kind of market, for up to a minute on two idle cores.
`routing-engine warm` does it beforehand; {QUIET}=1 silences this notice and what follows."""

SHOWN_EVERY_S = 10.0
"""How often it is said how many kernels are compiled."""

Tell = Callable[[str, float], None]
"""Told the name of a kernel that was compiled, and the seconds that it took, with the kernels that it calls."""

_COMPILING = "numba:compile"
"""The event of a kernel that is compiled; one that is loaded from the cache has none."""


class Watch(event.Listener):
    """Hears of every compilation of this process, and speaks of the engine's own.

    Parameters
    ----------
    clock : callable
        Seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self.tell: Tell | None = None
        self._clock = clock
        self._starts: list[float] = []
        self._began = self._last_shown = 0.0
        self._done: set[object] = set()
        self._most = 0
        self._is_announced = False

    def on_start(self, event: event.Event) -> None:
        """Give the notice, if it is the first kernel and nobody is told of progress."""
        if not _is_ours(event):
            return
        now = self._clock()
        self._starts.append(now)
        if not self._most:
            self._began = self._last_shown = now
            self._most = count_kernels()
            self.announce()

    def on_end(self, event: event.Event) -> None:
        """Tell of the kernel, or now and then of how many there are."""
        if not _is_ours(event):
            return
        now, kernel = self._clock(), event.data["dispatcher"]
        seconds = now - self._starts.pop()
        self._done.add(kernel)
        if self.tell:
            self.tell(kernel.py_func.__name__, seconds)
        elif now - self._last_shown >= SHOWN_EVERY_S:
            self._last_shown, most = now, max(self._most, len(self._done))
            passed = now - self._began
            self._say(f"routing_engine: {len(self._done)} of at most {most} kernels are compiled ({passed:.0f} s)")

    def announce(self) -> None:
        """Give the notice, if it was not given yet."""
        if not self._is_announced:
            self._is_announced = True
            self._say(NOTICE)

    def _say(self, text: str) -> None:
        if not self.tell and not os.environ.get(QUIET) and sys.stderr:
            print(text, file=sys.stderr, flush=True)


def count_kernels() -> int:
    """Return how many kernels of the engine are imported: at most so many are compiled before an answer."""
    modules = [module for name, module in sys.modules.items() if name.startswith("routing_engine.")]
    values = [value for module in modules for value in vars(module).values()]
    return len({id(value) for value in values if isinstance(value, Dispatcher | InnerKernel)})


_watch = Watch()
event.register(_COMPILING, _watch)  # type: ignore[no-untyped-call]


def announce() -> None:
    """Give the notice, if this process did not yet."""
    _watch.announce()


def report_progress(tell: Tell) -> None:
    """From now on, tell of every kernel that this process compiles, in the place of the notice."""
    _watch.tell = tell


def _is_ours(event: event.Event) -> bool:
    return str(event.data["dispatcher"].py_func.__module__).startswith("routing_engine.")
