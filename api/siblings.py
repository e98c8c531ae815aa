"""Several processes that serve one port: forked from one that has everything loaded, and replaced when they end.

What was loaded before they part is in memory once. A process that was killed is back in the time of a fork, while the
others go on, and the port never closes.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
import time
from collections.abc import Callable

import structlog

WATCHED = (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT)
SHORT_LIFE_S = 1.0
"""Who lives no longer is replaced only after this: something kills them all."""
LOOK_S = 0.02

log = structlog.get_logger(__name__)


class Siblings:
    """Processes that all do the same.

    Parameters
    ----------
    work : callable
        What each does until SIGTERM or SIGINT.
    count : int
        How many there are.
    patience_s : float
        How long they may take to end before they are killed.
    """

    def __init__(self, work: Callable[[], None], *, count: int, patience_s: float) -> None:
        self._work, self._count, self._patience_s = work, count, patience_s
        self._born: dict[int, float] = {}
        self._lifeline = os.pipe()

    def run(self, let_go: Callable[[], None]) -> bool:
        """Keep them going until SIGTERM or SIGINT; no thread may be running, as a fork would leave it out.

        Parameters
        ----------
        let_go : callable
            Called as soon as they are told to end.

        Returns
        -------
        bool
            False if they ended because one of them failed by itself, as the next one would.
        """
        gc.collect()
        gc.freeze()  # a collection would write to all objects, and so copy them for each process
        signal.pthread_sigmask(signal.SIG_BLOCK, WATCHED)
        for _ in range(self._count):
            self._start()
        is_well = True
        while is_well and signal.sigwait(WATCHED) == signal.SIGCHLD:
            is_well = self._replace_ended()
        let_go()
        self._end()
        return is_well

    def _start(self) -> None:
        process = os.fork()
        if process:
            self._born[process] = time.monotonic()
            return
        status = 1
        try:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, WATCHED)
            os.close(self._lifeline[1])
            threading.Thread(target=self._end_with_parent, name="lifeline", daemon=True).start()
            self._work()
            status = 0
        except Exception:  # nobody above would tell
            log.exception("process_failed")
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)

    def _end_with_parent(self) -> None:
        """Wait for the end of the parent, which alone could write, and end as if it had said so."""
        os.read(self._lifeline[0], 1)
        os.kill(os.getpid(), signal.SIGTERM)

    def _replace_ended(self) -> bool:
        """Replace whoever was ended by a signal or told to end; return False if one failed by itself."""
        for process, status in self._reap():
            if status > 0:
                return False
            log.warning("process_replaced", process=process, signal=-status)
            if time.monotonic() - self._born.pop(process) < SHORT_LIFE_S:
                time.sleep(SHORT_LIFE_S)
            self._start()
        return True

    def _reap(self) -> list[tuple[int, int]]:
        """Return the processes that have ended since, each with its status, or minus the signal that ended it."""
        ended = []
        for process in tuple(self._born):
            found, status = os.waitpid(process, os.WNOHANG)
            if found:
                ended.append((process, os.waitstatus_to_exitcode(status)))
        return ended

    def _end(self) -> None:
        """Tell all to end, and wait until they have."""
        self._signal_all(signal.SIGTERM)
        deadline = time.monotonic() + self._patience_s
        while self._forget_ended() and time.monotonic() < deadline:
            time.sleep(LOOK_S)
        self._signal_all(signal.SIGKILL)
        while self._forget_ended():
            time.sleep(LOOK_S)

    def _signal_all(self, number: int) -> None:
        self._forget_ended()
        for process in self._born:
            os.kill(process, number)

    def _forget_ended(self) -> bool:
        """Forget the processes that have ended; return whether there are others."""
        for process, _ in self._reap():
            del self._born[process]
        return bool(self._born)
