"""A solver behind HTTP: the market is sent once, under its hash; then one request at a time."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any
from urllib.parse import urlsplit

from benchmarks.harness.answer import MOST_BYTES, Answer, BadAnswer, parse_answer
from benchmarks.harness.replay import BrokenAnswer, Fault
from benchmarks.harness.solver import Unsupported
from routing_engine import RouteRequest, Snapshot
from routing_engine.formats import native

OK, UNPROCESSABLE, NOT_IMPLEMENTED = 200, 422, 501
SHOWN = 200
IDLE_S = 600
"""Nothing waits this long: who asks has a limit of time of its own."""


class HttpSolver:
    """A service that finds routes; ``docs/benchmarks.md`` has its interface.

    Parameters
    ----------
    url : str
        What ``/markets/…`` and ``/solve`` are below.

    Raises
    ------
    Unsupported
        If that is no address.
    """

    remote = True

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        if not parts.hostname or parts.query or parts.fragment:
            raise Unsupported(f"{url} is no address such as http://127.0.0.1:8080")
        self.name, self.version = url, ""
        self._path = parts.path.rstrip("/")
        kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        self._connection = kind(parts.hostname, parts.port, timeout=IDLE_S)
        self._market = ""

    def load(self, snapshot: Snapshot) -> None:
        """Send the market in the library's own format; the service may answer with its name and version."""
        self._market = snapshot.id
        document = {**native.build_document(snapshot.contents), "id": snapshot.id}
        status, body = self._send("PUT", f"/markets/{snapshot.id}", document)
        if status in (UNPROCESSABLE, NOT_IMPLEMENTED):
            raise Unsupported(body[:SHOWN].decode(errors="replace"))
        if not OK <= status < OK + 100:
            raise BrokenAnswer(Fault.ERROR, f"PUT /markets/… is answered with {status}")
        try:
            about = json.loads(body or b"{}")
        except ValueError:
            about = {}
        if isinstance(about, dict):
            self.name = str(about.get("name") or self.name)[:SHOWN]
            self.version = str(about.get("version") or "")[:SHOWN]

    def solve(self, request: RouteRequest, gas_values: Mapping[int, float]) -> Answer:
        """Ask for one route."""
        status, body = self._send("POST", "/solve", {"market": self._market, **write_request(request, gas_values)})
        if status != OK:
            raise BrokenAnswer(Fault.ERROR, f"POST /solve is answered with {status}")
        try:
            return parse_answer(body)
        except BadAnswer as error:
            raise BrokenAnswer(Fault.BAD_ANSWER, str(error)) from error

    def close(self) -> None:
        """End the connection."""
        self._connection.close()

    def _send(self, method: str, path: str, document: Mapping[str, Any]) -> tuple[int, bytes]:
        headers = {"Content-Type": "application/json"}
        try:
            self._connection.request(method, self._path + path, json.dumps(document).encode(), headers)
            with self._connection.getresponse() as response:
                body = response.read(MOST_BYTES + 1)
        except (OSError, HTTPException) as error:
            self._connection.close()
            raise BrokenAnswer(Fault.ERROR, f"{method} {path[:20]} fails: {type(error).__name__}: {error}") from error
        if len(body) > MOST_BYTES:
            self._connection.close()
            raise BrokenAnswer(Fault.TOO_LARGE, f"an answer of more than {MOST_BYTES:,} bytes")
        return response.status, body


def write_request(request: RouteRequest, gas_values: Mapping[int, float]) -> dict[str, Any]:
    """Return a request as JSON has it."""
    return {
        "token_in": request.token_in.key,
        "token_out": request.token_out.key,
        "amount": str(request.amount),
        "side": str(request.side),
        "max_hops": request.max_hops,
        "gas_prices": {str(chain): str(price) for chain, price in sorted((request.gas_prices or {}).items())},
        "gas_values": {str(chain): value for chain, value in sorted(gas_values.items())},
    }
