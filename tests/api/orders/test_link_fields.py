"""The fields of a payment link: what is missing or wrong is named, and what is at its bounds is taken."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import func, select

from api.domain.clock import format_time
from api.domain.money import UINT256_MAX
from api.storage.tables import PaymentOrder
from tests.api.conftest import START
from tests.support.links import PATH, price, with_item
from tests.support.shop import LINK, Shop


@pytest.mark.rule("links.3", "errors.2", "errors.3", "errors.4", "errors.5")
def test_missing_properties_to_the_letter(shop: Shop) -> None:
    response = shop.post(PATH, {})
    assert response.status_code == 400
    assert response.get_data(as_text=True).strip() == (
        '{"message": "Invalid request data", "code": "400", "error": ['
        '{"path": "line_items", "message": "Required"}, '
        '{"path": "order_price", "message": "Required"}, '
        '{"path": "env_mode", "message": "Required"}, '
        '{"path": "success_callback_url", "message": "Required"}, '
        '{"path": "cancel_callback_url", "message": "Required"}, '
        '{"path": "failure_callback_url", "message": "Required"}]}'
    )


@pytest.mark.rule("links.8", "links.10", "errors.6")
def test_missing_nested_properties_are_dotted_paths(shop: Shop, assert_error: Callable[..., None]) -> None:
    body = {**LINK, "line_items": [{"title": "Tea"}, {"quantity": 1}], "order_price": {}}
    expected = dict.fromkeys(
        [
            "line_items.0.quantity",
            "line_items.1.title",
            "order_price.currency",
            "order_price.amount",
            "order_price.decimals",
        ],
        "Required",
    )
    response = shop.post(PATH, body)
    assert_error(response, 400, expected)
    assert [row["path"] for row in response.get_json()["error"]] == list(expected)


@pytest.mark.in_turns
@pytest.mark.rule(
    "links.6",
    "links.11",
    "links.15",
    "links.16",
    "links.17",
    "links.18",
    "links.20",
    "links.21",
    "money.10",
    "money.13",
    "input.2",
    "input.9",
)
@pytest.mark.parametrize(
    ("body", "path", "message"),
    [
        ({**LINK, "line_items": []}, "line_items", "Must have 1 to 100 items"),
        ({**LINK, "line_items": [LINK["line_items"][0]] * 101}, "line_items", "Must have 1 to 100 items"),
        ({**LINK, "line_items": {}}, "line_items", "Expected array, received object"),
        ({**LINK, "line_items": ["Tea"]}, "line_items.0", "Expected object, received string"),
        (with_item(title=""), "line_items.0.title", "Must have 1 to 200 characters"),
        (with_item(title="x" * 201), "line_items.0.title", "Must have 1 to 200 characters"),
        (with_item(title="\x00"), "line_items.0.title", "Text must not contain NUL or a lone surrogate"),
        (with_item(description="x" * 801), "line_items.0.description", "Must have 0 to 800 characters"),
        (with_item(quantity=0), "line_items.0.quantity", "Must be 1 to 1000000"),
        (with_item(quantity=1_000_001), "line_items.0.quantity", "Must be 1 to 1000000"),
        (with_item(quantity=True), "line_items.0.quantity", "Expected integer, received boolean"),
        (with_item(quantity="1"), "line_items.0.quantity", "Expected integer, received string"),
        (
            with_item(image_url="javascript:alert(1)"),
            "line_items.0.image_url",
            "Expected a URL that starts with https:// or http:// and names a host",
        ),
        (
            {**LINK, "order_price": price(amount=0)},
            "order_price.amount",
            "Must be 1 to 2^256-1; an order that costs nothing needs no payment link",
        ),
        ({**LINK, "order_price": price(amount=-1)}, "order_price.amount", "Must be 1 to 2^256-1"),
        ({**LINK, "order_price": price(amount=UINT256_MAX + 1)}, "order_price.amount", "Must be 1 to 2^256-1"),
        (
            {**LINK, "order_price": price(amount="1e18")},
            "order_price.amount",
            "Expected at most 78 digits 0-9 and nothing else",
        ),
        (
            {**LINK, "order_price": price(amount="٣")},
            "order_price.amount",
            "Expected at most 78 digits 0-9 and nothing else",
        ),
        (
            {**LINK, "order_price": price(amount=1.5)},
            "order_price.amount",
            "Expected integer or digit string, received number; a price of 1.5 is written as "
            '"amount": 1500000000000000000, "decimals": 18',
        ),
        (
            {**LINK, "order_price": price(amount="25.50")},
            "order_price.amount",
            "Expected at most 78 digits 0-9 and nothing else; a price of 25.50 is written as "
            '"amount": 25500000000000000000, "decimals": 18',
        ),
        (
            {**LINK, "order_price": price(amount="25.505", decimals=2)},
            "order_price.amount",
            "Expected at most 78 digits 0-9 and nothing else; a price of 25.505 is written as "
            '"amount": 25505, "decimals": 3',
        ),
        (
            {**LINK, "order_price": price(amount=19.99 * 100, decimals=2)},
            "order_price.amount",
            'Expected integer or digit string, received number; round it: "amount": 1999',
        ),
        ({**LINK, "order_price": price(decimals=37)}, "order_price.decimals", "Must be 0 to 36"),
        ({**LINK, "order_price": price(decimals=-1)}, "order_price.decimals", "Must be 0 to 36"),
        ({**LINK, "env_mode": "prod"}, "env_mode", "Expected 'test' or 'live'"),
        (
            {**LINK, "cancel_callback_url": "https://user:pw@shop.example"},
            "cancel_callback_url",
            "A URL must not contain a user name or password",
        ),
        ({**LINK, "metadata": [1]}, "metadata", "Expected object, received array"),
        (
            {**LINK, "metadata": {str(number): 1 for number in range(51)}},
            "metadata",
            "Must have at most 50 keys",
        ),
        ({**LINK, "metadata": {"x": "y" * 16_384}}, "metadata", "Must be at most 16384 bytes of JSON"),
        (
            {**LINK, "expires_at": "tomorrow"},
            "expires_at",
            "Expected a moment in ISO 8601 with a time zone, written as YYYY-MM-DDThh:mm:ssZ",
        ),
        (
            {**LINK, "expires_at": "2026-03-01T18:00:00"},
            "expires_at",
            "Expected a moment in ISO 8601 with a time zone, written as YYYY-MM-DDThh:mm:ssZ",
        ),
        ({**LINK, "expires_at": 7}, "expires_at", "Expected string, received number"),
    ],
)
def test_bad_input_is_named(
    shop: Shop, assert_error: Callable[..., None], body: dict[str, Any], path: str, message: str
) -> None:
    assert_error(shop.post(PATH, body), 400, {path: message})
    with shop.resources.database.read() as session:
        assert session.scalar(select(func.count()).select_from(PaymentOrder)) == 0


@pytest.mark.rule("input.10")
def test_plain_http_is_for_test_links(shop: Shop, assert_error: Callable[..., None]) -> None:
    response = shop.post(PATH, {**LINK, "env_mode": "live"}, env_mode="live")
    message = "Plain http is for env_mode test only; use https"
    names = ["success_callback_url", "cancel_callback_url", "failure_callback_url"]
    assert_error(response, 400, dict.fromkeys(names, message))


@pytest.mark.rule("expiry.1", "expiry.2")
def test_expiry_is_a_day_or_what_was_asked_for(shop: Shop) -> None:
    assert shop.order(shop.create())["expires_at"] == format_time(START + timedelta(hours=24))
    assert shop.order(shop.create(expires_at="2026-03-01T14:30:00+02:00"))["expires_at"] == "2026-03-01T12:30:00.000Z"
    assert shop.order(shop.create(expires_at="2026-03-31T12:00:00Z"))["expires_at"] == "2026-03-31T12:00:00.000Z"


@pytest.mark.rule("expiry.2")
@pytest.mark.parametrize("asked", ["2026-03-01T12:29:59Z", "2026-03-31T12:00:01Z", "0001-01-01T00:00:00+14:00"])
def test_expiry_has_bounds(shop: Shop, assert_error: Callable[..., None], asked: str) -> None:
    response = shop.post(PATH, {**LINK, "expires_at": asked})
    assert_error(response, 400)
    assert response.get_json()["error"][0]["path"] == "expires_at"


@pytest.mark.rule("links.15", "links.16", "links.17", "links.18", "links.19", "links.20", "links.21", "money.13")
@pytest.mark.parametrize("quantity", [1, 1_000_000])
@pytest.mark.parametrize("decimals", [0, 36])
def test_everything_at_its_bounds_is_taken(shop: Shop, quantity: int, decimals: int) -> None:
    long = {"title": "x" * 200, "description": "y" * 800, "quantity": quantity}
    start, room = "https://img.example/", 16_384
    metadata: dict[str, str] = {f"{number:02}": "" for number in range(50)}
    metadata["00"] = "z" * (room - len(json.dumps(metadata, separators=(",", ":"))))
    made = shop.create(
        line_items=[{**long, "image_url": start + "i" * (2048 - len(start))}, *[{"title": "t", "quantity": 1}] * 99],
        order_price=price(decimals=decimals),
        success_callback_url=start + "s" * (2048 - len(start)),
        metadata=metadata,
    )
    order = shop.order(made)
    assert len(order["line_items"]) == 100
    assert order["metadata"] == metadata
    assert (len(order["success_callback_url"]), len(order["line_items"][0]["image_url"])) == (2048, 2048)
    one_more = shop.post(PATH, {**LINK, "metadata": {**metadata, "00": metadata["00"] + "z"}})
    assert [row["path"] for row in one_more.get_json()["error"]] == ["metadata"]
