"""What each field takes and refuses, with the words for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from marshmallow import ValidationError

from api.schemas.base import BaseSchema
from api.schemas.orders.payment_links import EXAMPLE, NewPaymentLinkSchema
from api.services.resources import Resources
from tests.api.probe import URL, body, probe_app

Check = Callable[..., None]


@pytest.fixture
def probe(resources: Resources, standing: Callable[..., Flask]) -> FlaskClient:
    return standing("probe", resources, probe_app).test_client()


@pytest.mark.in_turns
@pytest.mark.rule("errors.4")
@pytest.mark.parametrize(
    ("changes", "path", "message"),
    [
        ({"env_mode": "prod"}, "env_mode", "Expected 'test' or 'live'"),
        ({"env_mode": None}, "env_mode", "Expected 'test' or 'live', received null"),
        ({"env_mode": []}, "env_mode", "Expected 'test' or 'live', received array"),
        ({"price": [1]}, "price", "Expected object, received array"),
        ({"price": None}, "price", "Expected object, received null"),
        ({"items": {}}, "items", "Expected array, received object"),
        ({"items": []}, "items", "Must have 1 to 3 items"),
        ({"items": [7]}, "items.0", "Expected object, received number"),
        ({"items": [{"title": "x", "quantity": 1}] * 4}, "items", "Must have 1 to 3 items"),
        ({"items": [{}] * 4}, "items", "Must have 1 to 3 items"),
        ({"items": [{"title": "", "quantity": 1}]}, "items.0.title", "Must have 1 to 20 characters"),
        ({"items": [{"title": "x" * 21, "quantity": 1}]}, "items.0.title", "Must have 1 to 20 characters"),
        ({"items": [{"title": "x", "quantity": "1"}]}, "items.0.quantity", "Expected integer, received string"),
        ({"items": [{"title": "x", "quantity": 1.0}]}, "items.0.quantity", "Expected integer, received number"),
        ({"items": [{"title": "x", "quantity": 10**4000}]}, "items.0.quantity", "Must be 1 to 1000"),
        ({"metadata": []}, "metadata", "Expected object, received array"),
        ({"metadata": {str(n): n for n in range(51)}}, "metadata", "Must have at most 50 keys"),
        ({"metadata": {"a": "ü" * 9000}}, "metadata", "Must be at most 16384 bytes of JSON"),
        ({"chain": "base"}, "chain", "Expected at most 16 digits 0-9 and nothing else"),
        ({"chain": 0}, "chain", "Must be 1 to 9007199254740991"),
        ({"chain": True}, "chain", "Expected integer or digit string, received boolean"),
        ({"token": "0x123"}, "token", "Expected an address: 0x and 40 hexadecimal digits"),
        ({"token": "0x" + "١" * 40}, "token", "Expected an address: 0x and 40 hexadecimal digits"),
    ],
)
def test_each_offending_property_is_named(
    probe: FlaskClient, assert_error: Check, changes: dict[str, Any], path: str, message: str
) -> None:
    assert_error(probe.post(URL, json=body(**changes)), 400, {path: message})


DIGITS = "Expected at most 78 digits 0-9 and nothing else"
RANGE = "Must be 1 to 2^256-1"


@pytest.mark.in_turns
@pytest.mark.rule("money.10")
@pytest.mark.parametrize(
    ("amount", "message"),
    [
        (0, RANGE),
        (-1, RANGE),
        (2**256, RANGE),
        (10**4000, RANGE),
        ("0", RANGE),
        (str(2**256), RANGE),
        ("", DIGITS),
        ("-1", DIGITS),
        ("+1", DIGITS),
        (" 1", DIGITS),
        ("1\n", DIGITS),
        ("1_0", DIGITS),
        ("1.0", DIGITS),
        ("1e18", DIGITS),
        ("0x10", DIGITS),
        ("٣", DIGITS),
        ("9" * 79, DIGITS),
        ("9" * 40_000, DIGITS),
        (1.0, "Expected integer or digit string, received number"),
        (True, "Expected integer or digit string, received boolean"),
        ([], "Expected integer or digit string, received array"),
    ],
)
def test_bad_amounts(probe: FlaskClient, assert_error: Check, amount: Any, message: str) -> None:
    response = probe.post(URL, json=body(price={"currency": "USDC", "amount": amount}))
    assert_error(response, 400, {"price.amount": message})


@pytest.mark.rule("money.9")
@pytest.mark.parametrize("amount", [1, 2**53 + 1, 2**256 - 1])
def test_amounts_may_be_integers_or_digit_strings(probe: FlaskClient, amount: int) -> None:
    for given in (amount, str(amount)):
        response = probe.post(URL, json=body(price={"currency": "USDC", "amount": given}))
        assert response.get_json()["price"]["amount"] == str(amount)


@pytest.mark.in_turns
@pytest.mark.rule("links.19", "input.8", "input.9")
@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "data:text/html,x",
        "ftp://shop.example/",
        "//shop.example/ok",
        "/ok",
        "https://",
        "https:///path",
        "https://user:secret@shop.example/",
        "https://user@shop.example/",
        "https://shop.example\\@evil.example/",
        "https://shop.example/a b",
        "https://shop.example/\n",
        "java\tscript:alert(1)",
        "http://[::1",
        "http://shop.example:99999/",
        "http://shop.example:x/",
        "https://shop.example/\x00",
        "https://shop.example/\ud800",
        "https://shop.example/" + "a" * 2048,
    ],
)
def test_bad_urls(probe: FlaskClient, url: str) -> None:
    response = probe.post(URL, json=body(url=url))
    assert response.status_code == 400
    assert [row["path"] for row in response.get_json()["error"]] == ["url"]


@pytest.mark.rule("input.10")
def test_plain_http_is_for_the_test_environment(probe: FlaskClient, assert_error: Check) -> None:
    message = "Plain http is for env_mode test only; use https"
    assert_error(probe.post(URL, json=body(env_mode="live", url="HTTP://shop.example/")), 400, {"url": message})
    assert probe.post(URL, json=body(env_mode="live", url="https://shop.example/")).status_code == 200
    both = {"url": message, "price": "Required"}
    assert_error(probe.post(URL, json=body(env_mode="live", url="http://x.example", price=...)), 400, both)


@pytest.mark.rule("input.2")
@pytest.mark.parametrize("text", ["a\x00b", "\ud800", "x\udfff"])
def test_text_that_no_database_keeps(probe: FlaskClient, assert_error: Check, text: str) -> None:
    message = "Text must not contain NUL or a lone surrogate"
    assert_error(probe.post(URL, json=body(price={"currency": text, "amount": 1})), 400, {"price.currency": message})
    for metadata in ({"a": text}, {text: 1}, {"a": [{"b": {text: "c"}}]}, {"a": [[text]]}):
        assert_error(probe.post(URL, json=body(metadata=metadata)), 400, {"metadata": message})


def test_an_escaped_backslash_is_no_nul(probe: FlaskClient) -> None:
    assert probe.post(URL, json=body(metadata={"a": "\\u0000"})).status_code == 200


def test_metadata_may_not_be_nested_without_end(probe: FlaskClient, assert_error: Check) -> None:
    deep: Any = 1
    for _ in range(300):
        deep = {"a": deep}
    assert_error(probe.post(URL, json=body(metadata=deep)), 400, {"metadata": "Must not be nested more than 20 deep"})


LINKS: Mapping[str, Any] = {
    "right": {},
    "a property is missing": {"env_mode": None},
    "several are wrong": {"env_mode": "tset", "line_items": [], "expires_at": 7, "metadata": []},
    "nothing is known of two": {"envmode": "test", "data": 1},
    "an object within is wrong": {"order_price": {"currency": "", "amount": -1, "decimal": 6}},
    "objects of a list are wrong": {"line_items": [{"title": "Tea", "quantity": 0}, 7, {"titel": "Tea"}]},
    "no object where one has to be": {"order_price": []},
}


@pytest.mark.parametrize("change", LINKS.values(), ids=LINKS)
@pytest.mark.parametrize("many", [False, True], ids=["one", "several"])
def test_a_body_is_read_as_marshmallow_reads_it(change: Any, many: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def read() -> tuple[Any, Any]:
        try:
            return NewPaymentLinkSchema(many=many).load([body, {}] if many else body), None
        except ValidationError as error:
            return error.valid_data, error.messages

    body = {name: value for name, value in (EXAMPLE | change).items() if value is not None}
    ours = read()
    monkeypatch.delattr(BaseSchema, "_deserialize")
    assert ours == read()
    assert ours[1] or not change
