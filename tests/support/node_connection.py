"""Connections to a local node that stay open: opening one takes longer than most answers.

HTTP is written and read here, as far as a node speaks it: a library, which does more, takes seven times as long.
"""

from __future__ import annotations

import json
import socket
import weakref
from select import POLLIN, poll
from typing import Any
from urllib.parse import urlsplit

TIMEOUT_S = 30


class NodeConnection:
    """Asks a node; any thread may."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._address = parts.hostname, parts.port
        self._head = f"POST / HTTP/1.1\r\nHost: {parts.netloc}\r\nContent-Type: application/json\r\nContent-Length: "
        self._idle: list[_Line] = []
        weakref.finalize(self, _close_all, self._idle)

    def ask(self, body: object) -> Any:
        """Post a question, or a batch, and return the answer."""
        text = json.dumps(body)
        line = self._take()
        try:
            answer = line.exchange(f"{self._head}{len(text)}\r\n\r\n{text}".encode("ascii"))
        except BaseException:
            line.close()
            raise
        self._idle.append(line)
        return json.loads(answer)

    def _take(self) -> _Line:
        """Return a connection that nobody else has; the node may have closed those that were idle."""
        while True:
            try:
                line = self._idle.pop()
            except IndexError:
                return _Line(self._address)
            if line.is_open():
                return line
            line.close()


class _Line:
    """One connection."""

    def __init__(self, address: tuple[str | None, int | None]) -> None:
        self._socket = socket.create_connection(address, TIMEOUT_S)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._answers = self._socket.makefile("rb")
        self._poll = poll()
        self._poll.register(self._socket, POLLIN)

    def is_open(self) -> bool:
        """Whether the other side says nothing, as long as it is not asked; its end could be read."""
        return not self._poll.poll(0)

    def exchange(self, request: bytes) -> bytes:
        """Send a request and return the body of its answer."""
        self._socket.sendall(request)
        length = None
        line = self._answers.readline()
        while line not in (b"\r\n", b""):
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
            line = self._answers.readline()
        if length is None:
            raise ConnectionError("the node's answer has no length")
        body = self._answers.read(length)
        if len(body) < length:
            raise ConnectionError("the node's answer is cut off")
        return body

    def close(self) -> None:
        self._answers.close()
        self._socket.close()


def _close_all(lines: list[_Line]) -> None:
    for line in lines:
        line.close()
