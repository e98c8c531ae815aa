"""News of one order as server-sent events, against the real server on a loopback port."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from http import HTTPStatus

import pytest
import requests
import uvicorn
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy.exc import OperationalError

from api.app import build_app
from api.domain.env import EnvMode
from api.domain.simulation import Action
from api.services.orders.commands import cancel
from api.services.orders.creation import NewLink, create_link
from api.services.orders.order_versions import read_versions
from api.services.resources import Resources
from api.services.settlement.watching.watcher import watch
from api.services.simulator.actions import simulate
from api.serving import order_stream
from api.serving.asgi import compose
from api.serving.connections import EndingProtocol
from api.storage.db import Database
from tests.api.conftest import Merchant
from tests.support.clock import SettableClock
from tests.support.stream import served

SOON_S = 3
"""A change in another process is told within this time."""
THREADS = 4
"""Of the server that `served` runs: far fewer than there are streams."""


@pytest.fixture
def order_id(resources: Resources, merchant: Merchant) -> str:
    return make_order(resources, merchant)


def make_order(resources: Resources, merchant: Merchant) -> str:
    link = NewLink(
        line_items=({"title": "Tea", "quantity": 2},),
        order_price={"currency": "USDC", "amount": 42_500_000, "decimals": 6},
        env_mode=EnvMode.TEST,
        success_callback_url="https://shop.example/done",
        cancel_callback_url="https://shop.example/cart",
        failure_callback_url="https://shop.example/failed",
        metadata={},
    )
    return str(create_link(resources, merchant.id, link)["payment_order_id"])


class Stream:
    """A browser's stream, read event by event."""

    def __init__(self, address: str, order_id: str, known: str | None = None) -> None:
        host, _, port = address.partition(":")
        self.socket = socket.create_connection((host, int(port)), timeout=10)
        resumed = f"Last-Event-ID: {known}\r\n" if known else ""
        self.socket.sendall(f"GET /payment/{order_id}/events HTTP/1.1\r\nHost: {address}\r\n{resumed}\r\n".encode())
        self.lines = self.socket.makefile("rb")
        self.status = int(self.lines.readline().split()[1])
        self.headers = dict(self._read_headers())
        self.version = ""

    def _read_headers(self) -> Iterator[tuple[str, str]]:
        while line := self.lines.readline().decode().strip():
            name, _, value = line.partition(": ")
            yield name.lower(), value

    def wait_for(self, start: str, seconds: float = SOON_S) -> bool:
        """Read until a line begins so; False if none does in time, or the stream ends."""
        self.socket.settimeout(seconds)
        try:
            while line := self.lines.readline().decode():
                if line.startswith("id: "):
                    self.version = line.removeprefix("id: ").strip()
                if line.startswith(start):
                    return True
        except TimeoutError:
            pass
        return False

    def close(self) -> None:
        self.lines.close()
        self.socket.close()

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def test_what_another_process_writes_is_told_soon(
    app: Flask, resources: Resources, clock: SettableClock, order_id: str
) -> None:
    with served(app) as address, Stream(address, order_id) as stream:
        assert stream.status == HTTPStatus.OK
        assert stream.headers["content-type"].startswith("text/event-stream")
        assert stream.headers["cache-control"] == "no-store"
        assert stream.headers["x-accel-buffering"] == "no"
        assert stream.wait_for("data: news")
        first = stream.version
        other = Database(resources.config.database_url)
        worker = replace(resources, database=other)
        simulate(worker, order_id, Action.PAY)
        clock.advance(seconds=1)
        watch(resources)
        began = time.monotonic()
        assert stream.wait_for("data: news")
        assert time.monotonic() - began < SOON_S
        assert stream.version != first
        other.close()


def test_looking_again_at_the_same_is_no_news(
    resources: Resources, clock: SettableClock, merchant: Merchant, order_id: str
) -> None:
    def version() -> str:
        return read_versions(resources.database, [order_id, "po_unknown"])[order_id]

    seen = [version()]
    simulate(resources, order_id, Action.PAY)
    for _ in range(2):
        clock.advance(seconds=0.3)
        watch(resources)
    seen.append(version())
    make_order(resources, merchant)
    watch(resources)
    assert version() == seen[-1] != seen[0]
    clock.advance(seconds=10)
    watch(resources)
    watch(resources)
    assert version() not in seen


def test_a_resumed_stream_tells_only_what_was_missed(
    app: Flask, resources: Resources, merchant: Merchant, order_id: str
) -> None:
    with served(app) as address:
        with Stream(address, order_id) as stream:
            assert stream.wait_for("data: news")
        with Stream(address, order_id, stream.version) as resumed:
            assert resumed.wait_for("id: ")
            assert resumed.version == stream.version
            assert not resumed.wait_for("data: news", 0.5)
        cancel(resources, merchant.id, EnvMode.TEST, order_id)
        with Stream(address, order_id, stream.version) as resumed:
            assert resumed.wait_for("data: news")


