"""What a hostile or broken client, or a broken search, can do to the stream: nothing to others."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from typing import Any

import pytest
import requests
from flask import Flask
from hypothesis import given, settings
from hypothesis import strategies as st
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from api.app import build_app
from api.services.market.market import MarketService
from api.services.resources import Resources
from api.serving import asgi, stream
from api.serving.server import MESSAGE_BYTES
from api.storage.db import Database
from routing_engine import RouteRequest
from tests.api.conftest import Merchant
from tests.support.stream import BODY, PATH, QUICK, ask, check_end, messages, served

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True, scope="session")
"""Nothing here depends on the database."""


@pytest.fixture
def address(app: Flask) -> Iterator[str]:
    """`host:port` of a running server."""
    with served(app) as name:
        yield name


@pytest.mark.rule("stream.5", "stream.8")
@pytest.mark.parametrize(
    ("frame", "code", "path"),
    [
        ("", "400", "fromToken"),
        ("{}", "400", "fromToken"),
        ("{", "400", ""),
        ("[]", "400", ""),
        ("null", "400", ""),
        ("hello", "400", ""),
        ('{"fromToken": "\\u0000"}', "400", "fromToken"),
        ('{"fromToken": "\\ud800"}', "400", "fromToken"),
        ("[" * 4000, "400", ""),
        (json.dumps({**BODY, "inputAmount": "0"}), "400", "inputAmount"),
        (json.dumps({**BODY, "toChainId": "56"}), "400", "toChainId"),
        (json.dumps({**BODY, "fromToken": "0x" + "12" * 20}), "400", "fromToken"),
        (json.dumps({**BODY, "inputAmount": str(2**256 - 1)}), "404", "uniswap_v3"),
        (b"\x00\x01", "400", None),
        ("x" * (stream.FRAME_BYTES + 1), "413", None),
        ("é" * (stream.FRAME_BYTES // 2 + 1), "413", None),
    ],
)
def test_a_bad_frame_gets_the_error_body_and_the_socket_lives_on(
    address: str, frame: str | bytes, code: str, path: str | None
) -> None:
    with connect(f"ws://{address}{PATH}") as connection:
        (error,) = ask(connection, frame)
        assert set(error) == {"type", "message", "code", "error"}
        assert (error["type"], error["code"]) == ("error", code)
        if path is not None:
            assert path in [problem["path"] for problem in error["error"]]
        check_end(ask(connection, QUICK))


def test_a_question_in_the_address_of_a_socket_is_refused(address: str) -> None:
    with connect(f"ws://{address}{PATH}?inputAmount=1") as connection:
        (error,) = ask(connection, QUICK)
        assert [problem["path"] for problem in error["error"]] == ["inputAmount"]


def test_a_frame_beyond_all_bounds_closes_the_socket(address: str) -> None:
    with connect(f"ws://{address}{PATH}") as connection:
        connection.send("x" * (MESSAGE_BYTES + 1))
        with pytest.raises(ConnectionClosed) as caught:
            connection.recv(timeout=10)
        assert caught.value.rcvd is not None
        assert caught.value.rcvd.code == 1009


def test_any_text_gets_one_answer(address: str) -> None:
    with connect(f"ws://{address}{PATH}") as connection:

        @settings(max_examples=60, deadline=None, derandomize=True)
        @given(st.text(max_size=200) | st.recursive(st.none() | st.integers() | st.text(), st.lists).map(json.dumps))
        def check(text: str) -> None:
            (error,) = ask(connection, text)
            assert error["code"] == "400"

        check()


@pytest.mark.rule("errors.1", "errors.11", "limits.5")
def test_an_address_holds_so_many_sockets_and_no_more(address: str) -> None:
    held = [connect(f"ws://{address}{PATH}") for _ in range(stream.PER_ADDRESS)]
    try:
        with connect(f"ws://{address}{PATH}") as connection:
            (error,) = messages(connection)
            assert error["code"] == "429"
            with pytest.raises(ConnectionClosed):
                connection.recv(timeout=10)
        given = {"X-Request-Id": "order-7.a"}
        refused = requests.get(f"http://{address}{PATH}", params=QUICK, headers=given, timeout=10)
        assert refused.status_code == 429
        assert (refused.headers["X-Request-Id"], refused.headers["Retry-After"]) == ("order-7.a", "30")
        assert set(refused.json()) == {"message", "code", "error"}
        assert requests.get(f"http://{address}/healthz", timeout=10).status_code == 200
        check_end(ask(held[0], QUICK))
    finally:
        for connection in held:
            connection.close()
    while requests.get(f"http://{address}{PATH}", params=QUICK, timeout=10).status_code == 429:
        pass  # the server takes note of the closings in its own time


@pytest.mark.parametrize(
    ("path", "threads"), [(PATH, asgi.STREAM_THREADS), ("/api/v1/payment.csv", asgi.EXPORT_THREADS)]
)
def test_who_sends_a_body_slowly_keeps_nobody_else_waiting(
    address: str, merchant: Merchant, path: str, threads: int
) -> None:
    host, _, port = address.partition(":")
    method, key = "POST" if path == PATH else "GET", merchant.headers()["X-Api-Key"]
    head = f"{method} {path} HTTP/1.1\r\nHost: x\r\nX-Api-Key: {key}\r\nContent-Type: application/json\r\n"
    with ExitStack() as lines:
        for _ in range(threads + 1):
            line = lines.enter_context(socket.create_connection((host, int(port))))
            line.sendall(f"{head}Content-Length: 100\r\n\r\n{{".encode())
        query = QUICK if path == PATH else {}
        answer = requests.get(f"http://{address}{path}", params=query, headers=merchant.headers(), timeout=20)
        assert answer.status_code == 200


def test_a_client_that_leaves_while_it_is_answered_frees_its_place(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An address has few places here: each search takes its time, also when nobody listens any more."""
    monkeypatch.setattr(stream, "PER_ADDRESS", 3)
    for _ in range(stream.PER_ADDRESS + 1):
        with suppress(ConnectionClosed, OSError):  # the last one may be refused already
            connection = connect(f"ws://{address}{PATH}", close_timeout=0)
            connection.send(json.dumps(BODY))
            connection.socket.shutdown(socket.SHUT_RDWR)
            connection.close()
    received = [{"code": "429"}]
    while received[-1].get("code") == "429":  # the server takes note of the closings when their searches are over
        with connect(f"ws://{address}{PATH}") as connection, suppress(ConnectionClosed, OSError):
            received = ask(connection, QUICK)
    assert received[-1]["type"] == "done"
    while requests.get(f"http://{address}{PATH}", params=QUICK, timeout=10).status_code == 429:
        pass


