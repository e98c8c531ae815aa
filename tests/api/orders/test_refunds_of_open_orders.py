"""Refunds of orders that can still be paid: what they leave to pay, and when they close the order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from api.services.orders.order_versions import require_version
from api.services.simulator.wallet import DELAYED_FILL_TIME, find_source_elsewhere, pay_by_bridge
from tests.support.refunds import FINAL_S, paid, refund
from tests.support.shop import Shop
from tests.support.simulated_payments import read_order, send


@pytest.mark.parametrize("action", ["underpay", "wrong_token"])
def test_nobody_is_asked_to_pay_an_order_that_closes_once_all_of_it_is_back(
    shop: Shop, assert_error: Callable[..., None], action: str
) -> None:
    order_id = paid(shop, action)
    before = shop.client.get(f"/payment/{order_id}/status").get_json()
    answer = refund(shop, order_id).get_json()
    assert (answer["payment_order_status"], answer["status_reason"]) == (
        "processing",
        {"underpay": "underpaid"}.get(action, action),
    )
    assert (answer["payable"], answer["not_payable_reason"]) == (False, "refund_under_way")
    state = shop.client.get(f"/payment/{order_id}/status").get_json()
    assert (before["panel"], state["panel"], state["title"]) == ("pay", "progress", "Your money is being sent back")
    wish = {"chainId": 8453, "token": answer["settlement"]["token_address"]}
    quoted = shop.client.post(f"/payment/{order_id}/quote", json=wish)
    assert (quoted.status_code, quoted.get_json()["reason"]) == (409, "order_not_payable")
    assert "goes back" in quoted.get_json()["message"]
    shop.wait(FINAL_S)
    order = shop.order(order_id)
    assert (order["payment_order_status"], order["not_payable_reason"]) == ("refunded", "order_closed")


def test_a_part_that_goes_back_leaves_an_open_order_payable(shop: Shop) -> None:
    order_id = paid(shop, "underpay")
    refund(shop, order_id, amount="499999")
    assert shop.order(order_id)["payable"]
    shop.wait(FINAL_S)
    assert shop.order(order_id)["payable"]
    assert shop.history(order_id)[-1] == "processing/underpaid"


def test_the_page_hears_that_a_wrong_token_goes_back(shop: Shop) -> None:
    """Nothing of the order itself changes, and the page asks only whether there is news."""
    order_id = paid(shop, "wrong_token")
    version = require_version(shop.resources, order_id)
    refund(shop, order_id)
    assert require_version(shop.resources, order_id) != version


def test_who_pays_before_a_wrong_token_is_back_has_paid(shop: Shop) -> None:
    order_id = paid(shop, "wrong_token")
    refund(shop, order_id)
    send(shop, order_id, 10**6)
    shop.wait(FINAL_S)
    order = shop.order(order_id)
    assert (order["payment_order_status"], order["status_reason"]) == ("success", "partially_refunded")
    assert [event["type"] for event in shop.events(order_id)][-2:] == ["payment_success", "payment_refunded"]


def test_an_order_is_not_closed_by_a_refund_while_its_payment_is_on_its_way(shop: Shop) -> None:
    """What a bridge has taken in will pay the order; closed by then, it would be paid and nothing delivered."""
    order_id = paid(shop, "wrong_token")
    order = read_order(shop, order_id)
    with shop.resources.database.write() as session:
        source = replace(find_source_elsewhere(order), amount=10**6)
        pay_by_bridge(session, order, source, 10**6, shop.clock.now(), fill_time=DELAYED_FILL_TIME)
    shop.wait(2)
    refund(shop, order_id)
    shop.wait(FINAL_S)
    assert shop.order(order_id)["payment_order_status"] == "processing"
    assert [row["status"] for row in shop.order(order_id)["refunds"]] == ["final"]
    shop.wait(25)
    assert shop.order(order_id)["payment_order_status"] == "success"


def test_what_was_sent_back_of_an_open_order_does_not_pay_it(shop: Shop) -> None:
    """Half comes, goes back, and comes again: the merchant has half, so the order is not paid."""
    order_id = paid(shop, "underpay")
    refund(shop, order_id, amount="499999")
    assert shop.order(order_id)["amount_due"] == "999999", "before it is signed"
    shop.wait(FINAL_S)
    assert shop.order(order_id)["amount_due"] == "999999"
    assert shop.history(order_id)[-1] == "processing/underpaid"


def test_who_pays_the_rest_while_the_first_part_goes_back_has_not_paid(shop: Shop) -> None:
    """A merchant's wallet may sign hours later: the order must not succeed meanwhile with half of its price."""
    order_id = paid(shop, "underpay")
    refund(shop, order_id)
    send(shop, order_id, 500_000)
    shop.wait(1)
    order = shop.order(order_id)
    assert (order["payment_order_status"], order["status_reason"]) == ("processing", "underpaid")
    assert order["amount_due"] == "500000"
    assert [each for each in shop.history(order_id) if each == "processing/"] == [], "nothing is said to be on its way"