def test_a_stream_lives_by_heartbeats_and_ends_after_a_while(
    app: Flask, order_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(order_stream, "HEARTBEAT_S", 0.1)
    monkeypatch.setattr(order_stream, "LIFE_S", 1.0)
    with served(app) as address, Stream(address, order_id) as stream:
        began = time.monotonic()
        assert stream.wait_for(":\n")
        assert stream.wait_for("0\r\n", 5), "the last chunk"
        assert 0.5 < time.monotonic() - began < 4


@pytest.mark.parametrize("unknown", ["po_unknown", "%00", "x" * 5000])
def test_an_unknown_order_has_no_stream(app: Flask, unknown: str) -> None:
    with served(app) as address:
        answer = requests.get(f"http://{address}/payment/{unknown}/events", timeout=10)
        assert (answer.status_code, answer.json()["code"]) == (404, "404")


def test_streams_are_counted_like_requests(resources: Resources, order_id: str) -> None:
    limited = build_app(replace(resources, config=replace(resources.config, rate_limit_page=10)))
    with served(limited) as address, ExitStack() as held:
        statuses = [held.enter_context(Stream(address, order_id)).status for _ in range(3)]
        assert statuses == [200, 200, 429]


def test_an_address_and_the_process_hold_so_many_and_no_more(
    app: Flask, order_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PER_ADDRESS", "IN_ALL"):
        with monkeypatch.context() as patch, served(app) as address, ExitStack() as held:
            patch.setattr(order_stream, name, 2)
            streams = [held.enter_context(Stream(address, order_id)) for _ in range(3)]
            assert [each.status for each in streams] == [200, 200, 429]
            assert requests.get(f"http://{address}/payment/{order_id}/status", timeout=10).status_code == 200
            streams[0].close()
            deadline = time.monotonic() + 10
            while held.enter_context(Stream(address, order_id)).status != HTTPStatus.OK:
                assert time.monotonic() < deadline, "a closed stream keeps its place"


def test_who_has_the_link_of_one_order_takes_the_places_of_no_other(
    app: Flask, resources: Resources, merchant: Merchant, order_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(order_stream, "PER_ORDER", 2)
    other = make_order(resources, merchant)
    with served(app) as address, ExitStack() as held:
        wanted = [order_id, order_id, order_id, other]
        assert [held.enter_context(Stream(address, each)).status for each in wanted] == [200, 200, 429, 200]


@pytest.mark.parametrize("database", ["sqlite"], indirect=True, scope="session")
def test_four_hundred_streams_keep_nobody_waiting(
    app: Flask, client: FlaskClient, resources: Resources, merchant: Merchant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(order_stream, "PER_ADDRESS", 1_000)
    orders = [make_order(resources, merchant) for _ in range(20)]
    with served(app) as address, ExitStack() as held:
        streams = [held.enter_context(Stream(address, orders[number % 20])) for number in range(400)]
        assert {each.status for each in streams} == {HTTPStatus.OK}
        assert threading.active_count() < 50
        times = []
        for order_id in orders:
            began = time.monotonic()
            assert requests.get(f"http://{address}/payment/{order_id}/status", timeout=10).status_code == 200
            times.append(time.monotonic() - began)
        assert sorted(times)[len(times) // 2] < 0.25
        for each in streams:
            assert each.wait_for("data: news")
        cancel(resources, merchant.id, EnvMode.TEST, orders[0])
        assert all(each.wait_for("data: news") for each in streams[::20])


def test_streams_outlive_a_database_that_is_away(
    app: Flask, resources: Resources, merchant: Merchant, order_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(order_stream, "LOOK_S", 0.05)
    faults = [OperationalError("select", {}, Exception("away")) for _ in range(3)]

    def read(database: Database, ids: list[str]) -> object:
        if faults:
            raise faults.pop()
        return read_versions(database, ids)

    monkeypatch.setattr("api.serving.asgi.read_versions", read)
    with served(app) as address, Stream(address, order_id) as stream:
        assert stream.wait_for("data: news")
        cancel(resources, merchant.id, EnvMode.TEST, order_id)
        assert stream.wait_for("data: news")
        assert not faults


def test_a_server_that_stops_waits_for_no_stream(app: Flask, order_id: str) -> None:
    with running(app) as (address, server, thread), Stream(address, order_id) as stream:
        assert stream.wait_for("data: news")
        began = time.monotonic()
        server.should_exit = True
        thread.join(10)
        assert not thread.is_alive()
        assert time.monotonic() - began < 5


@contextmanager
def running(app: Flask) -> Iterator[tuple[str, uvicorn.Server, threading.Thread]]:
    """A server that the test stops."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        config = uvicorn.Config(compose(app, threads=THREADS), http=EndingProtocol, log_config=None, lifespan="off")
        server = uvicorn.Server(config)
        serve: Callable[[], object] = lambda: asyncio.run(server.serve(sockets=[listener]))  # noqa: E731
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"127.0.0.1:{listener.getsockname()[1]}", server, thread
