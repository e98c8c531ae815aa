"""Answers that are made piece by piece: routes as they are found, files of any length.

A thread makes a piece and is free again. The next one is made once the one before was taken, so who reads slowly holds
no thread, and of an answer of any length two pieces are in memory (ADR 155).
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from threading import Lock
from typing import TypeVar

from api.serving.bridge import BUSY, RETRY_S, ask_application, read_body
from api.serving.loop_threads import LoopThreads, NoThread
from api.serving.stream import Message, Receive, Scope, Send, refuse_request

R = TypeVar("R")


class PieceBridge:
    """An ASGI application that serves answers of a WSGI application piece by piece, on threads of its own.

    Parameters
    ----------
    app : callable
        The WSGI application.
    threads : int
        How many pieces are made at once.
    """

    def __init__(self, app: Callable[..., Iterable[bytes]], *, threads: int) -> None:
        self._app = app
        self._threads = LoopThreads(threads, "pieces")
        self._under_way = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        body = await read_body(receive)
        if body is None:
            return  # whoever asked is gone
        answer = _Answer(partial(ask_application, self._app, scope, body))
        leaving = asyncio.ensure_future(receive())
        try:
            await send(await self._run(answer.begin))
            while not _has_left(leaving) and (piece := await self._run(answer.make_next)) is not None:
                await send({"type": "http.response.body", "body": piece, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
        except NoThread:  # nor was there one for anything before
            await refuse_request(scope, send, 503, BUSY, random.randint(*RETRY_S))
        finally:
            leaving.cancel()
            with suppress(NoThread):
                await self._run(answer.close)

    async def _run(self, act: Callable[[], R]) -> R:
        self._under_way += 1
        try:
            return await self._threads.run(act, self._under_way)
        finally:
            self._under_way -= 1


class _Answer:
    """One answer: its steps follow each other, each on whichever thread is free.

    They share what the application remembers of the request. Who waits for a step may be told to end meanwhile; what
    he does then waits for it.
    """

    def __init__(self, ask: Callable[[], tuple[Message, Iterable[bytes]]]) -> None:
        self._ask = ask
        self._context, self._lock = copy_context(), Lock()
        self._parts: Iterable[bytes] = ()
        self._rest: Iterator[bytes] = iter(())

    def begin(self) -> Message:
        """Ask the application; return how its answer begins."""
        with self._lock:
            start, self._parts = self._context.run(self._ask)
            self._rest = iter(self._parts)
        return start

    def make_next(self) -> bytes | None:
        """Return the next piece; None at the end."""
        with self._lock:
            return self._context.run(next, self._rest, None)

    def close(self) -> None:
        """Have the application end what it holds for the answer."""
        with self._lock:
            self._context.run(getattr(self._parts, "close", lambda: None))


def _has_left(leaving: asyncio.Future[Message]) -> bool:
    return leaving.done() and leaving.result()["type"] == "http.disconnect"
