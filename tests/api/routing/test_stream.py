"""Routes over a websocket and as server-sent events, against the real server on a loopback port."""

from __future__ import annotations

import base64
import json
import socket
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
import requests
import uvicorn
from flask import Flask
from flask.testing import FlaskClient
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from api.config import Config
from api.domain.env import EnvMode
from api.schemas.routing.queries import USDC_BASE, USDC_ETHEREUM
from api.services.execution.streamed_search import MAX_SECONDS, StreamedSearch
from api.services.resources import Resources
from api.services.routing.query import RouteQuery
from api.serving import server, stream
from api.serving.sockets import EvenProtocol
from routing_engine import RouteRequest
from tests.api.conftest import Merchant
from tests.support.stream import BODY, PATH, QUICK, ask, check_answer, check_end, events, messages, served, without_ids


@pytest.fixture
def address(app: Flask) -> Iterator[str]:
    """`host:port` of a running server."""
    with served(app) as name:
        yield name


@pytest.mark.rule("stream.1", "stream.2", "stream.4")
def test_a_socket_gets_ever_better_routes_and_the_best_is_that_of_the_plain_request(
    address: str, client: FlaskClient
) -> None:
    with connect(f"ws://{address}{PATH}") as connection:
        received = ask(connection, BODY)
    check_answer(received)
    plain = client.post("/v1/routes", json=BODY).get_json()
    assert without_ids(received[-2]["route"]) == without_ids(plain)


@pytest.mark.rule("stream.9")
def test_server_sent_events_carry_the_same_messages(address: str) -> None:
    answer = requests.get(f"http://{address}{PATH}", params=BODY, timeout=10)
    assert answer.headers["Content-Type"].startswith("text/event-stream")
    assert answer.headers["Cache-Control"] == "no-store"
    received = events(answer)
    check_answer(received)
    posted = events(requests.post(f"http://{address}{PATH}", json=BODY, timeout=10))
    with connect(f"ws://{address}{PATH}") as connection:
        over_socket = ask(connection, BODY)
    for other in (posted, over_socket):
        assert [without_ids(m["route"]) for m in other[:-1]] == [without_ids(m["route"]) for m in received[:-1]]


@pytest.mark.rule("routes.18", "stream.1")
def test_options_arrive_and_requests_may_follow_each_other(address: str) -> None:
    with connect(f"ws://{address}{PATH}") as connection:
        for number in (0, 1, 3):
            *routes, _done = ask(connection, {**BODY, "alternatives": number, "maxHops": 3, "maxSplits": 1})
            assert len(routes[-1]["route"].get("alternatives", ())) == number
            assert all(len(message["route"]["steps"]) <= 3 for message in routes)


@pytest.mark.rule("keys.7")
def test_a_wrong_key_is_told_so_and_closed(address: str, merchant: Merchant) -> None:
    wrong = {"X-Api-Key": "sk_test_" + "A" * 43}
    with connect(f"ws://{address}{PATH}", additional_headers=wrong) as connection:
        (error,) = messages(connection)
        assert error["code"] == "401"
        with pytest.raises(ConnectionClosed) as caught:
            connection.recv(timeout=10)
        assert caught.value.rcvd is not None
        assert caught.value.rcvd.code == stream.CLOSE_WRONG_KEY
    assert requests.get(f"http://{address}{PATH}", params=QUICK, headers=wrong, timeout=10).status_code == 401
    with connect(f"ws://{address}{PATH}", additional_headers=merchant.headers()) as connection:
        check_end(ask(connection, QUICK))


def test_bad_parameters_of_server_sent_events_are_a_plain_error(address: str) -> None:
    answer = requests.get(f"http://{address}{PATH}", params={**BODY, "inputAmount": "1.5"}, timeout=10)
    assert answer.status_code == 400
    assert [problem["path"] for problem in answer.json()["error"]] == ["inputAmount"]
    (error,) = events(
        requests.get(f"http://{address}{PATH}", params={**BODY, "inputAmount": str(2**256 - 1)}, timeout=10)
    )
    assert (error["type"], error["code"]) == ("error", "404")


@pytest.mark.rule("limits.5")
def test_socket_frames_and_events_count_against_one_limit(make_app: Callable[..., Flask]) -> None:
    with served(make_app(rate_limit_keyless=3)) as address:
        with connect(f"ws://{address}{PATH}") as connection:
            check_end(ask(connection, QUICK))
            check_end(ask(connection, QUICK))
            assert requests.get(f"http://{address}{PATH}", params=QUICK, timeout=10).status_code == 200
            (error,) = ask(connection, QUICK)
            assert error["code"] == "429"
        refused = requests.get(f"http://{address}{PATH}", params=QUICK, timeout=10)
        assert refused.status_code == 429
        assert int(refused.headers["Retry-After"]) >= 1


