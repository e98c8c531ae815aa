"""Every action of `simulate`, from the request to the last event, and one after another."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from api.domain.errors import NotFound
from api.domain.simulation import Action
from api.services.checkout.quotes import quote_order
from api.services.simulator.actions import simulate
from api.services.simulator.chain import find_number_at
from tests.api.settlement.test_simulated_quotes import USDC_BASE
from tests.support.shop import Shop

ENDINGS = {
    "pay": ["created/", "processing/", "success/"],
    "underpay": ["created/", "processing/underpaid"],
    "overpay": ["created/", "processing/overpaid", "success/overpaid"],
    "pay_late": ["created/", "expired/expired", "processing/paid_late", "success/paid_late"],
    "wrong_token": ["created/", "processing/wrong_token"],
    "reorg": ["created/", "processing/", "created/reorged"],
    "bridge_delay": ["created/", "processing/", "success/"],
    "bridge_fail": ["created/", "processing/", "failed/route_failed"],
    "expire": ["created/", "expired/expired"],
}
SLOW_S = 20
"""Until a delayed transfer has arrived; everything else is over sooner."""
RECEIVED = {"pay": 10**6, "underpay": 500_000, "overpay": 1_100_000, "pay_late": 10**6, "bridge_delay": 10**6}


@pytest.mark.rule("simulation.2")
def test_there_is_an_ending_for_every_action() -> None:
    assert set(ENDINGS) == set(Action)


@pytest.mark.rule(
    "service.6",
    "orders.14",
    "states.3",
    "states.4",
    "events.7",
    "events.12",
    "events.13",
    "events.14",
    "events.15",
    "simulation.2",
)
@pytest.mark.parametrize("action", ENDINGS)
def test_the_whole_story(shop: Shop, action: str) -> None:
    order_id = shop.create()
    answer = shop.simulate(order_id, action)
    assert answer == shop.order(order_id)
    assert answer["amount_received"] == "0"
    if action == "bridge_delay":
        shop.wait(SLOW_S)
    shop.wait(8)
    order = shop.order(order_id)
    assert shop.history(order_id) == ENDINGS[action]
    received = RECEIVED.get(action, 0)
    assert order["amount_received"] == str(received)
    assert order["amount_due"] == str(max(0, 10**6 - received))
    types = {"success": "payment_success", "failed": "payment_failed", "expired": "payment_failed"}
    expected = [
        {
            "type": types.get(row["status"], "payment_processing"),
            "status": row["status"],
            "reason": row["status_reason"],
            "hash": row["transaction_hash"],
            "at": row["at"],
        }
        for row in order["timeline"]
    ]
    assert [
        {
            "type": event["type"],
            "status": event["data"]["payment_order_status"],
            "reason": event["data"]["status_reason"],
            "hash": event["data"]["transaction_hash"],
            "at": event["created_at"],
        }
        for event in shop.events(order_id)
    ] == expected


@pytest.mark.parametrize("amount", [10**6, 500 * 10**6, 5_000 * 10**6])
@pytest.mark.parametrize("currency", ["USDC", "ETH"])
def test_a_payment_succeeds_within_five_seconds(shop: Shop, amount: int, currency: str) -> None:
    order_id = shop.create(order_price={"currency": currency, "amount": amount, "decimals": 6})
    shop.simulate(order_id, "pay")
    shop.wait(5)
    assert shop.order(order_id)["payment_order_status"] == "success"


@pytest.mark.rule("orders.6", "events.8")
def test_hash_and_transactions_of_a_payment(shop: Shop) -> None:
    order_id = shop.create()
    shop.simulate(order_id, "pay")
    shop.wait(2)
    order = shop.order(order_id)
    (transfer,) = shop.transfers()
    assert order["transaction_hash"] == transfer.tx_hash
    assert order["transactions"] == [
        {"chain_id": 8453, "hash": transfer.tx_hash, "timestamp": "2026-03-01T12:00:00.250Z", "quoted": None}
    ]
    assert shop.events(order_id)[-1]["data"]["transactions"] == order["transactions"]


@pytest.mark.rule("states.8")
def test_a_short_payment_can_be_topped_up(shop: Shop) -> None:
    order_id = shop.create()
    shop.simulate(order_id, "underpay")
    shop.wait(2)
    shop.simulate(order_id, "pay")
    shop.wait(2)
    assert shop.history(order_id) == ["created/", "processing/underpaid", "processing/", "success/"]
    order = shop.order(order_id)
    assert (order["amount_received"], len(order["transactions"])) == ("1000000", 2)
    assert order["transaction_hash"] == order["transactions"][0]["hash"]


@pytest.mark.rule("states.9")
def test_a_short_payment_fails_at_expiry(shop: Shop) -> None:
    order_id = shop.create()
    shop.simulate(order_id, "underpay")
    shop.wait(2)
    shop.clock.advance(hours=24)
    shop.wait(2)
    assert shop.history(order_id)[-1] == "failed/underpaid"
    assert shop.order(order_id)["amount_due"] == "500000"


def test_a_short_payment_fails_at_once_when_its_time_is_ended(shop: Shop) -> None:
    order_id = shop.create()
    shop.simulate(order_id, "underpay")
    shop.wait(2)
    assert shop.simulate(order_id, "expire")["status_reason"] == "underpaid"


def test_a_vendor_rehearses_a_second_payment_after_success(shop: Shop, assert_error: Callable[..., None]) -> None:
    order_id = shop.create()
    simulate_all(shop, order_id, "pay")
    assert shop.history(order_id)[-1] == "success/"
    shop.simulate(order_id, "pay")
    assert_error(shop.act(order_id, "pay"), 409)  # one at a time, as ever
    shop.wait(8)
    order = shop.order(order_id)
    assert (order["payment_order_status"], order["status_reason"]) == ("success", "paid_after_close")
    assert (order["amount_received"], len(order["transfers"])) == (str(2 * 10**6), 2)
    event = shop.events(order_id)[-1]
    assert (event["type"], event["data"]["status_reason"]) == ("payment_failed", "paid_after_close")
    assert_error(shop.act(order_id, "underpay"), 409)


def test_a_cancelled_order_is_paid_after_close_too(shop: Shop) -> None:
    order_id = shop.create()
    assert shop.post(f"/api/v1/payment/{order_id}/cancel", {}).status_code == 200
    simulate_all(shop, order_id, "pay")
    assert shop.history(order_id)[-1] == "cancelled/paid_after_close"


def test_customers_pay_no_closed_order_again(shop: Shop, assert_error: Callable[..., None]) -> None:
    """A page that repeats a payment whose answer was lost pays once at most."""
    order_id = shop.create()
    quote = quote_order(shop.resources, order_id, 8453, USDC_BASE)
    simulate_all(shop, order_id, "pay")
    assert_error(shop.client.post(f"/payment/{order_id}/pay", json={"quote_id": quote.quote_id}), 409)
    assert_error(shop.client.post(f"/payment/{order_id}/simulate", json={"action": "pay"}), 409)
    assert len(shop.transfers()) == 1


def test_a_vendor_rehearses_money_that_names_no_order(shop: Shop, assert_error: Callable[..., None]) -> None:
    order_id = shop.create()
    shop.simulate(order_id, "pay", without_reference=True)
    shop.wait(4)
    assert shop.history(order_id) == ["created/"]
    (row,) = shop.get("/api/v1/unmatched_transfer").get_json()["data"]
    assert row["amount"] == str(10**6)
    assigned = shop.post(f"/api/v1/unmatched_transfer/{row['id']}/assign", {"payment_order_id": order_id})
    assert assigned.status_code == 200, assigned.get_json()
    shop.wait(4)
    assert shop.order(order_id)["payment_order_status"] == "success"
    assert_error(shop.act(order_id, "underpay", without_reference=True), 400)
    assert_error(
        shop.act(order_id, "pay", without_reference="yes"),
        400,
        {"without_reference": "Expected boolean, received string"},
    )


def simulate_all(shop: Shop, order_id: str, action: str) -> None:
    """Let an action happen, and all that follows from it."""
    shop.simulate(order_id, action)
    shop.wait(8)


def test_the_page_simulates_by_the_orders_id_alone(shop: Shop) -> None:
    order_id = shop.create()
    simulate(shop.resources, order_id, Action.PAY)
    shop.wait(2)
    assert shop.history(order_id)[-1] == "success/"
    with pytest.raises(NotFound):
        simulate(shop.resources, "po_nothing", Action.PAY)


def test_a_block_is_a_quarter_of_a_second(shop: Shop) -> None:
    order_id = shop.create()
    before = find_number_at(shop.clock.now())
    shop.simulate(order_id, "pay")
    assert shop.transfers()[0].block_number == before + 1
