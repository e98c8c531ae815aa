"""What the OpenAPI document has to say of every operation, also of one that is added tomorrow."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from api.domain.events import EventType
from api.domain.orders import OrderStatus, StatusReason
from api.domain.scopes import Scope
from api.openapi.document import list_operations
from api.openapi.examples import FOLDER
from api.openapi.refusals import IDEMPOTENCY
from tests.support.contract import read_document

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True, scope="session")

OPERATION_ID = re.compile(r"[a-z]+[A-Z][A-Za-z]+")
EVERYWHERE = {"X-Request-Id", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"}


@pytest.fixture
def document(app: Flask) -> dict[str, Any]:
    return read_document(app)


def test_who_asks_at_once_gets_the_whole_document_that_nobody_wanted_before(
    make_app: Callable[[], Flask], document: dict[str, Any]
) -> None:
    app, start = make_app(), Barrier(4)
    assert app.extensions["flask-smorest"]["apis"][""]["ext_obj"].spec.to_dict()["paths"] == {}

    def ask(_: int) -> dict[str, Any]:
        start.wait()
        return read_document(app)

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(ask, range(4))) == [document] * 4


def resolve(document: dict[str, Any], value: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in value:
        return value
    found: Any = document
    for part in value["$ref"].removeprefix("#/").split("/"):
        found = found[part]
    return dict(found)


def test_every_operation_has_a_name_a_tag_words_and_security(document: dict[str, Any]) -> None:
    names = []
    for path, method, operation in list_operations(document):
        where = f"{method} {path}"
        names.append(operation["operationId"])
        assert OPERATION_ID.fullmatch(operation["operationId"]), where
        assert operation["tags"], where
        assert set(operation["tags"]) <= {tag["name"] for tag in document["tags"]}, where
        assert operation["summary"], where
        assert operation["security"][0].keys() == {"ApiKey"}, where
        assert set(operation["security"][0]["ApiKey"]) <= {*Scope}, where
        assert operation["security"][1:] in ([], [{}]), where
    assert len(set(names)) == len(names) > 20


@pytest.mark.rule("limits.4", "errors.11")
def test_every_operation_shows_its_errors_and_headers(document: dict[str, Any]) -> None:
    for path, method, operation in list_operations(document):
        where, responses = f"{method} {path}", operation["responses"]
        expected = {"400", "401", "429", "500", "503"}
        expected |= {"404"} if "{" in path else set()
        expected |= {"413", "415"} if method != "get" else set()
        is_repeatable = any(each["name"] == IDEMPOTENCY for each in operation["parameters"])
        expected |= {"409", "422"} if is_repeatable else set()
        assert expected <= responses.keys(), where
        for status, response in responses.items():
            shown = resolve(document, response)
            assert shown["description"], where
            assert shown["headers"].keys() >= EVERYWHERE, where
            assert ("Retry-After" in shown["headers"]) == (status in {"409", "429", "503"}), where
            if status >= "400":
                media = shown["content"]["application/json"]
                assert media["schema"] == {"$ref": "#/components/schemas/Error"}, where
                assert media["example"]["code"] == status, where


def test_every_body_and_answer_has_an_example(document: dict[str, Any]) -> None:
    for path, method, operation in list_operations(document):
        bodies = [operation.get("requestBody", {}), operation["responses"]["200"]]
        media = [each for body in bodies for each in body.get("content", {}).values()]
        assert media, f"{method} {path}"
        assert all(each.get("example") is not None for each in media), f"{method} {path} lacks an example"
    names = {operation["operationId"] for _, _, operation in list_operations(document)} | {"event"}
    assert {file.stem for file in FOLDER.iterdir()} <= names, "examples of operations that are gone"


@pytest.mark.rule("operation.2")
def test_every_parameter_and_property_is_described(document: dict[str, Any]) -> None:
    for path, method, operation in list_operations(document):
        for parameter in operation["parameters"]:
            assert parameter.get("description"), f"{method} {path}: {parameter['name']}"
    for name, schema in document["components"]["schemas"].items():
        assert schema.get("description"), name
        for inner, described in schema.get("properties", {}).items():
            assert described.get("description"), f"{name}.{inner}"
    for name, header in document["components"]["headers"].items():
        assert header["description"], name


def test_words_are_enumerations_with_a_name(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    assert schemas["OrderStatus"]["enum"] == [*OrderStatus]
    assert schemas["StatusReason"]["enum"] == [*StatusReason]
    assert schemas["EventType"]["enum"] == [*EventType]
    status = schemas["PaymentOrder"]["properties"]["payment_order_status"]
    assert status["$ref"] == "#/components/schemas/OrderStatus"


@pytest.mark.rule("events.3")
def test_every_type_of_event_is_a_webhook(document: dict[str, Any]) -> None:
    assert set(document["webhooks"]) == {*EventType}
    for kind, item in document["webhooks"].items():
        media = item["post"]["requestBody"]["content"]["application/json"]
        assert media["example"]["event"]["type"] == kind
        assert item["post"]["summary"]


@pytest.mark.rule("money.8", "money.11", "routes.3", "routes.6")
def test_amounts_and_chains_have_the_types_of_the_interface(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    given = schemas["NewOrderPrice"]["properties"]["amount"]
    assert [each["type"] for each in given["oneOf"]] == ["integer", "string"]
    assert schemas["OrderPrice"]["properties"]["amount"]["type"] == "integer"
    assert schemas["OrderPrice"]["properties"]["amount_string"]["type"] == "string"
    asked = schemas["RouteQuery"]["properties"]["fromChainId"]
    assert [each["type"] for each in asked["oneOf"]] == ["integer", "string"]
    assert schemas["Step"]["properties"]["fromChainId"]["type"] == "integer"
    assert {"type": "null"} in schemas["PaymentOrder"]["properties"]["settlement"]["anyOf"]


def test_requests_are_closed_and_answers_are_open(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    asked = {name for name, schema in schemas.items() if schema.get("additionalProperties") is False}
    assert {"NewPaymentLink", "NewRefund", "NewSubscription", "RouteQuery"} <= asked
    assert not asked & {"PaymentOrder", "Route", "Quote", "Event", "Error"}


def test_no_default_is_null(document: dict[str, Any]) -> None:
    assert not [where for where, value in walk(document, "") if where.endswith("/default") and value is None]


def walk(value: Any, where: str) -> Iterator[tuple[str, Any]]:
    yield where, value
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, inner in pairs:
        yield from walk(inner, f"{where}/{name}")


@pytest.mark.rule("operation.1")
def test_the_document_is_the_one_that_is_served(client: FlaskClient, document: dict[str, Any]) -> None:
    assert client.get("/openapi.json").get_json() == document
