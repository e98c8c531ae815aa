"""Sending money back: in part or whole, whatever became of its order, and never twice."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from api.domain.clock import format_time
from api.services.simulator.chain import find_mined_at
from tests.support.refunds import ELSEWHERE, FINAL_S, paid, refund
from tests.support.shop import Shop
from tests.support.simulated_payments import send


@pytest.mark.rule("states.15", "refunds.1", "refunds.3", "refunds.6", "refunds.9", "refunds.13", "refunds.15")
def test_a_refund_sends_what_was_received_back(shop: Shop, assert_error: Callable[..., None]) -> None:
    order_id = paid(shop, "overpay")
    answer = refund(shop, order_id)
    assert answer.status_code == 200
    (asked,) = answer.get_json()["refunds"]
    assert asked["status"] == "requested"
    shop.wait(FINAL_S)
    came, back = shop.transfers()
    assert (back.sender, back.recipient, back.amount) == (came.recipient, came.sender, came.amount)
    assert (back.chain_id, back.token_address) == (came.chain_id, came.token_address)
    assert (asked["to"].lower(), asked["amount"]) == (came.sender, str(came.amount))
    assert asked["transaction"]["data"].endswith(back.reference.hex())
    order = shop.order(order_id)
    assert (order["payment_order_status"], order["status_reason"]) == ("refunded", "")
    assert order["refunds"] == [
        {
            **asked,
            "amount_sent": asked["amount"],
            "hash": back.tx_hash,
            "timestamp": format_time(find_mined_at(back.block_number)),
            "status": "final",
            "transaction": None,
        }
    ]
    assert order["timeline"][-1]["transaction_hash"] == back.tx_hash
    assert order["transaction_hash"] == came.tx_hash
    assert_error(refund(shop, order_id), 409)
    assert [event["type"] for event in shop.events(order_id)][-2:] == ["payment_success", "payment_refunded"]


def test_the_same_request_again_changes_nothing(shop: Shop) -> None:
    order_id = paid(shop)
    first, second = (refund(shop, order_id).get_json()["refunds"] for _ in range(2))
    shop.wait(1)
    third = refund(shop, order_id).get_json()["refunds"]
    assert len(first) == len(third) == 1
    assert first == second
    assert len(shop.transfers()) == 2


def test_a_part_asked_for_again_before_it_is_final_is_the_same(shop: Shop) -> None:
    order_id = paid(shop)
    for _ in range(3):
        assert refund(shop, order_id, amount="400000").status_code == 200
        shop.wait(1)
    assert [row.amount for row in shop.transfers()] == [1_000_000, 400_000]


def test_the_rest_can_be_asked_for_while_a_part_is_on_its_way(shop: Shop) -> None:
    order_id = paid(shop)
    refund(shop, order_id, amount="400000")
    asked = refund(shop, order_id).get_json()["refunds"]
    assert [row["amount"] for row in asked] == ["400000", "600000"]


def test_a_strangers_dust_keeps_no_order_from_being_refunded(shop: Shop) -> None:
    order_id = shop.create()
    send(shop, order_id, 1)
    send(shop, order_id, 10**6)
    shop.wait(FINAL_S)
    assert refund(shop, order_id).status_code == 200
    shop.wait(FINAL_S)
    assert shop.history(order_id)[-1] == "refunded/"


@pytest.mark.rule("refunds.3", "refunds.4", "refunds.5", "refunds.11", "refunds.12")
def test_a_part_goes_back_and_then_the_rest(shop: Shop, assert_error: Callable[..., None]) -> None:
    order_id = paid(shop)
    assert refund(shop, order_id, amount="400000").status_code == 200
    shop.wait(FINAL_S)
    assert shop.history(order_id)[-1] == "success/partially_refunded"
    order = shop.order(order_id)
    assert (order["amount_due"], order["transfers"][0]["amount_left"]) == ("0", "600000")
    assert_error(refund(shop, order_id, amount="600001"), 400)
    assert refund(shop, order_id).status_code == 200
    shop.wait(FINAL_S)
    assert shop.history(order_id)[-1] == "refunded/"
    assert [row.amount for row in shop.transfers()] == [1_000_000, 400_000, 600_000]


@pytest.mark.rule("states.15", "refunds.14")
@pytest.mark.parametrize("action", ["underpay", "wrong_token", "pay_late"])
def test_whatever_arrived_can_be_sent_back(shop: Shop, action: str) -> None:
    order_id = paid(shop, action)
    assert refund(shop, order_id).status_code == 200
    shop.wait(FINAL_S)
    assert shop.history(order_id)[-1] == "refunded/"


@pytest.mark.rule("refunds.6")
def test_a_refund_of_a_bridged_payment_goes_to_who_deposited(shop: Shop) -> None:
    order_id = shop.create()
    shop.simulate(order_id, "bridge_delay")
    shop.wait(20)
    shop.wait(FINAL_S)
    refund(shop, order_id)
    shop.wait(1)
    deposit, fill, back = shop.transfers()
    assert fill.sender == deposit.recipient
    assert (back.recipient, back.amount) == (deposit.sender, fill.amount)


@pytest.mark.rule("refunds.10")
def test_a_refund_is_described_in_full(shop: Shop) -> None:
    order_id = paid(shop)
    (transfer,) = shop.order(order_id)["transfers"]
    refund(shop, order_id, amount="250000", to=ELSEWHERE)
    shop.wait(FINAL_S)
    (row,) = shop.order(order_id)["refunds"]
    back = shop.transfers()[-1]
    assert row["transfer"] == transfer["id"]
    assert (row["chain_id"], row["token"]) == (8453, transfer["token"])
    assert (row["amount"], row["to"].lower(), row["hash"], row["status"]) == (
        "250000",
        ELSEWHERE,
        back.tx_hash,
        "final",
    )


@pytest.mark.parametrize("goes_back", [False, True])
def test_what_comes_after_the_end_is_named_by_its_own_transaction(shop: Shop, goes_back: bool) -> None:
    order_id = paid(shop)
    first = shop.order(order_id)["transaction_hash"]
    if goes_back:
        refund(shop, order_id)
        shop.wait(FINAL_S)
    late = send(shop, order_id, 10**6)
    shop.wait(FINAL_S)
    order = shop.order(order_id)
    assert order["status_reason"] == "paid_after_close"
    assert order["transaction_hash"] == first, "the order was paid by this one"
    assert order["timeline"][-1]["transaction_hash"] == late
    event = shop.events(order_id)[-1]
    assert (event["type"], event["data"]["transaction_hash"]) == ("payment_failed", late)
    assert {row["hash"] for row in event["data"]["transactions"]} >= {first, late}
