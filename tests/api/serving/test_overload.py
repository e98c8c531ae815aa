"""More requests than threads: who waited too long is refused without work, so that an outage ends when it ends."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from api.serving import bridge
from api.serving.bridge import RETRY_S, WsgiBridge

Sent = list[dict[str, Any]]


class Slow:
    """A WSGI application that answers when it is let."""

    def __init__(self) -> None:
        self.gate, self.served = threading.Event(), 0

    def __call__(self, environ: dict[str, Any], begin: Callable[..., Any]) -> Iterable[bytes]:
        self.served += 1
        self.gate.wait(10)
        begin("200 OK", [("Content-Type", "text/plain")])
        return [b"done"]


async def ask(served: WsgiBridge, leaves: asyncio.Event | None = None) -> Sent:
    """Send a request; give up once `leaves` is set."""
    sent: Sent = []
    heard = iter([{"type": "http.request", "body": b"", "more_body": False}, {"type": "http.disconnect"}])
    scope = {"type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": [], "http_version": "1.1"}

    async def receive() -> dict[str, Any]:
        message = next(heard)
        if message["type"] == "http.disconnect":
            await (leaves or asyncio.Event()).wait()
        return message

    async def send(message: Any) -> None:
        sent.append(message)

    await served(scope, receive, send)
    return sent


def check_refusal(sent: Sent) -> None:
    start, rest = sent
    headers = dict(start["headers"])
    assert start["status"] == 503
    assert RETRY_S[0] <= int(headers[b"retry-after"]) <= RETRY_S[1]
    assert headers[b"x-request-id"]
    assert json.loads(rest["body"])["code"] == "503"


def test_who_waited_too_long_for_a_thread_is_refused_without_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bridge, "LONGEST_WAIT_S", 0.05)
    app = Slow()
    served = WsgiBridge(app, threads=1)

    async def run() -> list[Sent]:
        asked = [asyncio.create_task(ask(served)) for _ in range(4)]
        await asyncio.sleep(0.3)
        app.gate.set()
        answers = await asyncio.gather(*asked)
        return [*answers, await ask(served)]

    first, *late, after = asyncio.run(run())
    assert (first[0]["status"], after[0]["status"]) == (200, 200)
    for each in late:
        check_refusal(each)
    assert app.served == 2


def test_without_any_thread_requests_are_refused_until_the_system_has_one(monkeypatch: pytest.MonkeyPatch) -> None:
    app = Slow()
    app.gate.set()
    served = WsgiBridge(app, threads=1)
    begin = threading.Thread.start

    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    for _ in range(2):
        check_refusal(asyncio.run(ask(served)))
    monkeypatch.setattr(threading.Thread, "start", begin)
    assert asyncio.run(ask(served))[0]["status"] == 200
    assert app.served == 1


def test_no_more_wait_than_may(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bridge, "MOST_WAITING", 2)
    app = Slow()
    served = WsgiBridge(app, threads=1)

    async def run() -> list[Sent]:
        asked = [asyncio.create_task(ask(served)) for _ in range(2)]
        await asyncio.sleep(0.1)
        refused = await ask(served)
        app.gate.set()
        return [refused, *await asyncio.gather(*asked), await ask(served)]

    refused, *others = asyncio.run(run())
    check_refusal(refused)
    assert [each[0]["status"] for each in others] == [200, 200, 200]
    assert app.served == 3


def test_who_has_left_is_not_served() -> None:
    app = Slow()
    served = WsgiBridge(app, threads=1)

    async def run() -> tuple[Sent, Sent]:
        leaves = asyncio.Event()
        first = asyncio.create_task(ask(served))
        gone = [asyncio.create_task(ask(served, leaves)) for _ in range(3)]
        patient = asyncio.create_task(ask(served))
        await asyncio.sleep(0.1)
        leaves.set()
        await asyncio.sleep(0.1)
        app.gate.set()
        await asyncio.gather(*gone)
        return await first, await patient

    first, patient = asyncio.run(run())
    assert (first[0]["status"], patient[0]["status"]) == (200, 200)
    assert app.served == 2
