"""Requests of any bytes over one connection that stays open, and their answers with the time they took."""

from __future__ import annotations

import http.client
import socket
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import requests
from werkzeug.wrappers import Response

PATIENCE_S = 120
MOST_SHOWN = 600
LISTENED_BYTES = 16
"""Of a stream that has no end of its own; then the connection is closed."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """What is sent.

    Parameters
    ----------
    target : str
        Path and query as they stand in the request line.
    template : str
        Path of the document's operation that is meant; empty for none.
    head : sequence of pairs
        Headers, in their order; one may come twice.
    ends : bool
        Whether its answer has an end: a stream of news has none.
    """

    method: str
    target: str
    template: str = ""
    head: tuple[tuple[str, bytes], ...] = ()
    body: bytes | None = None
    chunks: tuple[bytes, ...] | None = None
    ends: bool = True

    @property
    def text(self) -> str:
        """What is sent, as text."""
        return self.write("").decode("latin-1")

    def write(self, host: str) -> bytes:
        """Return the bytes of the request."""
        head = [f"{self.method} {self.target} HTTP/1.1".encode("latin-1", "replace"), b"Host: " + host.encode()]
        head += [name.encode("latin-1") + b": " + value for name, value in self.head]
        if self.chunks is not None:
            sent = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in self.chunks if part)
            return b"\r\n".join([*head, b"Transfer-Encoding: chunked", b"", sent + b"0\r\n\r\n"])
        if self.body is not None and not any(name.lower() == "content-length" for name, _ in self.head):
            head.append(b"Content-Length: %d" % len(self.body))
        return b"\r\n".join([*head, b"", self.body or b""])

    def __str__(self) -> str:
        return repr(self.write("host")[:MOST_SHOWN])


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What came back, and after how many seconds the last of it."""

    response: Response
    seconds: float
    sent: Request = field(repr=False)

    @property
    def status(self) -> int:
        """The status."""
        return self.response.status_code

    @property
    def text(self) -> str:
        """The body as text."""
        return self.response.get_data().decode("utf-8", "replace")


class NoAnswer(Exception):
    """The server closed the connection instead."""


class Wire:
    """One connection to a server."""

    def __init__(self, address: str) -> None:
        self._host, _, port = address.removeprefix("http://").partition(":")
        self._port = int(port)
        self._socket: socket.socket | None = None

    def close(self) -> None:
        """Close the connection; the next request opens another."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def send(self, request: Request) -> Answer:
        """Send a request and read its answer.

        Raises
        ------
        NoAnswer
            If the server ends the connection without one.
        """
        is_fresh = self._socket is None
        try:
            return self._exchange(request)
        except (http.client.HTTPException, OSError) as error:
            self.close()
            if is_fresh or isinstance(error, TimeoutError):
                raise NoAnswer(f"{type(error).__name__}: {error}") from error
        try:
            return self._exchange(request)  # the server had closed a connection that was idle
        except (http.client.HTTPException, OSError) as error:
            self.close()
            raise NoAnswer(f"{type(error).__name__}: {error}") from error

    def _exchange(self, request: Request) -> Answer:
        if self._socket is None:
            self._socket = socket.create_connection((self._host, self._port), PATIENCE_S)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        began = time.perf_counter()
        with suppress(BrokenPipeError, ConnectionResetError):  # it may refuse before it has read everything
            self._socket.sendall(request.write(f"{self._host}:{self._port}"))
        answer = http.client.HTTPResponse(self._socket, method=request.method)
        answer.begin()
        body = answer.read() if request.ends else answer.read1(LISTENED_BYTES)
        seconds = time.perf_counter() - began
        if answer.will_close or not request.ends:
            self.close()
        response = Response(body, answer.status, answer.getheaders())
        return Answer(response=response, seconds=seconds, sent=request)


def write_request(arguments: Mapping[str, Any], template: str) -> Request:
    """Turn the keyword arguments of `requests.request` into the bytes that it would send."""
    known = {name: arguments[name] for name in KNOWN if arguments.get(name) is not None}
    prepared = requests.Request(**known).prepare()
    body = prepared.body.encode() if isinstance(prepared.body, str) else prepared.body
    head = tuple(
        (name, value if isinstance(value, bytes) else value.encode("latin-1", "replace"))
        for name, value in prepared.headers.items()
        if name.lower() not in {"content-length", "host"}
    )
    return Request(method=prepared.method or "GET", target=prepared.path_url, template=template, head=head, body=body)


KNOWN = ("method", "url", "headers", "files", "data", "json", "params", "auth", "cookies")
