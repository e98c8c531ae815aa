"""The error body, on everything that can be wrong with a request."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy.exc import OperationalError

from api.bodies.request_body import parse_object
from api.domain.errors import InvalidData
from api.services.resources import Resources
from api.storage.db import Database
from tests.api.probe import URL, body, probe_app

Check = Callable[..., None]


@pytest.fixture
def probe(resources: Resources, standing: Callable[..., Flask]) -> FlaskClient:
    return standing("probe", resources, probe_app).test_client()


def test_a_valid_body_is_taken(probe: FlaskClient) -> None:
    response = probe.post(URL, json=body(chain="8453", token="0x" + "aB" * 20, metadata={"a": [1, {"b": "ü"}]}))
    assert response.status_code == 200
    answer = response.get_json()
    assert answer["price"] == {"currency": "USDC", "amount": str(10**18)}
    assert answer["token"] == "0x" + "ab" * 20
    assert answer["metadata"] == {"a": [1, {"b": "ü"}]}


@pytest.mark.rule("errors.3")
def test_missing_properties_each_get_an_entry_to_the_letter(probe: FlaskClient) -> None:
    response = probe.post(URL, json={})
    assert response.status_code == 400
    assert response.get_json() == {
        "message": "Invalid request data",
        "code": "400",
        "error": [{"path": name, "message": "Required"} for name in ("env_mode", "url", "price", "items")],
    }


@pytest.mark.parametrize("raw", [b"", b"  \n"])
def test_an_empty_body_names_what_is_required(probe: FlaskClient, assert_error: Check, raw: bytes) -> None:
    required = dict.fromkeys(("env_mode", "url", "price", "items"), "Required")
    assert_error(probe.post(URL, data=raw), 400, required)


@pytest.mark.rule("errors.6")
def test_nested_properties_have_dotted_paths(probe: FlaskClient, assert_error: Check) -> None:
    items = [{"title": "Tea", "quantity": 1}, {"quantity": True}, {"title": 5, "quantity": 1001}]
    assert_error(
        probe.post(URL, json=body(price={}, items=items)),
        400,
        {
            "price.currency": "Required",
            "price.amount": "Required",
            "items.1.title": "Required",
            "items.1.quantity": "Expected integer, received boolean",
            "items.2.title": "Expected string, received number",
            "items.2.quantity": "Must be 1 to 1000",
        },
    )


@pytest.mark.in_turns
@pytest.mark.rule("errors.7")
@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"{", "Malformed JSON at line 1, column 2"),
        (b'{"a": 1,}', "Malformed JSON at line 1"),
        (b"{'a': 1}", "Malformed JSON at line 1, column 2"),
        (b'{"a": NaN}', "Malformed JSON: NaN is not a JSON value"),
        (b'{"a": -Infinity}', "Malformed JSON: -Infinity"),
        (b'{"a": 1e400}', "beyond the range of a double"),
        (b'{"a": ' + b"9" * 5000 + b"}", "too many digits"),
        (b"[" * 60_000, "nested too deeply"),
        (b'{"a":' * 10_000, "nested too deeply"),
        (b'\xff{"a": 1}', "not UTF-8"),
        (b'{"a": "\xc3"}', "not UTF-8"),
        (b"\x00", "Malformed JSON"),
        ('{"a": 1}'.encode("utf-16"), "not UTF-8"),
    ],
)
def test_bodies_that_are_not_json(probe: FlaskClient, raw: bytes, message: str) -> None:
    response = probe.post(URL, data=raw, content_type="application/json")
    assert response.status_code == 400
    (row,) = response.get_json()["error"]
    assert row["path"] == ""
    assert message in row["message"]


@pytest.mark.in_turns
@pytest.mark.rule("errors.7")
@pytest.mark.parametrize(
    ("value", "name"),
    [([], "array"), ([1], "array"), ("x", "string"), (7, "number"), (1.5, "number"), (True, "boolean"), (None, "null")],
)
def test_bodies_that_are_no_object(probe: FlaskClient, assert_error: Check, value: Any, name: str) -> None:
    raw = json.dumps(value)
    response = probe.post(URL, data=raw, content_type="application/json")
    assert_error(response, 400, {"": f"Expected object, received {name}"})


@pytest.mark.rule("service.8")
def test_a_body_that_is_not_declared_json(probe: FlaskClient, assert_error: Check) -> None:
    for content_type in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        assert_error(probe.post(URL, data=json.dumps(body()), content_type=content_type), 415, {})
    assert probe.post(URL, data=json.dumps(body()), content_type="application/vnd.api+json").status_code == 200


@pytest.mark.rule("input.1")
def test_a_body_that_is_too_large(probe: FlaskClient, assert_error: Check) -> None:
    assert_error(probe.post(URL, json=body(metadata={"a": "x" * 70_000})), 413, {})


@pytest.mark.rule("input.3", "errors.8")
def test_unknown_address_and_wrong_method(probe: FlaskClient, assert_error: Check) -> None:
    assert_error(probe.get("/v1/nothing"), 404, {})
    assert_error(probe.get("/api/v1/%00"), 404, {})
    response = probe.put(URL, json=body())
    assert_error(response, 405, {})
    assert set(response.headers["Allow"].split(", ")) == {"POST", "OPTIONS"}


@pytest.mark.rule("errors.1", "errors.2")
@pytest.mark.parametrize("code", ["403", "404", "409", "422", "503"])
def test_refusals_have_their_status(probe: FlaskClient, assert_error: Check, code: str) -> None:
    response = probe.get(f"/v1/probe/refuse/{code}")
    assert_error(response, int(code), {})
    assert response.get_json()["message"] == "No"
    assert response.headers.get("Retry-After") == ("7" if code == "503" else None)


@pytest.mark.rule("errors.1", "errors.9")
def test_a_defect_of_ours_says_nothing_about_itself(probe: FlaskClient, assert_error: Check) -> None:
    response = probe.get("/v1/probe/refuse/unknown")  # the probe fails with KeyError
    assert_error(response, 500, {})
    assert b"KeyError" not in response.data


@pytest.mark.rule("input.3")
def test_query_parameters(probe: FlaskClient, assert_error: Check) -> None:
    assert probe.get("/v1/probe/filter?chain=10&search=x").get_json() == {"chain": 10, "search": "x"}
    assert_error(probe.get("/v1/probe/filter"), 400, {"chain": "Required"})
    long = {"chain": "Must be 1 to 9007199254740991", "search": "Must have 1 to 10 characters"}
    assert_error(probe.get("/v1/probe/filter?chain=0&search=" + "x" * 11), 400, long)
    nul = {"search": "Text must not contain NUL or a lone surrogate"}
    assert_error(probe.get("/v1/probe/filter?chain=1&search=%00"), 400, nul)
    encoding = "Text must be UTF-8 before it is percent-encoded"
    assert_error(probe.get("/v1/probe/filter?chain=%FF"), 400, {"chain": encoding})
    assert_error(probe.get("/v1/probe/filter?chain=1&search=caf%E9"), 400, {"search": encoding})
    assert_error(probe.get("/v1/probe/filter?chain=1&caf%E9=x"), 400, {"caf\ufffd": encoding})
    assert probe.get("/v1/probe/filter?chain=1&search=caf%C3%A9").get_json() == {"chain": 1, "search": "café"}


@pytest.mark.rule("errors.11")
def test_a_request_id_is_given_or_kept(probe: FlaskClient) -> None:
    assert probe.get("/healthz").headers["X-Request-Id"].startswith("req_")
    kept = probe.get("/healthz", headers={"X-Request-Id": "order-7.a"})
    assert kept.headers["X-Request-Id"] == "order-7.a"
    replaced = probe.get("/healthz", headers={"X-Request-Id": "a b;<script>"})
    assert replaced.headers["X-Request-Id"].startswith("req_")


@pytest.mark.rule("errors.10")
def test_a_database_that_does_not_answer_is_503(resources: Resources, assert_error: Check) -> None:
    database = Database("postgresql+psycopg://nobody@127.0.0.1:1/none")
    client = probe_app(replace(resources, database=database)).test_client()
    for response in (client.post("/v1/probe/slow-write"), client.get("/readyz")):
        assert_error(response, 503, {})
        assert int(response.headers["Retry-After"]) > 0
    assert client.get("/healthz").status_code == 200
    key = {"X-Api-Key": "sk_test_" + "a" * 43}
    assert_error(client.get("/v1/probe/public", headers=key), 503, {})
    with pytest.raises(OperationalError):
        database.engine.connect()


def test_nesting_is_bounded_whatever_the_interpreter_allows() -> None:
    """Libraries raise Python's limit (eth_account does), until a text of brackets ends the process."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(100_000)
    try:
        for text in ("[" * 60_000, '{"a":' * 10_000):
            with pytest.raises(InvalidData) as refused:
                parse_object(text)
            assert "nested too deeply" in refused.value.problems[0].message
    finally:
        sys.setrecursionlimit(before)
    assert parse_object('{"a": "' + "[" * 1_000 + '"}') == {"a": "[" * 1_000}


@pytest.mark.rule("input.1")
def test_a_body_of_just_the_limit_is_taken(probe: FlaskClient, assert_error: Check) -> None:
    text, limit = json.dumps(body()), 64 * 1024
    for size, status in ((limit, 200), (limit + 1, 413)):
        answer = probe.post(URL, data=text.ljust(size), content_type="application/json")
        assert answer.status_code == status
    assert_error(answer, 413, {})
