"""The service behind its real server, on a socket."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from threading import Event, Semaphore, Thread

import pytest
import requests
import uvicorn
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from api.blueprints.health import NOTHING_SEEN
from api.services.operations import duty_health
from api.services.resources import Resources
from api.serving import bridge
from api.serving.asgi import compose
from api.storage import migrations
from tests.api.conftest import Merchant
from tests.api.probe import probe_app

THREADS = 4


@pytest.fixture
def address(resources: Resources) -> Iterator[str]:
    """`host:port` of a running server."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        config = uvicorn.Config(
            compose(probe_app(resources), threads=THREADS), log_config=None, lifespan="off", ws="websockets-sansio"
        )
        server = uvicorn.Server(config)
        thread = Thread(target=lambda: asyncio.run(server.serve(sockets=[listener])))
        thread.start()
        try:
            yield f"127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


def raw(address: str, request: bytes) -> bytes:
    """Send bytes as they are, and read the answer to its end."""
    host, port = address.split(":")
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        connection.sendall(request)
        received = b""
        while chunk := connection.recv(65536):
            received += chunk
        return received


def test_requests_and_their_keys_arrive(address: str, merchant: Merchant) -> None:
    answer = requests.get(f"http://{address}/v1/probe/private", headers=merchant.headers(), timeout=10)
    assert answer.json()["vendor"] == "Tea & Co"
    assert answer.headers["X-Request-Id"]


def test_health_answers_while_every_thread_waits_for_a_database_that_hangs(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What asks it ends processes that do not answer: all of them at once, as they all wait for the same."""
    hangs, gate = Semaphore(0), Event()

    def hang(_: object) -> None:
        hangs.release()
        gate.wait(30)

    monkeypatch.setattr(migrations, "check_schema", hang)
    monkeypatch.setattr(duty_health, "check_worker_health", hang)
    waiting = [Thread(target=requests.get, args=(f"http://{address}/readyz/api",)) for _ in range(THREADS)]
    try:
        for each in waiting:
            each.start()
        assert all(hangs.acquire(timeout=30) for _ in waiting)
        for _ in range(3):
            answer = requests.get(f"http://{address}/healthz", timeout=1.9)  # less than who waits for a thread may
            assert (answer.status_code, answer.json()["problems"][:1]) == (200, [NOTHING_SEEN])
    finally:
        gate.set()
        for each in waiting:
            each.join()


def test_a_chunked_body_is_read(address: str) -> None:
    headers = {"Content-Type": "application/json"}
    pieces = iter([b'{"env_mode": ', b'"nowhere"}'])
    answer = requests.post(f"http://{address}/v1/probe/everything", data=pieces, headers=headers, timeout=10)
    assert {"path": "env_mode", "message": "Expected 'test' or 'live'"} in answer.json()["error"]


@pytest.mark.rule("input.1")
def test_a_chunked_body_has_the_same_limit(address: str) -> None:
    headers = {"Content-Type": "application/json"}
    pieces = iter([b"x" * 40_000, b"x" * 40_000])
    answer = requests.post(f"http://{address}/v1/probe/everything", data=pieces, headers=headers, timeout=10)
    assert answer.status_code == 413
    assert answer.json()["code"] == "413"


def test_names_of_headers_that_a_stranger_invents_are_not_kept() -> None:
    """Found: a thousand of 60 kB each stayed in memory for good, twice."""
    scope = {
        "method": "GET",
        "path": "/",
        "query_string": b"",
        "http_version": "1.1",
        "headers": [(b"x" * 9_000, b"1")],
    }
    assert bridge.build_environ(scope, b"")[f"HTTP_{'X' * 9_000}"] == "1"
    assert max(map(len, bridge._NAMES)) < 100


def test_raw_bytes_in_the_query_are_no_failure(address: str) -> None:
    answer = raw(address, b"GET /v1/probe/filter?chain=\xff\xfe HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    status, _, body = answer.partition(b"\r\n")
    assert status.split()[1] == b"400"
    assert b'"path": "chain"' in body or b"Invalid HTTP request" in body


@pytest.mark.parametrize(
    "path", [b"/v1/%ff", b"/v1/%00", b"/v1/%ed%a0%80", b"/%2e%2e/etc/passwd", b"/v1/" + b"a" * 5000]
)
def test_strange_paths_are_not_found(address: str, path: bytes) -> None:
    answer = raw(address, b"GET " + path + b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert answer.split()[1] == b"404"
    assert b'"code": "404"' in answer


def test_a_websocket_to_an_unknown_address_is_refused(address: str) -> None:
    with pytest.raises(InvalidStatus), connect(f"ws://{address}/v1/nothing"):
        pass
