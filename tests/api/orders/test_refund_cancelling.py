"""A refund that is cancelled frees its money and its place; one that is sent all the same counts, once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import select

from api.services.orders import refund_cancelling, refunds
from api.services.simulator import ledger
from api.storage.tables import Refund
from tests.support.refunds import ELSEWHERE, FINAL_S, count_elsewhere, paid, refund
from tests.support.shop import Shop
from tests.support.simulated_payments import send


def cancel(shop: Shop, order_id: str, refund_id: str) -> Any:
    return shop.post(f"/api/v1/payment/{order_id}/cancel_refund", {"refund": refund_id})


def ask(shop: Shop, order_id: str, **body: object) -> dict[str, Any]:
    """Ask for a refund, and return it."""
    answer = refund(shop, order_id, **body)
    assert answer.status_code == 200, answer.get_json()
    asked: dict[str, Any] = answer.get_json()["refunds"][-1]
    return asked


def send_late(shop: Shop, order_id: str, asked: dict[str, Any], amount: int | None = None) -> str:
    """Send a refund's transaction, as a wallet that has kept a copy of it."""
    with shop.resources.database.read() as session:
        rows = session.scalars(select(Refund).where(Refund.order_id == order_id)).all()
    row = next(each for each in rows if asked["id"].endswith(each.reference.hex()))
    fields = {"sender": row.sender, "recipient": row.recipient, "reference": row.reference}
    return send(shop, order_id, amount or row.amount, **fields)


def find(order: dict[str, Any], asked: dict[str, Any]) -> dict[str, Any]:
    return next(each for each in order["refunds"] if each["id"] == asked["id"])


@pytest.mark.rule("refunds.18")
def test_a_cancelled_refund_leaves_its_money_to_be_asked_for_again(shop: Shop) -> None:
    order_id = paid(shop)
    wrong = ask(shop, order_id, to=ELSEWHERE)
    answer = cancel(shop, order_id, wrong["id"])
    assert answer.status_code == 200, answer.get_json()
    order = answer.get_json()
    assert find(order, wrong) == {**wrong, "status": "cancelled", "transaction": None}
    assert order["transfers"][0]["amount_left"] == order["transfers"][0]["amount"]
    assert cancel(shop, order_id, wrong["id"]).get_json()["refunds"] == order["refunds"], "once more changes nothing"
    right = ask(shop, order_id)
    assert (right["amount"], right["to"] != wrong["to"], right["id"] != wrong["id"]) == (wrong["amount"], True, True)
    shop.wait(FINAL_S)
    after = shop.order(order_id)
    assert after["payment_order_status"] == "refunded"
    assert [each["status"] for each in after["refunds"]] == ["cancelled", "final"]
    assert [event["type"] for event in shop.events(order_id)].count("payment_refunded") == 1


@pytest.mark.rule("refunds.18")
def test_what_was_sent_is_not_cancelled(shop: Shop, assert_error: Callable[..., None]) -> None:
    order_id = paid(shop)
    asked = ask(shop, order_id, amount="7")
    shop.wait(FINAL_S)
    assert_error(cancel(shop, order_id, asked["id"]), 409)
    assert_error(cancel(shop, order_id, "rf_" + "0" * 32), 404)
    assert_error(cancel(shop, paid(shop), asked["id"]), 404)
    assert_error(shop.post(f"/api/v1/payment/{order_id}/cancel_refund", {}), 400, {"refund": "Required"})


def test_a_cancelled_refund_that_is_sent_all_the_same_goes_back_once(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It counts, and the refund that took its place offers nothing any more."""
    monkeypatch.setattr(ledger, "sign_refunds", lambda *_: None)  # the simulated wallet would sign the second at once
    order_id = paid(shop)
    copied = ask(shop, order_id, to=ELSEWHERE)
    cancel(shop, order_id, copied["id"])
    tx_hash = send_late(shop, order_id, copied)
    second = ask(shop, order_id)
    assert second["transaction"] is not None, "no block has the first one yet"
    shop.wait(FINAL_S)
    order = shop.order(order_id)
    assert order["payment_order_status"] == "refunded"
    found = find(order, copied)
    assert (found["status"], found["hash"], found["amount_sent"]) == ("final", tx_hash, copied["amount"])
    assert find(order, second)["transaction"] is None
    assert order["transfers"][0]["amount_left"] == "0"
    assert refund(shop, order_id).status_code == 409
    assert [event["type"] for event in shop.events(order_id)].count("payment_refunded") == 1


def test_what_is_missing_of_a_refund_can_be_cancelled(shop: Shop) -> None:
    order_id = paid(shop)
    asked = ask(shop, order_id, to=ELSEWHERE)
    send_late(shop, order_id, asked, 400_000)
    shop.wait(FINAL_S)
    assert find(shop.order(order_id), asked)["status"] == "requested"
    order = cancel(shop, order_id, asked["id"]).get_json()
    found = find(order, asked)
    assert (found["status"], found["amount_sent"], found["transaction"]) == ("cancelled", "400000", None)
    assert order["transfers"][0]["amount_left"] == "600000"
    assert order["status_reason"] == "partially_refunded"


def test_an_order_that_was_to_be_paid_back_is_payable_again(shop: Shop) -> None:
    order_id = shop.create()
    send(shop, order_id, 10**6 // 2)
    shop.wait(FINAL_S)
    asked = ask(shop, order_id)
    assert (asked["amount"], shop.order(order_id)["not_payable_reason"]) == ("500000", "refund_under_way")
    order = cancel(shop, order_id, asked["id"]).get_json()
    assert (order["payable"], order["amount_due"]) == (True, "500000")


@pytest.mark.rule("refunds.17", "refunds.18")
def test_who_cancels_may_ask_again_and_not_without_end(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """Found: a refund that nobody signed took one of ten places for ever."""
    monkeypatch.setattr(refund_cancelling, "MOST_CANCELLED", 2)
    order_id = paid(shop)
    made = [
        ask(shop, order_id, amount="1", to=count_elsewhere(each))
        for each in range(1, refunds.MOST_OPEN_OF_TRANSFER + 1)
    ]
    assert refund(shop, order_id, amount="1", to=ELSEWHERE).status_code == 409
    assert cancel(shop, order_id, made[0]["id"]).status_code == 200
    assert refund(shop, order_id, amount="1", to=ELSEWHERE).status_code == 200
    assert [cancel(shop, order_id, each["id"]).status_code for each in made[1:3]] == [200, 409]
