"""Reading, listing and cancelling orders, and who may."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from api.domain.errors import NotFound
from api.services.orders.views import load_public_order
from tests.api.conftest import Merchant
from tests.support.shop import LINK, Shop

ACTIONS = ["cancel", "refund", "simulate"]


@pytest.mark.rule("orders.8")
def test_an_unknown_order_is_not_found(shop: Shop, assert_error: Callable[..., None]) -> None:
    for order_id in ("po_nothing", "x", "%F0%9F%8D%B5", "po_" + "0" * 500):
        assert_error(shop.get(f"/api/v1/payment/{order_id}"), 404)


@pytest.mark.rule("service.7", "keys.14", "keys.15")
def test_another_vendor_and_the_other_environment_see_nothing(
    shop: Shop, other_merchant: Merchant, assert_error: Callable[..., None]
) -> None:
    order_id = shop.create()
    for headers in (other_merchant.headers(), shop.merchant.headers("live"), other_merchant.headers("live")):
        path = f"/api/v1/payment/{order_id}"
        assert_error(shop.client.get(path, headers=headers), 404)
        for action in ACTIONS:
            body = {"action": "pay"} if action == "simulate" else {}
            assert_error(shop.client.post(f"{path}/{action}", json=body, headers=headers), 404)
        assert shop.client.get("/api/v1/payment", headers=headers).get_json()["data"] == []
    assert shop.history(order_id) == ["created/"]


@pytest.mark.rule("orders.7", "keys.3")
def test_every_address_needs_a_key(shop: Shop, assert_error: Callable[..., None]) -> None:
    path = f"/api/v1/payment/{shop.create()}"
    assert_error(shop.client.get(path), 401)
    assert_error(shop.client.get("/api/v1/payment"), 401)
    for action in ACTIONS:
        assert_error(shop.client.post(f"{path}/{action}", json={"action": "pay"}), 401)


def page(shop: Shop, **query: object) -> dict[str, Any]:
    response = shop.client.get("/api/v1/payment", query_string=query, headers=shop.merchant.headers())
    assert response.status_code == 200, response.get_json()
    body: dict[str, Any] = response.get_json()
    return body


@pytest.mark.rule("orders.9")
def test_the_list_is_complete_newest_first_page_by_page(shop: Shop) -> None:
    made = []
    for _ in range(7):
        made.append(shop.create())
        shop.clock.advance(seconds=1)
    found: list[str] = []
    cursor: dict[str, str] = {}
    for size in (3, 3, 1):
        answer = page(shop, limit=3, **cursor)
        assert len(answer["data"]) == size
        found += [row["payment_order_id"] for row in answer["data"]]
        cursor = {"cursor": answer["next_cursor"]}
    assert answer["next_cursor"] is None
    assert found == made[::-1]
    assert page(shop)["data"][0] == shop.order(made[-1])


@pytest.mark.rule("orders.10", "orders.11")
def test_the_list_can_be_filtered(shop: Shop) -> None:
    kept, gone = shop.create(), shop.create()
    shop.post(f"/api/v1/payment/{gone}/cancel")
    assert [row["payment_order_id"] for row in page(shop, status="cancelled")["data"]] == [gone]
    assert [row["payment_order_id"] for row in page(shop, status="created", env_mode="test")["data"]] == [kept]


@pytest.mark.rule("orders.12")
@pytest.mark.parametrize(
    ("query", "path"),
    [
        ({"status": "paid"}, "status"),
        ({"limit": 0}, "limit"),
        ({"limit": 101}, "limit"),
        ({"limit": "many"}, "limit"),
        ({"cursor": "evt_1"}, "cursor"),
        ({"cursor": "po_é"}, "cursor"),
        ({"env_mode": "prod"}, "env_mode"),
    ],
)
def test_a_bad_filter_is_named(
    shop: Shop, assert_error: Callable[..., None], query: dict[str, object], path: str
) -> None:
    response = shop.client.get("/api/v1/payment", query_string=query, headers=shop.merchant.headers())
    assert_error(response, 400)
    assert [row["path"] for row in response.get_json()["error"]] == [path]


@pytest.mark.rule("orders.11", "keys.16")
def test_the_list_of_the_other_environment_needs_its_key(shop: Shop, assert_error: Callable[..., None]) -> None:
    assert_error(shop.get("/api/v1/payment?env_mode=live"), 403)


@pytest.mark.rule("orders.13", "states.12", "states.17", "events.16")
def test_an_unpaid_order_can_be_cancelled_once(shop: Shop, assert_error: Callable[..., None]) -> None:
    order_id = shop.create()
    answer = shop.post(f"/api/v1/payment/{order_id}/cancel")
    assert answer.status_code == 200
    assert answer.get_json() == shop.order(order_id)
    assert shop.history(order_id) == ["created/", "cancelled/cancelled_by_vendor"]
    assert [event["type"] for event in shop.events(order_id)] == ["payment_processing", "payment_failed"]
    again = shop.post(f"/api/v1/payment/{order_id}/cancel")
    assert_error(again, 409)
    assert "The order is cancelled already" in again.get_json()["message"]


@pytest.mark.rule("states.14")
def test_an_order_that_was_paid_short_can_be_cancelled(shop: Shop) -> None:
    order_id = shop.create()
    shop.simulate(order_id, "underpay")
    shop.wait(2)
    assert shop.post(f"/api/v1/payment/{order_id}/cancel").status_code == 200
    assert shop.history(order_id)[-1] == "cancelled/cancelled_by_vendor"
    assert shop.order(order_id)["amount_received"] == "500000"


@pytest.mark.rule("states.17")
def test_a_paid_order_can_not_be_cancelled(shop: Shop, assert_error: Callable[..., None]) -> None:
    order_id = shop.create()
    shop.simulate(order_id, "pay")
    shop.wait()
    assert_error(shop.post(f"/api/v1/payment/{order_id}/cancel"), 409)
    shop.wait()
    assert_error(shop.post(f"/api/v1/payment/{order_id}/cancel"), 409)
    assert shop.order(order_id)["payment_order_status"] == "success"


@pytest.mark.rule("simulation.3")
def test_a_live_order_can_not_be_simulated(shop: Shop, assert_error: Callable[..., None]) -> None:
    order_id = shop.create_live()
    response = shop.post(f"/api/v1/payment/{order_id}/simulate", {"action": "pay"}, env_mode="live")
    message = "Create the payment link with env_mode test to simulate payments"
    assert_error(response, 409, {"env_mode": message})


def test_what_the_payment_page_may_know(shop: Shop) -> None:
    order_id = shop.create()
    shop.simulate(order_id, "pay")
    shop.wait(2)
    public, private = load_public_order(shop.resources, order_id), shop.order(order_id)
    assert (public.vendor_name, public.status, public.amount_due) == ("Tea & Co", "success", 0)
    assert public.main_transactions == {(each["chain_id"], each["hash"]) for each in private["transactions"]}
    assert list(public.timeline) == private["timeline"]
    assert public.price_amount == LINK["order_price"]["amount"]
    assert not hasattr(public, "metadata")
    with pytest.raises(NotFound):
        load_public_order(shop.resources, "po_nothing")
