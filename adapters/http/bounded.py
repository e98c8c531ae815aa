"""Answers of strangers of which a fixed number of bytes is read, whatever these are called.

The parser bounds lines and headers. It does not count interim answers, extensions of chunks and trailers: it takes them
as long as they come, and they cost a processor for all the time that an answer has. So bytes are counted below it.
"""

from __future__ import annotations

import http.client
import io
import socket
from typing import Any

MAX_HEAD_BYTES = 65_536
"""Of one answer, with all interim answers before it."""


class AnswerTooLong(OSError):
    """The other side has sent more than is read."""


class BoundedReader(io.RawIOBase):
    """The first bytes that come over a connection: those of a head, until more are allowed.

    Parameters
    ----------
    source : RawIOBase
        What comes over it.
    """

    def __init__(self, source: Any) -> None:
        self._source, self._left = source, MAX_HEAD_BYTES

    def take_more(self, count: int) -> None:
        """Read so many bytes more, at most."""
        self._left += count

    def readable(self) -> bool:
        """Say that this can be read."""
        return True

    def readinto(self, buffer: Any) -> int | None:
        """Read what there is, as much as `buffer` takes.

        Raises
        ------
        AnswerTooLong
            Once all was read that may be.
        """
        if not self._left:
            raise AnswerTooLong
        count: int | None = self._source.readinto(memoryview(buffer)[: self._left])
        self._left -= count or 0
        return count

    def close(self) -> None:
        """Let the connection go."""
        self._source.close()
        super().close()


class BoundedAnswer(http.client.HTTPResponse):
    """An answer that is read through a `BoundedReader`."""

    body_bytes = 0
    """What may come after the head, beyond what the head has left."""

    def __init__(self, sock: socket.socket, *args: Any, **options: Any) -> None:
        super().__init__(sock, *args, **options)
        self.fp.close()
        self._reader = BoundedReader(sock.makefile("rb", buffering=0))
        self.fp = io.BufferedReader(self._reader)

    def begin(self) -> None:
        """Read the head, and let the body come."""
        super().begin()
        self._reader.take_more(self.body_bytes)
