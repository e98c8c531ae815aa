"""Processes that `checkout up` forks from itself: what it has loaded they need not load again."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable
from multiprocessing.context import ForkProcess

from setproctitle import setproctitle

PR_SET_PDEATHSIG = 1
"""prctl(2)."""
ENDING = (signal.SIGTERM, signal.SIGINT)


def fork_part(name: str, work: Callable[[], object]) -> ForkProcess:
    """Start a process that does `work` as `checkout name` would, and that ends with this one.

    No thread of this process may be needed by it, and no connection open.

    Parameters
    ----------
    name : str
        What `ps` shows of it after `checkout`.
    work : callable
        What it does. Its exit status is that of the `SystemExit` that this raises, or 0.
    """
    process = multiprocessing.get_context("fork").Process(target=_begin, args=(name, work, os.getpid()), name=name)
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)  # what the part is told waits until it can hear it
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
    return process


def _begin(name: str, work: Callable[[], object], parent: int) -> None:
    for number in ENDING:
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
    os.setsid()  # Ctrl-C reaches the parent alone, which then ends the parts in order
    setproctitle(f"checkout {name}")
    _end_with(parent)
    work()


def _end_with(parent: int) -> None:
    """Have the system end this process as soon as its parent ends, also where that is killed and can tell it nothing.

    Linux alone can be asked.
    """
    if not sys.platform.startswith("linux"):
        return
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:  # it ended before the system was asked
        os.kill(os.getpid(), signal.SIGTERM)
