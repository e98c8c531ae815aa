"""What an order says of itself: whether it may be paid, its addresses, and titles that people can see."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import pytest
from eth_utils.address import is_checksum_address, to_checksum_address

from api.services.simulator.wallet import PAYER as SIMULATED_PAYER
from tests.support.shop import LINK, Shop

PAYER = "0x" + "ab" * 20


def payable(shop: Shop, order_id: str) -> tuple[bool, str]:
    order = shop.order(order_id)
    return order["payable"], order["not_payable_reason"]


def test_an_open_order_is_payable_while_something_is_due(shop: Shop) -> None:
    order_id = shop.create()
    assert payable(shop, order_id) == (True, "")
    shop.simulate(order_id, "underpay")
    shop.wait(60)
    assert shop.order(order_id)["payment_order_status"] == "processing"
    assert payable(shop, order_id) == (True, "")
    shop.simulate(order_id, "pay")
    shop.wait(1)
    assert payable(shop, order_id)[0] is False


def test_while_a_bridge_is_about_to_deliver_nothing_is_due(shop: Shop) -> None:
    """It told whoever asked to pay once more."""
    order_id = shop.create()
    shop.simulate(order_id, "bridge_delay")
    shop.wait(3)
    assert shop.order(order_id)["amount_received"] == "0"
    assert payable(shop, order_id) == (False, "nothing_due")


def test_what_a_bridge_delivered_is_from_whoever_put_it_in(shop: Shop) -> None:
    """It named the bridge, which keeps what a shop sends there."""
    order_id = shop.create()
    shop.simulate(order_id, "bridge_delay")
    for _ in range(30):
        shop.wait(10)
    (transfer,) = shop.order(order_id)["transfers"]
    refund = shop.post(f"/api/v1/payment/{order_id}/refund").get_json()["refunds"][0]
    assert transfer["evidence"] == "bridge"
    assert transfer["from"] == refund["to"] == to_checksum_address(SIMULATED_PAYER)


@pytest.mark.parametrize(
    ("actions", "status"),
    [(("pay",), "success"), (("expire",), "expired"), (("underpay", "expire"), "failed")],
)
def test_a_closed_order_is_not_payable(shop: Shop, actions: tuple[str, ...], status: str) -> None:
    order_id = shop.create()
    for action in actions:
        shop.simulate(order_id, action)
        shop.wait(120)
    assert shop.order(order_id)["payment_order_status"] == status
    assert payable(shop, order_id) == (False, "order_closed")


def test_a_cancelled_order_is_not_payable(shop: Shop) -> None:
    order_id = shop.create()
    answer = shop.post(f"/api/v1/payment/{order_id}/cancel").get_json()
    assert (answer["payable"], answer["not_payable_reason"]) == (False, "order_closed")
    listed = shop.get("/api/v1/payment").get_json()["data"]
    assert [row["payable"] for row in listed] == [False]


def test_an_order_whose_time_is_over_is_not_payable_before_the_worker_sees_it(shop: Shop) -> None:
    order_id = shop.create()
    shop.clock.advance(hours=24)
    assert shop.order(order_id)["payment_order_status"] == "created"
    assert payable(shop, order_id) == (False, "order_expired")


def test_every_address_of_an_order_is_in_the_case_of_eip_55(shop: Shop) -> None:
    order_id = shop.create()
    shop.simulate(order_id, "pay")
    shop.wait(120)
    refunded = shop.post(f"/api/v1/payment/{order_id}/refund", {"to": PAYER, "amount": "1000"}).get_json()
    (transfer,), (refund,) = refunded["transfers"], refunded["refunds"]
    found = [refunded["settlement"][name] for name in ("token_address", "address")]
    found += [transfer["token"], transfer["from"], refund["token"], refund["to"]]
    found += [refund["transaction"][name] for name in ("from", "to")] if refund["transaction"] else []
    assert len(found) >= 6
    assert all(map(is_checksum_address, found)), found
    assert refund["to"] == to_checksum_address(PAYER)


@pytest.mark.parametrize("write", [str, lambda text: text.upper(), lambda text: "0x" + text[2:].upper()])
def test_a_refund_goes_to_an_address_in_any_one_case(shop: Shop, write: Callable[[str], str]) -> None:
    order_id = shop.create()
    shop.simulate(order_id, "pay")
    shop.wait(120)
    answer = shop.post(f"/api/v1/payment/{order_id}/refund", {"to": write(PAYER)})
    assert answer.get_json()["refunds"][0]["to"] == to_checksum_address(PAYER)


def test_a_mixed_case_address_with_a_wrong_checksum_gets_no_money(
    shop: Shop, assert_error: Callable[..., None]
) -> None:
    right = to_checksum_address(PAYER)
    wrong = right[:-1] + right[-1].swapcase()
    refused = shop.post(f"/api/v1/payment/{shop.create()}/refund", {"to": wrong})
    assert_error(
        refused, 400, {"to": "The checksum (EIP-55) is wrong: a digit is, or its case; copy the address again"}
    )


@pytest.mark.in_turns
@pytest.mark.parametrize(
    "title",
    [
        " ",
        "\t\n",
        "\u200b",
        "\u00a0\u2003",
        "\ufeff\u2060\u200d",
        "\u00ad",
        "\u3164",
        "\u2800",
        "\u0301",
        "\ufe0f",
        "\u202e",
    ],
)
def test_a_title_that_nobody_sees_is_refused(shop: Shop, assert_error: Callable[..., None], title: str) -> None:
    body = {**LINK, "line_items": [{"title": title, "quantity": 1}]}
    problem = {"line_items.0.title": "Must have a character that can be seen"}
    assert_error(shop.post("/api/v1/payment_link", body), 400, problem)


@pytest.mark.parametrize("title", ["茶", "شاي", "☕", "👨‍👩‍👧", " a ", "½", "é", "…", "한"])
def test_titles_of_all_scripts_are_taken(shop: Shop, title: str) -> None:
    order_id = shop.create(line_items=[{"title": title, "quantity": 1}])
    assert shop.order(order_id)["line_items"][0]["title"] == title


@pytest.mark.rule("states.3")
def test_the_timeline_is_in_the_order_of_what_happened(shop: Shop) -> None:
    order_id = shop.create()
    shop.wait(5)
    shop.simulate(order_id, "underpay")
    shop.wait(5)
    shop.post(f"/api/v1/payment/{order_id}/cancel")
    rows = shop.order(order_id)["timeline"]
    assert [set(row) for row in rows] == [{"status", "status_reason", "at", "transaction_hash"}] * 3
    assert [row["status"] for row in rows] == ["created", "processing", "cancelled"]
    moments = [datetime.fromisoformat(row["at"]) for row in rows]
    assert moments[0] < moments[1] < moments[2]
    assert [bool(row["transaction_hash"]) for row in rows] == [False, True, True]
