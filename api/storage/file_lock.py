"""Locks on files, which the system takes back from a process that ends, however it does."""

from __future__ import annotations

import ctypes
import fcntl
import time

PAUSE_S = 0.0002
"""How long who waits sleeps between two looks."""

# Python's own call lets other threads go on meanwhile, and then has to wait for its turn with the lock in its hand.
_flock = ctypes.PyDLL(None, use_errno=True).flock


def lock_file(file: int, wait_s: float) -> bool:
    """Lock a file that this process has opened, against all who have opened it by themselves.

    Parameters
    ----------
    file : int
        Its descriptor.
    wait_s : float
        How long others may hold the lock before this gives up.

    Returns
    -------
    bool
        Whether it is locked now: not if others held it all that time, nor where the file system has no locks.
    """
    end = 0.0
    while _flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB) != 0:
        now = time.monotonic()
        end = end or now + wait_s
        if now > end:
            return False
        time.sleep(PAUSE_S)
    return True


def unlock_file(file: int) -> None:
    """Let others lock a file; nothing, where its lock is somebody else's."""
    _flock(file, fcntl.LOCK_UN)
