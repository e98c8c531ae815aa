"""Scripts of other sites may ask for routes, quotes and tokens without a key, and for nothing else."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from api.serving.stream import READABLE, refuse_request
from tests.api.conftest import Merchant
from tests.support.shop import Shop

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True, scope="session")

PUBLIC = re.compile(r"/v1/(routes|routes/stream|routes/status|tokens)|/api/v1/quote(/<\w+>(/replay|/archive)?)?")
"""The only addresses of which other sites may read."""
ORIGIN = {"Origin": "https://dex.example"}
ALLOWED = {"access-control-allow-origin", "access-control-expose-headers"}
EXPOSED = {
    "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "Retry-After", "X-Request-Id", "ETag", "Deprecation",
    "Sunset",
}  # fmt: skip
Route = tuple[str, str, bool]


def list_routes(app: Flask) -> list[Route]:
    """Return method, an address, and whether other sites may read it, for everything that is served."""
    rules = [rule for rule in app.url_map.iter_rules() if rule.endpoint != "static"]
    return [
        (method, re.sub(r"<(?:\w+:)?\w+>", "x", rule.rule), PUBLIC.fullmatch(rule.rule) is not None)
        for rule in rules
        for method in sorted((rule.methods or set()) - {"OPTIONS", "HEAD"})
    ]


def read_cors(answer: Any) -> set[str]:
    return {name.lower() for name, _ in answer.headers if name.lower().startswith("access-control-")}


def preflight(client: FlaskClient, path: str, method: str) -> Any:
    asked = {"Access-Control-Request-Method": method, "Access-Control-Request-Headers": "content-type,x-api-key"}
    return client.options(path, headers={**ORIGIN, **asked})


def test_every_address_answers_other_sites_or_does_not(app: Flask, client: FlaskClient, merchant: Merchant) -> None:
    routes = list_routes(app)
    for method, path, is_public in routes:
        for headers in (ORIGIN, {**ORIGIN, **merchant.headers()}, {**ORIGIN, "X-Api-Key": "sk_test_wrong"}):
            answer = client.open(path, method=method, headers=headers)
            assert read_cors(answer) == (ALLOWED if is_public else set()), (method, path)
            if is_public:
                assert answer.headers["Access-Control-Allow-Origin"] == "*"
                assert set(answer.headers["Access-Control-Expose-Headers"].split(", ")) == EXPOSED
            answer.close()
    assert {path for _, path, is_public in routes if is_public} >= {
        "/v1/routes", "/v1/routes/stream", "/v1/routes/status", "/api/v1/quote", "/v1/tokens",
    }  # fmt: skip
    assert len(routes) > 30


def test_every_address_answers_a_browsers_question_or_does_not(app: Flask, client: FlaskClient) -> None:
    for method, path, is_public in list_routes(app):
        answer = preflight(client, path, method)
        if not is_public:
            assert read_cors(answer) == set(), (method, path)
            continue
        assert answer.status_code == 200
        assert answer.headers["Access-Control-Allow-Origin"] == "*"
        assert method in answer.headers["Access-Control-Allow-Methods"].split(", ")
        allowed = answer.headers["Access-Control-Allow-Headers"].lower().split(", ")
        assert "content-type" in allowed
        assert "x-api-key" not in allowed, "keys stay on servers"
        assert "Access-Control-Allow-Credentials" not in answer.headers
        assert "RateLimit-Limit" not in answer.headers, "a question is not counted"


def test_a_refusal_can_be_read_too(client: FlaskClient) -> None:
    answer = client.post("/v1/routes", json={}, headers=ORIGIN)
    assert answer.status_code == 400
    assert answer.headers["Access-Control-Allow-Origin"] == "*"


def test_a_merchants_order_can_not(shop: Shop) -> None:
    answer = shop.client.get(f"/api/v1/payment/{shop.create()}", headers={**ORIGIN, **shop.merchant.headers()})
    assert answer.status_code == 200
    assert read_cors(answer) == set()


def test_the_refusal_of_too_many_streams_can_be_read(database: object) -> None:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    for more in ((), READABLE):
        asyncio.run(refuse_request({"type": "http", "headers": []}, send, 429, "Too many", 60, more))
    page, routes = (dict(message["headers"]) for message in sent if "headers" in message)
    assert b"access-control-allow-origin" not in page
    assert routes[b"access-control-allow-origin"] == b"*"
