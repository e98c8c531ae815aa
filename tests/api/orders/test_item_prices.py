"""Prices of single items, and pictures of them: what is taken, what is refused, and where they are shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from flask.testing import FlaskClient

from tests.support.shop import LINK, Shop

PRICE = {"currency": "USDC", "amount": 42_500_000, "decimals": 6}


def item(amount: object, decimals: int = 6, *, quantity: int = 1, **more: object) -> dict[str, Any]:
    return {
        "title": "Tea",
        "quantity": quantity,
        "unit_price": {"amount": amount, "decimals": decimals, **more},
    }


def ask(shop: Shop, *items: dict[str, Any], **price: object) -> Any:
    return shop.post("/api/v1/payment_link", {**LINK, "line_items": items, "order_price": {**PRICE, **price}})


@pytest.mark.parametrize(
    "items",
    [
        (item(42_500_000),),
        (item("42500000"),),
        (item(425, 1),),
        (item(17_000_000, quantity=2), item(85, 1)),
        (item(42_500_000 * 10**12, 18),),
        (item(42_500_000), item(0)),
        (item(42_500_000, currency="USDC"),),
        (item(42_500_000, currency="usdc"),),
        (item(40_000_000), {"title": "Wrapping", "quantity": 1}),
        (item(42_500_000), {"title": "A gift", "quantity": 1}),
    ],
)
def test_prices_that_add_up_are_taken(shop: Shop, items: tuple[dict[str, Any], ...]) -> None:
    answer = ask(shop, *items)
    assert answer.status_code == 200, answer.get_json()
    order = shop.order(answer.get_json()["payment_order_id"])
    expected = []
    for given in items:
        price = {**given["unit_price"], "amount": str(given["unit_price"]["amount"])} if "unit_price" in given else None
        expected.append({**given, **({"unit_price": price} if price else {})})
    assert order["line_items"] == expected
    assert order["order_price"]["amount"] == 42_500_000


@pytest.mark.in_turns
@pytest.mark.parametrize(
    ("items", "path", "message"),
    [
        ((item(42_500_001),), "order_price.amount", "add up to 42.500001 USDC, the order's price is 42.500000 USDC"),
        ((item(42_499_999),), "order_price.amount", "add up to 42.499999 USDC"),
        ((item(425 * 10**29 + 1, 30),), "order_price.amount", "add up to 42.500000000000000000000000000001 USDC"),
        ((item(42_500_000, quantity=2),), "order_price.amount", "add up to 85.000000 USDC"),
        ((item(0),), "order_price.amount", "add up to 0.000000 USDC"),
        ((item(42_500_001), {"title": "Wrapping", "quantity": 1}), "order_price.amount", "add up to 42.500001 USDC"),
        ((item(2**256 - 1, 0, quantity=1_000_000),), "order_price.amount", "add up to 1157920892373161954235"),
        ((item(42_500_000, currency="DAI"),), "line_items.0.unit_price.currency", "Must be the order's, USDC"),
        ((item(5), item(6, currency="nothing")), "line_items.1.unit_price.currency", "Must be the order's, USDC"),
        (
            (item(42.5),),
            "line_items.0.unit_price.amount",
            'a price of 42.5 is written as "amount": 42500000, "decimals": 6',
        ),
        ((item(19.99 * 100, 2),), "line_items.0.unit_price.amount", 'round it: "amount": 1999'),
        ((item(-1),), "line_items.0.unit_price.amount", "a discount is a lower price of an item"),
        ((item("-1"),), "line_items.0.unit_price.amount", "digits 0-9"),
        ((item(2**256),), "line_items.0.unit_price.amount", "Must be 0 to 2^256-1"),
        ((item(True),), "line_items.0.unit_price.amount", "Expected integer"),
        ((item(1, 37),), "line_items.0.unit_price.decimals", "Must be 0 to 36"),
        ((item(1, currency=""),), "line_items.0.unit_price.currency", "Must have 1 to 32 characters"),
        ((item(1, quantitty=2),), "line_items.0.unit_price.quantitty", "Unknown; the known ones are amount"),
        (({"title": "Tea", "quantity": 1, "unit_price": {}},), "line_items.0.unit_price.amount", "Required"),
        (({"title": "Tea", "quantity": 1, "unit_price": 5},), "line_items.0.unit_price", "Expected object"),
        (({"title": "Tea", "quantity": 1, "price": 5},), "line_items.0.price", "Unknown"),
    ],
)
def test_prices_that_contradict_are_refused_by_name(
    shop: Shop, assert_error: Callable[..., None], items: tuple[dict[str, Any], ...], path: str, message: str
) -> None:
    answer = ask(shop, *items)
    assert_error(answer, 400)
    found = {row["path"]: row["message"] for row in answer.get_json()["error"]}
    assert message in found[path]


def test_a_refused_price_uses_up_no_idempotency_key(shop: Shop) -> None:
    bad = {**LINK, "line_items": [item(1)], "order_price": PRICE}
    good = {**bad, "line_items": [item(42_500_000)]}
    statuses = [shop.post("/api/v1/payment_link", body, Idempotency_Key="k").status_code for body in (bad, good, bad)]
    assert statuses == [400, 200, 422]


def test_an_item_without_a_price_stays_as_it_was(shop: Shop) -> None:
    plain = {"title": "Tea", "quantity": 2, "description": "Loose", "image_url": "https://img.example/tea.png"}
    assert shop.order(shop.create(line_items=[plain]))["line_items"] == [plain]


@pytest.mark.rule("input.17")
@pytest.mark.parametrize("url", ["http://img.example/tea.png", "HTTP://img.example/", "http://localhost:3000/x.png"])
def test_pictures_over_plain_http_are_for_test_orders_and_shown_on_no_page(
    shop: Shop, assert_error: Callable[..., None], url: str
) -> None:
    items = [{"title": "Pot", "quantity": 1}, {"title": "Tea", "quantity": 1, "image_url": url}]
    urls = {name: "https://shop.example/" for name in LINK if name.endswith("_callback_url")}
    body = {**LINK, **urls, "line_items": items}
    order_id = shop.post("/api/v1/payment_link", body).get_json()["payment_order_id"]
    assert shop.order(order_id)["line_items"] == items
    assert url not in shop.client.get(f"/payment/{order_id}").text
    refused = shop.post("/api/v1/payment_link", {**body, "env_mode": "live"}, env_mode="live")
    assert_error(refused, 400, {"line_items.1.image_url": "Plain http is for env_mode test only; use https"})


@pytest.mark.rule("errors.4")
def test_all_that_is_wrong_with_a_live_link_is_named_at_once(shop: Shop, assert_error: Callable[..., None]) -> None:
    items = ["tea", {"title": "Tea", "quantity": 0, "image_url": "http://img.example/"}]
    body = {**LINK, "line_items": items, "env_mode": "live", "success_callback_url": "http://shop.example/"}
    plain = "Plain http is for env_mode test only; use https"
    others = {name: plain for name in LINK if name.endswith("_callback_url") and LINK[name].startswith("http://")}
    assert_error(
        shop.post("/api/v1/payment_link", body, env_mode="live"),
        400,
        {
            "line_items.0": "Expected object, received string",
            "line_items.1.quantity": "Must be 1 to 1000000",
            "line_items.1.image_url": plain,
            "success_callback_url": plain,
            **others,
        },
    )


@pytest.mark.rule("errors.4")
def test_what_the_service_finds_wrong_is_named_at_once(shop: Shop, assert_error: Callable[..., None]) -> None:
    body = {
        **LINK,
        "line_items": [item(1)],
        "order_price": {**PRICE, "currency": "XYZ"},
        "expires_at": "2026-03-01T12:00:00Z",
    }
    answer = shop.post("/api/v1/payment_link", body)
    assert_error(answer, 400)
    named = [row["path"] for row in answer.get_json()["error"]]
    assert named == ["order_price.amount", "expires_at", "order_price.currency"]


def test_the_document_has_the_prices(client: FlaskClient) -> None:
    schemas = client.get("/openapi.json").get_json()["components"]["schemas"]
    price = schemas["NewUnitPrice"]
    assert set(price["properties"]) == {"amount", "decimals", "currency"}
    assert sorted(price["required"]) == ["amount", "decimals"]
    assert price["additionalProperties"] is False
    assert "unit_price" not in schemas["NewLineItem"]["required"]