def test_a_key_has_the_higher_limit(make_app: Callable[..., Flask], merchant: Merchant) -> None:
    with (
        served(make_app(rate_limit_keyless=1)) as address,
        connect(f"ws://{address}{PATH}", additional_headers=merchant.headers()) as connection,
    ):
        for _ in range(3):
            check_end(ask(connection, QUICK))


def tell(resources: Resources, query: RouteQuery, **options: Any) -> Iterator[dict[str, Any]]:
    search = StreamedSearch(resources=resources, query=query, env_mode=EnvMode.LIVE, has_key=False, **options)
    return search.tell()


@pytest.mark.rule("stream.7")
def test_a_slow_search_ends_with_the_best_so_far(resources: Resources) -> None:
    snapshot = resources.market.snapshot
    request = RouteRequest(token_in=snapshot.token("USDC@137"), token_out=snapshot.token("CRV@137"), amount=10**12)
    query = RouteQuery(request=request, slippage_bps=50)
    ticks = iter((0, MAX_SECONDS))
    route, done = tell(resources, query, stopwatch=lambda: next(ticks))
    assert done["best"] == route["route"]["id"]
    assert len(list(tell(resources, query))) > 2


def test_the_example_of_the_documentation_works(address: str) -> None:
    example = {"fromToken": USDC_ETHEREUM, "toToken": USDC_BASE, "fromChainId": "1", "toChainId": "8453"}
    with connect(f"ws://{address}{PATH}") as connection:
        *routes, done = ask(connection, {**example, "inputAmount": "2500000000"})
    assert done["best"] == routes[-1]["route"]["id"]


def test_a_list_is_a_repeated_parameter_or_has_commas(address: str) -> None:
    for names in (["uniswap_v2", "quickswap_v2"], "uniswap_v2,quickswap_v2", ["uniswap_v2,quickswap_v2"]):
        query = {**BODY, "inputAmount": "1000000", "allowProtocols": names}
        *routes, _done = events(requests.get(f"http://{address}{PATH}", params=query, timeout=10))
        assert {step["protocol"] for step in routes[-1]["route"]["steps"]} == {"quickswap_v2"}


@pytest.mark.rule("stream.7")
def test_a_stream_has_thirty_seconds(resources: Resources) -> None:
    snapshot = resources.market.snapshot
    request = RouteRequest(token_in=snapshot.token("USDC@137"), token_out=snapshot.token("CRV@137"), amount=10**12)
    ticks = iter((0, 29.9, 30))
    query = RouteQuery(request=request, slippage_bps=50)
    kinds = [message["type"] for message in tell(resources, query, stopwatch=lambda: next(ticks))]
    assert kinds == ["route", "route", "done"]


@pytest.mark.rule("stream.8")
def test_a_frame_of_four_kilobytes_is_taken(address: str) -> None:
    text = json.dumps({**BODY, "inputAmount": "0"})
    with connect(f"ws://{address}{PATH}") as connection:
        for size, code in ((4096, "400"), (4097, "413")):
            (error,) = ask(connection, text.ljust(size))
            assert error["code"] == code


@pytest.mark.rule("stream.6")
def test_the_server_pings_every_fifteen_seconds(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[uvicorn.Config] = []
    monkeypatch.setattr("api.serving.server.uvicorn.Server.run", lambda self, sockets: made.append(self.config))
    monkeypatch.setattr("api.serving.server.configure_logging", lambda _: None)
    server.serve(replace(config, port=0, web_workers=1))
    assert [(each.ws, each.ws_ping_interval) for each in made] == [(EvenProtocol, 15)]


@pytest.mark.rule("stream.6")
def test_a_socket_is_pinged(app: Flask) -> None:
    asking = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: "
    key = base64.b64encode(bytes(16)).decode()
    with served(app, ping_s=0.05) as address:
        host, port = address.split(":")
        with socket.create_connection((host, int(port)), timeout=10) as connection:
            connection.sendall(f"GET {PATH} HTTP/1.1\r\nHost: {address}\r\n{asking}{key}\r\n\r\n".encode())
            received = b""
            while not received.partition(b"\r\n\r\n")[2]:
                received += connection.recv(4096)
    assert received.startswith(b"HTTP/1.1 101")
    assert received.partition(b"\r\n\r\n")[2][0] == 0x89, "the first frame is a ping"
