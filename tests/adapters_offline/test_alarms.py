"""Alarms: each rings at its time or never, whatever else is set, and a forked process has its own."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

from adapters.http.alarms import Alarms

PATIENCE_S = 60
LATE_S = 3600.0
FORKED = """
import os, sys, threading, time
from adapters.http.alarms import ALARMS
ALARMS.set(print, time.monotonic() + 3600)
with ALARMS._changed:
    child = os.fork()
if child:
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
rung = threading.Event()
ALARMS.set(rung.set, time.monotonic())
os._exit(0 if rung.wait(60) else 3)
"""


def ring_now(alarms: Alarms) -> bool:
    """Set an alarm for this moment, and say whether it rings."""
    rung = threading.Event()
    alarms.set(rung.set, time.monotonic())
    return rung.wait(PATIENCE_S)


def test_one_that_is_due_sooner_rings_before_what_is_waited_for() -> None:
    alarms, late = Alarms(), threading.Event()
    alarms.set(late.set, time.monotonic() + LATE_S)
    assert ring_now(alarms)
    assert ring_now(alarms), "the thread goes on"
    assert not late.is_set()


def test_one_that_is_removed_never_rings() -> None:
    alarms, removed = Alarms(), threading.Event()
    begun, held = threading.Event(), threading.Event()

    def hold() -> None:
        begun.set()
        held.wait(PATIENCE_S)

    alarms.set(hold, time.monotonic())
    assert begun.wait(PATIENCE_S)  # what is set from now on is looked at when it has ended
    alarms.set(removed.set, time.monotonic())
    alarms.remove(removed.set)
    alarms.remove(removed.set)
    held.set()
    assert ring_now(alarms)
    assert not removed.is_set()


def test_the_thread_ends_with_nothing_to_wait_for_and_another_begins() -> None:
    alarms = Alarms()
    threads: list[threading.Thread] = []
    for _ in range(2):
        rung = threading.Event()

        def ring(rung: threading.Event = rung) -> None:
            threads.append(threading.current_thread())
            rung.set()

        alarms.set(ring, time.monotonic())
        assert rung.wait(PATIENCE_S)
        threads[-1].join(PATIENCE_S)
        assert not threads[-1].is_alive()
    assert threads[0] is not threads[1]


def test_a_forked_process_has_alarms_of_its_own() -> None:
    assert subprocess.run([sys.executable, "-c", FORKED], check=False, timeout=PATIENCE_S * 2).returncode == 0