def test_an_idle_socket_is_closed(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "IDLE_S", 0.05)
    with connect(f"ws://{address}{PATH}") as connection, pytest.raises(ConnectionClosed) as caught:
        connection.recv(timeout=10)
    assert caught.value.rcvd is not None
    assert caught.value.rcvd.code == stream.CLOSE_IDLE


class BrokenRouter:
    """A router whose search fails half-way, as no router should."""

    def __init__(self, router: Any) -> None:
        self.snapshot, self.graph, self._router = router.snapshot, router.graph, router

    def stream(self, request: RouteRequest) -> Iterator[Any]:
        yield next(iter(self._router.stream(request)))
        raise ZeroDivisionError("secret detail")


def test_a_failure_half_way_tells_nothing_of_the_inside(resources: Resources, market: MarketService) -> None:
    class BrokenMarket(MarketService):
        router = BrokenRouter(market.router)

    broken = build_app(replace(resources, market=BrokenMarket(None, resources.clock)))
    with served(broken) as address:
        with connect(f"ws://{address}{PATH}") as connection:
            route, error = ask(connection, BODY)
        assert (route["type"], error["type"], error["code"]) == ("route", "error", "500")
        text = requests.get(f"http://{address}{PATH}", params=QUICK, timeout=10).text
    for secret in ("secret", "ZeroDivision", "Traceback"):
        assert secret not in text
        assert secret not in json.dumps(error)


def test_a_key_is_not_called_wrong_while_the_database_is_away(resources: Resources, merchant: Merchant) -> None:
    gone = replace(resources, database=Database(f"sqlite:///{resources.config.data_dir / 'empty.db'}"))
    with (
        served(build_app(gone)) as address,
        connect(f"ws://{address}{PATH}", additional_headers=merchant.headers()) as connection,
    ):
        (error,) = ask(connection, QUICK)
    assert error["code"] == "503"
    gone.database.close()
