"""Events of orders say what was asked for, what had come and what was missing when they were made."""

from __future__ import annotations

from tests.support.shop import Shop
from tests.support.simulated_payments import send

PRICE = {"currency": "USDC", "amount": 10**18, "decimals": 18, "amount_string": str(10**18)}


def test_each_event_has_the_amounts_of_its_moment(shop: Shop) -> None:
    order_id = shop.create()
    send(shop, order_id, 400_000)
    shop.wait(3)
    send(shop, order_id, 700_000)
    shop.wait(20)
    order = shop.order(order_id)
    told = [each["data"] for each in shop.events(order_id)]
    assert all(each["order_price"] == PRICE == order["order_price"] for each in told)
    amounts = [(each["status_reason"], each["amount_received"], each["amount_due"]) for each in told]
    assert amounts[0] == ("", "0", "1000000")
    assert ("underpaid", "400000", "600000") in amounts
    assert amounts[-1] == ("overpaid", order["amount_received"], order["amount_due"]) == ("overpaid", "1100000", "0")


def test_a_link_answers_with_its_price_and_its_end(shop: Shop) -> None:
    given = {"currency": "usdc", "amount": "2550", "decimals": 2}
    body = {**shop.order(shop.create()), "order_price": given, "expires_at": "2026-03-02T00:00:00+01:00"}
    names = ("line_items", "order_price", "env_mode", "expires_at", *(name for name in body if "callback" in name))
    made = shop.post("/api/v1/payment_link", {name: body[name] for name in names}).get_json()
    order = shop.order(made["payment_order_id"])
    assert made["order_price"] == {"currency": "USDC", "amount": 2550, "decimals": 2, "amount_string": "2550"}
    assert (made["order_price"], made["expires_at"]) == (order["order_price"], order["expires_at"])
    assert made["expires_at"] == "2026-03-01T23:00:00.000Z"
