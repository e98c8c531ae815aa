"""What `/openapi.json` does not name is refused, at every address that it describes: in the query and in the body."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.api.conftest import Merchant
from tests.support.shop import LINK, Shop

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True, scope="session")
"""All is refused before the database is asked."""

METHODS = {"get", "post", "put", "patch", "delete"}
FREE = {"metadata"}
"""Documented as objects of any shape."""
Operation = tuple[str, str, dict[str, Any]]


@pytest.fixture
def spec(client: FlaskClient) -> dict[str, Any]:
    found: dict[str, Any] = client.get("/openapi.json").get_json()
    return found


def operations(spec: dict[str, Any]) -> Iterator[Operation]:
    for path, item in spec["paths"].items():
        for method in METHODS & item.keys():
            yield path, method, item[method]


def resolve(spec: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    name = schema.get("$ref", "").removeprefix("#/components/schemas/")
    return spec["components"]["schemas"][name] if name else schema


def body_schema(spec: dict[str, Any], operation: dict[str, Any]) -> dict[str, Any]:
    content = operation.get("requestBody", {}).get("content", {})
    return resolve(spec, content["application/json"]["schema"]) if content else {"type": "object", "properties": {}}


def spoiled(spec: dict[str, Any], schema: dict[str, Any], path: str = "") -> tuple[Any, list[str]]:
    """Make an object with something unknown in it at every depth; return it with the paths of that."""
    body: dict[str, Any] = {"un_known": 1}
    paths = [f"{path}un_known"]
    for name, inner in schema["properties"].items():
        found = resolve(spec, inner)
        item = resolve(spec, found.get("items", {}))
        if name in FREE:
            continue
        if "properties" in found:
            body[name], more = spoiled(spec, found, f"{path}{name}.")
            paths += more
        elif "properties" in item:
            element, more = spoiled(spec, item, f"{path}{name}.0.")
            body[name] = [element]
            paths += more
    return body, paths


def objects(spec: dict[str, Any], schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    found = resolve(spec, schema)
    if "properties" in found:
        yield found
        for name, inner in found["properties"].items():
            if name not in FREE:
                yield from objects(spec, inner)
    if "items" in found:
        yield from objects(spec, found["items"])


@pytest.mark.rule("operation.2")
def test_the_document_describes_every_address_of_the_api(app: Flask, spec: dict[str, Any]) -> None:
    served = {
        (rule.rule.replace("<", "{").replace(">", "}"), method.lower())
        for rule in app.url_map.iter_rules()
        for method in rule.methods or ()
        if rule.rule.startswith(("/api/", "/v1/")) and method.lower() in METHODS
    }
    assert served == {(path, method) for path, method, _ in operations(spec)}
    assert len(served) > 15


@pytest.mark.rule("input.5")
def test_no_address_takes_an_unknown_parameter(
    client: FlaskClient, spec: dict[str, Any], merchant: Merchant, assert_error: Callable[..., None]
) -> None:
    for path, method, _ in operations(spec):
        answer = client.open(f"{path}?un_known=1", method=method.upper(), headers=merchant.headers())
        assert_error(answer, 400)
        found = {row["path"]: row["message"] for row in answer.get_json()["error"]}
        assert found["un_known"].startswith("Unknown"), (method, path)


@pytest.mark.rule("input.4")
def test_no_address_takes_an_unknown_property_at_any_depth(
    client: FlaskClient, spec: dict[str, Any], merchant: Merchant, assert_error: Callable[..., None]
) -> None:
    depths = set()
    for path, method, operation in operations(spec):
        body, unknown = spoiled(spec, body_schema(spec, operation))
        answer = client.open(path, method=method.upper(), json=body, headers=merchant.headers())
        assert_error(answer, 400)
        found = {row["path"]: row["message"] for row in answer.get_json()["error"]}
        assert {name: found.get(name, "")[:7] for name in unknown} == dict.fromkeys(unknown, "Unknown"), (method, path)
        depths |= set(unknown)
    assert {"un_known", "order_price.un_known", "line_items.0.un_known"} <= depths


def test_the_document_says_so(spec: dict[str, Any]) -> None:
    bodies = [operation for *_, operation in operations(spec) if "requestBody" in operation]
    assert bodies
    for operation in bodies:
        for each in objects(spec, body_schema(spec, operation)):
            assert each["additionalProperties"] is False


@pytest.mark.rule("input.4")
def test_the_known_names_are_said(shop: Shop) -> None:
    answer = shop.post("/api/v1/payment_link", {**LINK, "expiresAt": "2026-03-02T12:00:00Z"})
    (problem,) = answer.get_json()["error"]
    assert problem["path"] == "expiresAt"
    assert "expires_at" in problem["message"]


@pytest.mark.rule("links.5")
def test_metadata_stays_free(shop: Shop) -> None:
    order_id = shop.create(metadata={"un_known": {"deeper": 1}})
    assert shop.order(order_id)["metadata"] == {"un_known": {"deeper": 1}}


@pytest.mark.rule("input.6")
@pytest.mark.parametrize("name", ["cancel", "refund"])
def test_nothing_may_come_where_nothing_is_described(shop: Shop, name: str) -> None:
    order_id = shop.create()
    path = f"/api/v1/payment/{order_id}/{name}"
    refused = shop.client.post(path, data=b"amount=1", headers=shop.merchant.headers())
    assert refused.status_code == 415
    assert shop.post(path, {"amount_": 5}).status_code == 400
    assert shop.client.post(path, data=b"  ", headers=shop.merchant.headers()).status_code in {200, 409}


def test_a_call_without_a_key_learns_nothing(client: FlaskClient, spec: dict[str, Any]) -> None:
    keyed = [each for each in operations(spec) if each[2].get("security") == [{"ApiKey": []}]]
    assert keyed
    for path, method, _ in keyed:
        assert client.open(f"{path}?un_known=1", method=method.upper(), json={"un_known": 1}).status_code == 401


def test_what_is_given_twice_is_refused(shop: Shop, assert_error: Callable[..., None]) -> None:
    twice = b'{"order_price": {"amount": 1, "currency": "USDC", "decimals": 6, "amount": 1000}}'
    headers = shop.merchant.headers() | {"Content-Type": "application/json"}
    answer = shop.client.post("/api/v1/payment_link", data=twice, headers=headers)
    assert_error(answer, 400, {"amount": "Given twice"})
    assert_error(shop.get("/api/v1/payment?limit=1&limit=2"), 400, {"limit": "Given twice"})


def test_an_answer_names_a_hundred_at_most(shop: Shop) -> None:
    answer = shop.post("/api/v1/payment_link", dict.fromkeys(map(str, range(5000)), 1))
    assert len(answer.get_json()["error"]) == 100


@pytest.mark.rule("input.7")
def test_pages_ignore_unknown_parameters(shop: Shop) -> None:
    order_id = shop.create()
    for path in (f"/payment/{order_id}?utm_source=mail", f"/payment/{order_id}/status?x=1", "/docs?x=1"):
        assert shop.client.get(path).status_code == 200


def test_what_a_page_sends_is_strict(shop: Shop, app: Flask) -> None:
    order_id = shop.create()
    posts = [
        rule.rule.replace("<order_id>", order_id)
        for rule in app.url_map.iter_rules()
        if rule.rule.startswith("/payment/") and "POST" in (rule.methods or ())
    ]
    assert len(posts) > 4
    for path in posts:
        answer = shop.client.post(path, json={"un_known": 1})
        found = {row["path"]: row["message"][:7] for row in answer.get_json()["error"]}
        assert answer.status_code == 400
        assert found["un_known"] == "Unknown", path
        (problem,) = shop.client.post(f"{path}?other=1", json={}).get_json()["error"]
        assert problem["path"] == "other"
