"""Parts that `checkout up` started end with it, also where it is killed and can tell them nothing."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Mapping

VARIABLE = "CHECKOUT_UP_PROCESS"
"""Environment variable with the number of the process that started this one; nobody else sets it."""
PR_SET_PDEATHSIG = 1
"""prctl(2)."""


def name_parent() -> Mapping[str, str]:
    """Return the environment for a part that shall end with this process."""
    return {**os.environ, VARIABLE: str(os.getpid())}


def end_with_parent() -> None:
    """Have the system end this process as soon as the one ends that started it to be so; nothing for any other.

    It may not have a thread yet that a fork would leave out, so no thread waits for that. Linux alone can be asked.
    """
    parent = os.environ.pop(VARIABLE, "")
    if not parent or not sys.platform.startswith("linux"):
        return
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != int(parent):  # it ended before the system was asked
        os.kill(os.getpid(), signal.SIGTERM)
