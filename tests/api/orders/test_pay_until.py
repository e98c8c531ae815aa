"""Until when an order that was paid short can be paid, and what its page says once that is over."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from api.checkout_page.language.strings import load
from api.checkout_page.money.amounts import format_moment
from api.checkout_page.status.state import PageState, build_state
from api.domain.orders import LATE_WINDOW
from api.services.checkout.money_seen import load_order_and_money
from api.services.orders.expiry import PATIENCE
from api.services.settlement.watching.watcher import watch
from tests.api.conftest import START
from tests.support.shop import Shop
from tests.support.simulated_payments import send

LIFE = timedelta(hours=24)
TITLE = "The time to pay is over"


def see_page(shop: Shop, order_id: str) -> PageState:
    order, seen = load_order_and_money(shop.resources, order_id)
    return build_state(order, seen, shop.clock.now(), load())


def say_end(life: timedelta) -> str:
    return f"before {format_moment(START + life, load())}"


def ask_quote(shop: Shop, order_id: str) -> tuple[int, str]:
    order = shop.order(order_id)["settlement"]
    body = {"chainId": order["chain_id"], "token": order["token_address"]}
    answer = shop.client.post(f"/payment/{order_id}/quote", json=body)
    said: dict[str, Any] = answer.get_json()
    return answer.status_code, said.get("message", "")


@pytest.mark.rule("states.8")
def test_nobody_is_asked_to_pay_the_rest_once_the_time_is_over(shop: Shop) -> None:
    """Found: the page offered it for as long as a chain was away, and the rest came for a failed order."""
    order_id = shop.create()
    send(shop, order_id, 10**6 // 2)
    shop.wait(2)
    before = see_page(shop, order_id)
    assert (before.panel, say_end(LIFE) in before.text) == ("pay", True)
    assert ask_quote(shop, order_id)[0] == 200
    shop.clock.set(START + LIFE)
    order, after = shop.order(order_id), see_page(shop, order_id)
    assert order["payment_order_status"] == "processing"
    assert (order["payable"], order["not_payable_reason"]) == (False, "order_expired")
    assert (after.panel, after.title, after.banner, after.pay_anyway_text) == ("progress", TITLE, None, "")
    assert [row["name"] for row in after.amounts] == ["price", "arrived", "due"]
    assert ask_quote(shop, order_id) == (409, "The order takes no payment now: its time is over")
    shop.wait(2)
    assert shop.history(order_id)[-1] == "failed/underpaid"


def test_another_token_is_not_to_be_put_right_either(shop: Shop) -> None:
    order_id = shop.create()
    shop.simulate(order_id, "wrong_token")
    shop.wait(2)
    assert see_page(shop, order_id).panel == "pay"
    shop.clock.set(START + LIFE)
    after = see_page(shop, order_id)
    assert (after.panel, after.title) == ("progress", TITLE)


def test_who_paid_a_part_late_has_a_day_for_the_rest(shop: Shop) -> None:
    """What is built for a wallet then has a deadline that lies ahead."""
    order_id = shop.create()
    shop.wait(1)
    shop.clock.set(START + LIFE + timedelta(minutes=2))
    shop.wait(1)
    assert shop.history(order_id)[-1] == "expired/expired"
    send(shop, order_id, 10**6 // 2)
    shop.wait(2)
    assert shop.history(order_id)[-1] == "processing/underpaid"
    shop.clock.set(START + LIFE + LATE_WINDOW - timedelta(seconds=1))
    watch(shop.resources)
    state = see_page(shop, order_id)
    assert (state.panel, say_end(LIFE + LATE_WINDOW) in state.text) == ("pay", True)
    order, _ = load_order_and_money(shop.resources, order_id)
    assert order.pay_until == order.expires_at + LATE_WINDOW == START + LIFE + PATIENCE
    assert shop.order(order_id)["payable"]
    shop.clock.set(START + LIFE + LATE_WINDOW)
    assert (see_page(shop, order_id).panel, shop.order(order_id)["payable"]) == ("progress", False)
