"""Several processes that serve one port: forked from one that has everything loaded, and replaced when they end.

What was loaded before they part is in memory once. A process that was killed is back in the time of a fork, while the
others go on, and the port never closes.
"""

from __future__ import annotations

import gc
import mmap
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from types import FrameType

import structlog

WATCHED = (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT)
SHORT_LIFE_S = 1.0
"""Who lives no longer is replaced only after this: something kills them all."""
ENDING = frozenset((signal.SIGTERM, signal.SIGINT))
PIPE_BYTES = 65_536
"""All that a pipe holds."""
LOOK_S = 0.02
WATCH_S = 1.0
"""How often each is looked at whether it still lives."""
SILENT_LOOKS, FIRST_LOOKS = 15, 120
"""After how many looks without a sign of life, and before its first one, it counts as hung. Looks are counted, not
seconds: where the whole machine stood still, nobody hangs."""

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class _Sibling:
    """A process, as the one that it was forked from sees it.

    Parameters
    ----------
    place : int
        Where in the shared memory it counts its signs of life.
    sign, looks : int
        The last that was seen, and the looks since.
    """

    place: int
    born: float
    sign: int = 0
    looks: int = 0


class Siblings:
    """Processes that all do the same; one that hangs is killed, and replaced as any that was killed.

    Parameters
    ----------
    work : callable
        What each does until SIGTERM or SIGINT. It is given what it has to call, at least every second, while it lives.
    count : int
        How many there are.
    patience_s : float
        How long they may take to end before they are killed.
    """

    def __init__(self, work: Callable[[Callable[[], None]], None], *, count: int, patience_s: float) -> None:
        self._work, self._patience_s = work, patience_s
        self._signs = mmap.mmap(-1, count)
        self._places = range(count)
        self._siblings: dict[int, _Sibling] = {}
        self._lifeline = os.pipe()
        self._heard = os.pipe()

    def run(self, let_go: Callable[[], None]) -> bool:
        """Keep them going until SIGTERM or SIGINT. A fork leaves out all threads: what is done may need none of before.

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
        self._hear_signals()
        for place in self._places:
            self._start(place)
        is_well, is_told_to_end, next_look = True, False, time.monotonic() + WATCH_S
        while is_well and not is_told_to_end:
            signals = self._wait_for_signals(until=next_look)
            is_told_to_end = not signals.isdisjoint(ENDING)
            if signal.SIGCHLD in signals:
                is_well = self._replace_ended()
            if time.monotonic() >= next_look:
                self._kill_hung()
                next_look = time.monotonic() + WATCH_S
        let_go()
        self._end()
        return is_well

    def _hear_signals(self) -> None:
        """Have each signal's number written to a pipe, whichever thread it reaches.

        Libraries have threads of their own, and the system gives a signal to any that does not block it: one that is
        not handled there would end the process.
        """
        for end in self._heard:
            os.set_blocking(end, False)
        signal.set_wakeup_fd(self._heard[1])
        for number in WATCHED:
            signal.signal(number, _do_nothing)

    def _wait_for_signals(self, *, until: float) -> frozenset[int]:
        """Return the signals that have come, or none once the monotonic clock shows `until`."""
        found, _, _ = select.select(self._heard[:1], (), (), max(0.0, until - time.monotonic()))
        return frozenset(os.read(self._heard[0], PIPE_BYTES)) if found else frozenset()

    def _start(self, place: int) -> None:
        self._signs[place] = 0
        signal.pthread_sigmask(signal.SIG_BLOCK, WATCHED)  # what the new one is told waits until it can hear it
        process = os.fork()
        if process:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, WATCHED)
            self._siblings[process] = _Sibling(place, time.monotonic())
            return
        status = 1
        try:
            _forget_handlers()
            os.close(self._lifeline[1])
            threading.Thread(target=self._end_with_parent, name="lifeline", daemon=True).start()
            self._work(partial(self._give_sign, place))
            status = 0
        except Exception:  # nobody above would tell
            log.exception("process_failed")
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)

    def _give_sign(self, place: int) -> None:
        self._signs[place] = self._signs[place] % 255 + 1

    def _kill_hung(self) -> None:
        """Kill whoever has given no sign of life for long; SIGKILL also ends one that was stopped."""
        for process, sibling in self._siblings.items():
            sign = self._signs[sibling.place]
            sibling.looks = sibling.looks + 1 if sign == sibling.sign else 0
            sibling.sign = sign
            if sibling.looks >= (SILENT_LOOKS if sign else FIRST_LOOKS):
                log.warning("process_hung", process=process)
                sibling.looks = 0
                os.kill(process, signal.SIGKILL)

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
            ended = self._siblings.pop(process)
            if time.monotonic() - ended.born < SHORT_LIFE_S:
                time.sleep(SHORT_LIFE_S)
            self._start(ended.place)
        return True

    def _reap(self) -> list[tuple[int, int]]:
        """Return the processes that have ended since, each with its status, or minus the signal that ended it."""
        ended = []
        for process in tuple(self._siblings):
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
        for process in self._siblings:
            os.kill(process, number)

    def _forget_ended(self) -> bool:
        """Forget the processes that have ended; return whether there are others."""
        for process, _ in self._reap():
            del self._siblings[process]
        return bool(self._siblings)


def _do_nothing(_signal: int, _frame: FrameType | None) -> None:
    """Handle a signal whose number has been written down."""


def _forget_handlers() -> None:
    """In a process that has been forked, let signals do what they usually do."""
    signal.set_wakeup_fd(-1)
    for number in WATCHED:
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, WATCHED)
