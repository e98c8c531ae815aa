"""A time limit on a whole exchange, however slowly the other side drips."""

from __future__ import annotations

import os
import socket
import threading
import time
from contextlib import suppress
from types import TracebackType
from typing import Self

from adapters.http.alarms import ALARMS


class Deadline:
    """Cuts guarded connections when time is up.

    A socket's own timeout starts anew with every byte, so a peer that sends one now and then would hold the caller
    for hours.

    Parameters
    ----------
    seconds : float
        Time from now on.
    """

    def __init__(self, seconds: float) -> None:
        self._ends = time.monotonic() + seconds
        self._lock = threading.Lock()
        self._guarded: list[socket.socket] = []

    def __enter__(self) -> Self:
        """Start the clock."""
        ALARMS.set(self._cut, self._ends)
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        """Stop the clock and let the connections go."""
        ALARMS.remove(self._cut)
        with self._lock:
            for sock in self._guarded:
                sock.close()
            self._guarded.clear()

    @property
    def remaining_s(self) -> float:
        """Seconds left, never quite 0, which sockets read as no limit at all."""
        return max(self._ends - time.monotonic(), 0.001)

    @property
    def is_over(self) -> bool:
        """Whether time is up."""
        return time.monotonic() >= self._ends

    def guard(self, sock: socket.socket) -> None:
        """Cut this connection when time is up, also after it was wrapped into TLS."""
        # Wrapping takes the file descriptor away from `sock`; a copy of it still reaches the connection. A wrapped
        # socket cannot be copied by its own method.
        with self._lock:
            self._guarded.append(socket.socket(fileno=os.dup(sock.fileno())))
        if self.is_over:
            self._cut()

    def _cut(self) -> None:
        with self._lock:
            for sock in self._guarded:
                with suppress(OSError):  # the peer may have gone already
                    sock.shutdown(socket.SHUT_RDWR)
