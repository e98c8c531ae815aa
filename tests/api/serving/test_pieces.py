"""Answers that are made piece by piece: no thread waits for who reads them, and all that is begun is ended."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from api.serving.pieces import PieceBridge
from api.serving.stream import Message

SCOPE = {"type": "http", "method": "GET", "path": "/", "query_string": b"", "http_version": "1.1", "headers": ()}
Make = Callable[[], Iterator[bytes]]


def answer_with(make: Make) -> Callable[..., Iterator[bytes]]:
    """Return a WSGI application whose answer is what `make` yields."""

    def app(_environ: object, start_response: Callable[..., object]) -> Iterator[bytes]:
        start_response("200 OK", [("Content-Type", "text/csv")])
        return make()

    return app


def make_caller(has_left: asyncio.Event) -> Callable[[], Any]:
    """Return what an ASGI application hears of a caller who sends no body, and leaves when `has_left` is set."""
    said = [{"type": "http.request"}]

    async def receive() -> dict[str, str]:
        if not said:
            await has_left.wait()
        return said.pop() if said else {"type": "http.disconnect"}

    return receive


def test_one_thread_serves_many_who_do_not_read() -> None:
    app = answer_with(lambda: (b"%d" % number for number in range(3)))
    bridge, read = PieceBridge(app, threads=1), []

    async def serve() -> None:
        may_read, never = asyncio.Event(), asyncio.Event()

        async def wait(message: Message) -> None:
            await may_read.wait()
            read.append(message.get("body"))

        async def take(message: Message) -> None:
            read.append(message.get("body"))

        slow = [asyncio.create_task(bridge(SCOPE, make_caller(never), wait)) for _ in range(5)]
        await bridge(SCOPE, make_caller(never), take)
        assert read == [None, b"0", b"1", b"2", b""]
        may_read.set()
        await asyncio.gather(*slow)

    asyncio.run(serve())
    assert len(read) == 6 * 5


def test_nothing_more_is_made_for_who_has_left() -> None:
    made: list[int] = []
    closed: list[bool] = []

    def make() -> Iterator[bytes]:
        try:
            while True:
                made.append(1)
                yield b"line"
        finally:
            closed.append(True)

    async def serve() -> None:
        has_left = asyncio.Event()

        async def take(_message: Message) -> None:
            if len(made) > 2:
                has_left.set()

        await PieceBridge(answer_with(make), threads=1)(SCOPE, make_caller(has_left), take)

    asyncio.run(asyncio.wait_for(serve(), 60))
    assert closed


def test_what_fails_half_way_is_cut_off() -> None:
    sent: list[bytes | None] = []

    def make() -> Iterator[bytes]:
        yield b"line"
        raise LookupError("gone")

    async def serve() -> None:
        async def take(message: Message) -> None:
            sent.append(message.get("body"))

        await PieceBridge(answer_with(make), threads=1)(SCOPE, make_caller(asyncio.Event()), take)

    with pytest.raises(LookupError, match="gone"):
        asyncio.run(serve())
    assert sent == [None, b"line"]  # and no end, by which a file would look whole


def test_an_end_of_the_server_waits_for_the_piece_that_is_being_made() -> None:
    begun, may_end, closed = threading.Event(), threading.Event(), threading.Event()

    def make() -> Iterator[bytes]:
        try:
            begun.set()
            may_end.wait(60)
            yield b"line"
        finally:
            closed.set()

    async def serve() -> None:
        async def take(_message: Message) -> None:
            pass

        task = asyncio.create_task(PieceBridge(answer_with(make), threads=2)(SCOPE, make_caller(asyncio.Event()), take))
        await asyncio.to_thread(begun.wait)
        task.cancel()
        await asyncio.sleep(0)
        may_end.set()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(serve())
    assert closed.is_set()
