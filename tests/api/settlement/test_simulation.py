"""Every action of `simulate`, from the request to the last event."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sqlalchemy import delete, select

from api.checkout_page.status.simulation import list_actions
from api.domain.errors import NotFound
from api.domain.money import UINT256_MAX
from api.domain.simulation import Action
from api.services.checkout.quotes import quote_order
from api.services.orders.views import load_public_order
from api.services.simulator.actions import simulate
from api.services.simulator.chain import find_number_at
from api.services.simulator.order_state import NOT_ITS_QUOTE
from api.storage.tables import SettlementAccount, SimulatedTransfer
from tests.api.conftest import Merchant
from tests.support.shop import LINK, Shop

USDC_BASE = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"
NATIVE = "0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee"
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


@pytest.mark.rule("orders.6", "events.17")
def test_paying_from_another_chain_carries_both_transactions(shop: Shop) -> None:
    order_id = shop.create()
    quote = quote_order(shop.resources, order_id, 10, NATIVE)
    shop.simulate(order_id, "pay", quote_id=quote.quote_id)
    shop.wait(5)
    order = shop.order(order_id)
    deposit, fill = shop.transfers()
    assert (deposit.chain_id, deposit.token_address, deposit.amount) == (10, NATIVE, quote.amount_in)
    assert (fill.chain_id, fill.amount, fill.source_tx_hash) == (8453, 10**6, deposit.tx_hash)
    assert order["payment_order_status"] == "success"
    assert order["transaction_hash"] == deposit.tx_hash
    assert [(row["chain_id"], row["hash"]) for row in order["transactions"]] == [
        (10, deposit.tx_hash),
        (8453, fill.tx_hash),
    ]


def test_paying_with_a_quote_on_the_same_chain_is_one_transaction(shop: Shop) -> None:
    order_id = shop.create()
    quote = quote_order(shop.resources, order_id, 8453, NATIVE)
    shop.simulate(order_id, "pay", quote_id=quote.quote_id)
    shop.wait(3)
    assert [row["chain_id"] for row in shop.order(order_id)["transactions"]] == [8453]
    assert shop.order(order_id)["payment_order_status"] == "success"


def test_underpaying_with_a_quote_deposits_its_share(shop: Shop) -> None:
    order_id = shop.create()
    quote = quote_order(shop.resources, order_id, 10, NATIVE)
    shop.simulate(order_id, "underpay", quote_id=quote.quote_id)
    deposit, fill = shop.transfers()
    assert fill.amount == 500_000
    assert deposit.amount == (quote.amount_in + 1) // 2


def test_a_quote_must_be_this_orders_and_fresh(shop: Shop, assert_error: Callable[..., None]) -> None:
    order_id, other_id = shop.create(), shop.create()
    quote = quote_order(shop.resources, other_id, 10, NATIVE)
    assert_error(shop.act(order_id, "pay", quote_id=quote.quote_id), 404, {"quote_id": NOT_ITS_QUOTE})
    assert_error(shop.act(order_id, "pay", quote_id="qt_0"), 404)
    shop.clock.set(quote.expires_at)
    assert_error(shop.act(other_id, "pay", quote_id=quote.quote_id), 409, {"quote_id": "Ask for a new quote"})


def test_a_bridge_needs_two_chains(shop: Shop, assert_error: Callable[..., None]) -> None:
    order_id = shop.create()
    quote = quote_order(shop.resources, order_id, 8453, USDC_BASE)
    assert_error(shop.act(order_id, "bridge_delay", quote_id=quote.quote_id), 409)
    single = shop.create(order_price={"currency": "BRETT", "amount": 1, "decimals": 0})
    refused = shop.act(single, "bridge_fail")
    assert_error(refused, 409)
    assert "quote_id" in refused.get_json()["message"]


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


@pytest.mark.rule("events.18")
def test_an_order_that_was_reorged_can_be_paid_again(shop: Shop) -> None:
    order_id = shop.create()
    shop.simulate(order_id, "reorg")
    shop.wait(3)
    assert shop.order(order_id)["transaction_hash"] == ""
    shop.simulate(order_id, "pay")
    shop.wait(3)
    assert shop.history(order_id)[-3:] == ["created/reorged", "processing/", "success/"]
    assert shop.order(order_id)["amount_received"] == "1000000"


def test_a_payment_on_its_way_can_be_reorged(shop: Shop) -> None:
    order_id = shop.create()
    shop.simulate(order_id, "pay")
    shop.simulate(order_id, "reorg")
    shop.wait(3)
    assert shop.history(order_id) == ["created/", "processing/", "created/reorged"]


def test_a_payment_that_was_seen_can_be_reorged(shop: Shop) -> None:
    order_id = shop.create()
    shop.simulate(order_id, "pay")
    shop.wait()
    shop.simulate(order_id, "reorg")
    shop.wait()
    assert shop.history(order_id) == ["created/", "processing/", "created/reorged"]


def test_a_reorged_deposit_is_never_filled(shop: Shop) -> None:
    order_id = shop.create()
    shop.simulate(order_id, "bridge_delay")
    shop.wait()
    shop.simulate(order_id, "reorg")
    shop.wait(20)
    assert shop.history(order_id)[-1] == "created/reorged"
    assert shop.transfers() == []


def test_a_reorg_that_comes_while_the_payment_becomes_final_comes_too_late(shop: Shop) -> None:
    order_id = shop.create()
    shop.simulate(order_id, "pay")
    shop.wait(2)
    assert shop.history(order_id)[-1] == "success/"
    with shop.resources.database.write() as session:  # what `reorg` writes if it read the payment just before
        for row in session.scalars(select(SimulatedTransfer)):
            row.reorg_when_seen = True
    shop.wait(3)
    assert [(row.amount, row.reorg_when_seen) for row in shop.transfers()] == [(10**6, False)]
    assert shop.history(order_id)[-1] == "success/"


def test_a_final_payment_can_not_be_reorged(shop: Shop, assert_error: Callable[..., None]) -> None:
    order_id = shop.create()
    shop.simulate(order_id, "underpay")
    shop.wait(4)
    assert_error(shop.act(order_id, "reorg"), 409)


@pytest.mark.rule("simulation.4")
@pytest.mark.parametrize(
    ("before", "refused"),
    [
        (["pay"], {"underpay", "overpay", "pay_late", "wrong_token", "reorg", "bridge_delay", "expire"}),
        (["expire"], {"pay", "underpay", "overpay", "wrong_token", "reorg", "bridge_fail", "expire"}),
        (["wrong_token"], {"pay_late", "bridge_delay", "bridge_fail"}),
        (["bridge_delay"], {"pay", "overpay", "bridge_fail", "pay_late"}),
    ],
)
def test_what_the_present_state_does_not_allow(
    shop: Shop, assert_error: Callable[..., None], before: list[str], refused: set[str]
) -> None:
    order_id = shop.create()
    for action in before:
        shop.simulate(order_id, action)
        shop.wait(2)
    known = shop.history(order_id)
    for action in sorted(refused):
        response = shop.act(order_id, action)
        assert_error(response, 409)
        assert response.get_json()["error"][0]["path"] == "action"
    assert shop.history(order_id) == known


def test_a_payment_on_its_way_holds_up_a_second_one(shop: Shop, assert_error: Callable[..., None]) -> None:
    order_id = shop.create()
    shop.simulate(order_id, "pay")
    message = "Wait until the worker has seen it, and look at the order again"
    assert_error(shop.act(order_id, "pay"), 409, {"action": message})


def test_an_order_that_expired_long_ago_takes_nothing(shop: Shop, assert_error: Callable[..., None]) -> None:
    order_id = shop.create()
    shop.simulate(order_id, "expire")
    shop.clock.advance(hours=24, seconds=1)
    assert_error(shop.act(order_id, "pay_late"), 409)


def test_one_unit_can_not_be_underpaid(shop: Shop, assert_error: Callable[..., None]) -> None:
    order_id = shop.create(order_price={**LINK["order_price"], "amount": 1})
    assert_error(shop.act(order_id, "underpay"), 409)


def test_the_largest_amount_can_not_be_overpaid(shop: Shop, assert_error: Callable[..., None]) -> None:
    order_id = shop.create(order_price={"currency": "USDC", "amount": UINT256_MAX, "decimals": 6})
    assert_error(shop.act(order_id, "overpay"), 409)
    shop.simulate(order_id, "pay")
    shop.wait(5)
    assert shop.order(order_id)["amount_received"] == str(UINT256_MAX)


def test_what_is_paid_and_not_final_yet_is_not_paid_again(shop: Shop, assert_error: Callable[..., None]) -> None:
    order_id = shop.create()
    shop.simulate(order_id, "pay")
    shop.wait(1)
    refused = shop.act(order_id, "pay")
    assert_error(refused, 409)
    assert refused.get_json()["message"] == "The whole amount has been paid already"


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


def test_no_live_order_is_paid_by_a_simulation(shop: Shop, assert_error: Callable[..., None]) -> None:
    order_id = shop.create_live()
    for body in ({"action": "pay"}, {"action": "pay", "without_reference": True}):
        assert_error(shop.post(f"/api/v1/payment/{order_id}/simulate", body, env_mode="live"), 409)
    assert shop.transfers() == []


def simulate_all(shop: Shop, order_id: str, action: str) -> None:
    """Let an action happen, and all that follows from it."""
    shop.simulate(order_id, action)
    shop.wait(8)


def test_an_order_without_account_can_only_expire(shop: Shop, assert_error: Callable[..., None]) -> None:
    with shop.resources.database.write() as session:
        session.execute(delete(SettlementAccount))
    order_id = shop.create()
    assert list_actions(load_public_order(shop.resources, order_id)) == ()
    for action in set(Action) - {Action.EXPIRE}:
        assert_error(shop.act(order_id, action), 409)
    assert shop.simulate(order_id, "expire")["payment_order_status"] == "expired"


def test_the_page_simulates_by_the_orders_id_alone(shop: Shop) -> None:
    order_id = shop.create()
    simulate(shop.resources, order_id, Action.PAY)
    shop.wait(2)
    assert shop.history(order_id)[-1] == "success/"
    with pytest.raises(NotFound):
        simulate(shop.resources, "po_nothing", Action.PAY)


@pytest.mark.rule("simulation.1")
@pytest.mark.parametrize(
    ("body", "problems"),
    [
        ({}, {"action": "Required"}),
        ({"action": "burn"}, {"action": f"Must be one of {', '.join(Action)}"}),
        ({"action": 7}, {"action": "Expected string, received number"}),
        ({"action": "pay", "quote_id": 7}, {"quote_id": "Expected string, received number"}),
    ],
)
def test_a_bad_action_is_named(
    shop: Shop, assert_error: Callable[..., None], body: dict[str, object], problems: dict[str, str]
) -> None:
    response = shop.post(f"/api/v1/payment/{shop.create()}/simulate", body)
    assert_error(response, 400, problems)


def test_the_page_is_told_what_can_happen(shop: Shop, merchant: Merchant) -> None:
    order_id = shop.create()
    assert set(list_actions(load_public_order(shop.resources, order_id))) == set(Action)
    shop.simulate(order_id, "pay")
    shop.wait(2)
    assert list_actions(load_public_order(shop.resources, order_id)) == ()
    for action in set(Action) - {Action.PAY}:
        assert shop.act(order_id, action).status_code == 409


def test_a_block_is_a_quarter_of_a_second(shop: Shop) -> None:
    order_id = shop.create()
    before = find_number_at(shop.clock.now())
    shop.simulate(order_id, "pay")
    assert shop.transfers()[0].block_number == before + 1


def test_what_is_refused_says_what_is_taken(shop: Shop, assert_error: Callable[..., None]) -> None:
    expired, paid = shop.create(), shop.create()
    shop.simulate(expired, "expire")
    remedy = {"action": "Send pay_late, which pays an order after its time"}
    assert_error(shop.act(expired, "pay"), 409, remedy)
    shop.simulate(expired, "pay_late")
    shop.simulate(paid, "pay")
    shop.wait(10)
    assert shop.history(paid)[-1] == "success/"
    wrong = {"quote_id": "Leave it out: the order is success, and no quote pays it"}
    assert_error(shop.act(paid, "pay", quote_id="qt_nope"), 400, wrong)
    assert len(shop.order(paid)["transfers"]) == 1
    shop.simulate(paid, "pay")
