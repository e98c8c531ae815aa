"""The stream of routes, served for tests."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from threading import Thread
from typing import Any

import requests
import uvicorn
from flask import Flask
from websockets.sync.client import ClientConnection

from api.serving.asgi import compose
from api.serving.connections import EndingProtocol
from api.serving.server import MESSAGE_BYTES, PING_S
from api.serving.sockets import EvenProtocol

USDC_POLYGON = "0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359"
CRV_POLYGON = "0x172370d5Cd63279eFa6d502DAB29171933a610AF"
BODY = {
    "fromToken": USDC_POLYGON,
    "toToken": CRV_POLYGON,
    "fromChainId": "137",
    "toChainId": "137",
    "inputAmount": str(10**12),
}
"""Much money for a thin token: detours are worth ever more hops."""
QUICK = {**BODY, "maxHops": 2, "maxSplits": 1}
"""The same for those who ask whether there is an answer, not what the search finds: that takes a twentieth."""
PATH = "/v1/routes/stream"
PATIENCE_S = 60
"""A machine that does much else takes its time for so much money."""


@contextmanager
def served(app: Flask, *, ping_s: float = PING_S) -> Iterator[str]:
    """Run the application behind the real server, which pings its sockets every `ping_s`; give `host:port`."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        config = uvicorn.Config(
            compose(app, threads=4),
            http=EndingProtocol,
            log_config=None,
            lifespan="off",
            ws=EvenProtocol,
            ws_max_size=MESSAGE_BYTES,
            ws_ping_interval=ping_s,
        )
        server = uvicorn.Server(config)
        thread = Thread(target=lambda: asyncio.run(server.serve(sockets=[listener])))
        thread.start()
        try:
            yield f"127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


def messages(connection: ClientConnection) -> list[dict[str, Any]]:
    """Receive until the end of one answer."""
    received = []
    while not received or received[-1]["type"] == "route":
        received.append(json.loads(connection.recv(timeout=PATIENCE_S)))
    return received


def ask(connection: ClientConnection, body: Any) -> list[dict[str, Any]]:
    """Send a request and receive its answer."""
    connection.send(body if isinstance(body, str | bytes) else json.dumps(body))
    return messages(connection)


def events(answer: requests.Response) -> list[dict[str, Any]]:
    """Read all server-sent events of an answer."""
    blocks = answer.text.split("\n\n")
    assert blocks[-1] == ""
    assert all(block.startswith("data: ") for block in blocks[:-1])
    return [json.loads(block.removeprefix("data: ")) for block in blocks[:-1]]


def without_ids(route: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in route.items() if name != "id"}


def check_answer(received: list[dict[str, Any]]) -> None:
    """Check that an answer is whole and its routes get better."""
    check_end(received)
    *routes, _done = received
    assert len(routes) > 1
    outputs = [int(message["route"]["outputAmount"]) for message in routes]
    assert all(worse < better for worse, better in pairwise(outputs))


def check_end(received: list[dict[str, Any]]) -> None:
    """Check that an answer is whole: its routes come in turn, and the end names the last of them."""
    *routes, done = received
    assert routes
    assert [message["seq"] for message in routes] == list(range(len(routes)))
    assert all(message["type"] == "route" for message in routes)
    assert done == {"type": "done", "best": routes[-1]["route"]["id"], "unavailable": []}
