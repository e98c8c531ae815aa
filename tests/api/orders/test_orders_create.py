"""Creating payment links: what is answered, who may, and what is kept of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import func, select

from api.domain.money import UINT256_MAX
from api.storage.tables import WebhookEvent
from tests.support.links import LIVE, PATH, price
from tests.support.shop import LINK, Shop


@pytest.mark.rule("service.1", "links.1", "links.2", "money.3")
def test_the_answer_is_the_interfaces(shop: Shop) -> None:
    response = shop.post(PATH, LINK)
    assert response.status_code == 200
    order_id = response.get_json()["payment_order_id"]
    assert response.get_json() == {
        "payment_order_id": order_id,
        "payment_url": f"https://pay.example/payment/{order_id}",
        "expires_at": "2026-03-02T12:00:00.000Z",
        "order_price": {**LINK["order_price"], "amount_string": str(10**18)},
    }
    assert order_id.startswith("po_")


@pytest.mark.in_turns
@pytest.mark.rule("orders.3", "money.9", "money.10", "money.11", "money.12")
@pytest.mark.parametrize("amount", [1, 10**18, UINT256_MAX])
@pytest.mark.parametrize("kind", [int, str])
def test_an_amount_is_an_integer_or_a_digit_string(shop: Shop, amount: int, kind: type) -> None:
    order = shop.order(shop.create(order_price=price(amount=kind(amount))))
    assert order["order_price"] == {
        "currency": "USDC",
        "amount": amount,
        "decimals": 18,
        "amount_string": str(amount),
    }


@pytest.mark.rule("keys.11", "keys.16")
@pytest.mark.parametrize(("key_env", "link"), [("test", LIVE), ("live", LINK)])
def test_a_key_makes_links_of_its_own_environment(
    shop: Shop, assert_error: Callable[..., None], key_env: str, link: dict[str, Any]
) -> None:
    response = shop.post(PATH, link, env_mode=key_env)
    other = link["env_mode"]
    assert_error(response, 403, {"env_mode": f"This is a {key_env} key; use the vendor's {other} key"})


@pytest.mark.rule("links.7", "keys.3")
def test_a_link_needs_a_key(shop: Shop, assert_error: Callable[..., None]) -> None:
    assert_error(shop.client.post(PATH, json={}), 401, {"X-Api-Key": "Required"})
    response = shop.client.post(
        PATH, json={}, headers={"Authorization": f"Bearer {shop.merchant.headers()['X-Api-Key']}"}
    )
    hint = "Is not read here; send the key alone as X-Api-Key"
    assert_error(response, 401, {"X-Api-Key": "Required", "Authorization": hint})
    assert shop.merchant.headers()["X-Api-Key"] not in response.text


@pytest.mark.rule("service.3", "links.5", "links.9", "orders.1", "orders.2", "orders.4")
def test_everything_of_the_link_comes_back(shop: Shop) -> None:
    items = [
        {"title": "Tee ☕", "quantity": 2, "description": "", "image_url": "https://img.example/t.png"},
        {"title": "<script>", "quantity": 1_000_000},
    ]
    metadata = {"nested": {"list": [1, 2.5, None, True]}, "text": "日本"}
    order = shop.order(shop.create(line_items=items, metadata=metadata))
    assert order["line_items"] == items
    assert order["metadata"] == metadata
    assert {name: order[name] for name in LINK if name.endswith("_url")} == {
        name: value for name, value in LINK.items() if name.endswith("_url")
    }
    assert (order["payment_order_status"], order["env_mode"], order["transaction_hash"]) == ("created", "test", "")


@pytest.mark.rule("links.4")
def test_without_metadata_it_is_empty(shop: Shop) -> None:
    response = shop.post(PATH, {name: value for name, value in LINK.items() if name != "metadata"})
    assert shop.order(response.get_json()["payment_order_id"])["metadata"] == {}


@pytest.mark.rule("service.6", "events.2", "events.4", "events.5", "events.6", "events.7", "events.11", "events.18")
def test_creation_is_an_event(shop: Shop) -> None:
    order_id = shop.create()
    (event,) = shop.events(order_id)
    assert event == {
        "resource": "event",
        "type": "payment_processing",
        "created_at": "2026-03-01T12:00:00.000Z",
        "env_mode": "test",
        "data": {
            "payment_order_id": order_id,
            "metadata": {"cart": "7"},
            "transaction_hash": "",
            "payment_order_status": "created",
            "status_reason": "",
            "order_price": {**LINK["order_price"], "amount_string": str(10**18)},
            "amount_received": "0",
            "amount_due": "1000000",
            "transactions": [],
        },
    }


def test_a_refused_link_leaves_nothing(shop: Shop) -> None:
    shop.post(PATH, {**LINK, "order_price": price(currency="XYZ")})
    with shop.resources.database.read() as session:
        assert session.scalar(select(func.count()).select_from(WebhookEvent)) == 0
