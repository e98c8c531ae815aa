"""From the event loop to the Flask application and back, once for each request.

`a2wsgi` passes each part of a request and of its answer over by itself, since both may be long. Here both are whole: a
body has 64 kB at most, and what is made piece by piece is served beside (`pieces.py`). So the loop reads a body before
it takes a thread, a slow sender holds none, and one hand-over each way is all that is left (ADR 47).
"""

from __future__ import annotations

import asyncio
import random
import sys
import time
from asyncio import Future
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from typing import Any

from api.bodies.request_body import MAX_BODY_BYTES
from api.serving.loop_threads import LoopThreads, NoThread
from api.serving.stream import Message, Receive, Scope, Send, refuse_request

_NAMES = {b"content-type": "CONTENT_TYPE", b"content-length": "CONTENT_LENGTH"}
_MOST_NAMES = 1_000
_LONGEST_NAME = 64
"""How many names of headers are remembered, and of how many bytes at most; callers choose them."""

MOST_WAITING = 1_000
"""Requests that are served or wait for a thread; more would be memory, and answers that nobody waits for."""
LONGEST_WAIT_S = 2.0
"""Who waits longer for a thread is refused: an answer that comes later often comes too late, and makes all others late.

Without it one outage of some seconds under load never ends: each thread works for callers who ask anew meanwhile.
"""
RETRY_S = (1, 5)
"""Between these a refused caller is told to come again: all at once would be the next crowd."""
BUSY = "The service has more to do than it can; nothing was done, send the request again"

Answer = tuple[Message, Message]


@dataclass(slots=True)
class Turn:
    """A request that waits for a thread until `ends`, if its caller does."""

    ends: float
    has_left: bool = False


class WsgiBridge:
    """An ASGI application that serves whole answers of a WSGI application, on threads of its own.

    Parameters
    ----------
    app : callable
        The WSGI application.
    threads : int
        How many requests it serves at once.
    """

    def __init__(self, app: Callable[..., Iterable[bytes]], *, threads: int) -> None:
        self._app = app
        self._at_once = threads
        self._threads = LoopThreads(threads, "WSGI")
        self._waiting = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            raise ValueError(f"{scope['type']}: only requests are served here")
        body = await read_body(receive)
        if body is None:
            return  # whoever asked is gone
        answer = None if self._waiting >= MOST_WAITING else await self._serve(scope, receive, body)
        if answer is None:
            await refuse_request(scope, send, 503, BUSY, random.randint(*RETRY_S))
            return
        for part in answer:
            await send(part)

    async def _serve(self, scope: Scope, receive: Receive, body: bytes) -> Answer | None:
        """Have a request answered by the next thread; return None if there was none, or none in time."""
        turn = Turn(time.monotonic() + LONGEST_WAIT_S)
        self._waiting += 1
        try:
            served = self._threads.run(partial(self._answer, scope, body, turn), self._waiting)
            if self._waiting > self._at_once:
                await _watch_caller(receive, served, turn)
            return await served
        except NoThread:
            return None
        finally:
            self._waiting -= 1

    def _answer(self, scope: Scope, body: bytes, turn: Turn) -> Answer | None:
        """Have a request answered, unless nobody waits for it any more."""
        if turn.has_left or time.monotonic() > turn.ends:
            return None
        start, parts = ask_application(self._app, scope, body)
        try:
            whole = b"".join(parts)
        finally:
            getattr(parts, "close", lambda: None)()
        return start, {"type": "http.response.body", "body": whole}


def ask_application(app: Callable[..., Iterable[bytes]], scope: Scope, body: bytes) -> tuple[Message, Iterable[bytes]]:
    """Return how the answer of a WSGI application begins, and its parts, which are to be closed after use."""
    start: Message = {"type": "http.response.start"}

    def begin(status: str, headers: list[tuple[str, str]], _error: Any = None) -> None:
        start["status"] = int(status[:3])
        start["headers"] = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers]

    return start, app(build_environ(scope, body), begin)


def build_environ(scope: Scope, body: bytes) -> dict[str, Any]:
    """Describe a request in WSGI's words (PEP 3333)."""
    host, port = scope.get("server") or ("localhost", 80)
    environ: dict[str, Any] = {
        "REQUEST_METHOD": scope["method"],
        "SCRIPT_NAME": "",
        "PATH_INFO": scope["path"].encode().decode("latin-1"),
        "QUERY_STRING": scope["query_string"].decode("latin-1"),
        "SERVER_NAME": host,
        "SERVER_PORT": str(port or 0),
        "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
        "REMOTE_ADDR": (scope.get("client") or ("",))[0],
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope.get("scheme", "http"),
        "wsgi.input": BytesIO(body),
        "wsgi.input_terminated": True,  # a chunked body would count as empty without it
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
    }
    for raw_name, raw in scope["headers"]:
        name, value = _NAMES.get(raw_name) or _name_header(raw_name), raw.decode("latin-1")
        environ[name] = f"{environ[name]},{value}" if name in environ else value
    return environ


def _name_header(raw: bytes) -> str:
    name = f"HTTP_{raw.decode('latin-1').upper().replace('-', '_')}"
    if len(_NAMES) < _MOST_NAMES and len(raw) <= _LONGEST_NAME:
        _NAMES[raw] = name
    return name


async def _watch_caller(receive: Receive, served: Future[Answer | None], turn: Turn) -> None:
    """Wait until a request is answered or its caller has left."""
    news = asyncio.ensure_future(receive())
    await asyncio.wait((served, news), return_when=asyncio.FIRST_COMPLETED)
    turn.has_left = news.done() and news.result()["type"] == "http.disconnect"
    news.cancel()


async def read_body(receive: Receive) -> bytes | None:
    """Return the body, of one that is too long what shows that; None once the caller is gone."""
    body = b""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        part: bytes = message.get("body", b"")
        body += part
        if len(body) > MAX_BODY_BYTES or not message.get("more_body", False):
            return body[: MAX_BODY_BYTES + 1]
