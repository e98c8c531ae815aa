"""The machine's clock is set forth and back: nothing is lost, nothing is done twice, and what is late comes."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

import pytest

from api.domain.clock import format_time
from tests.api.conftest import Merchant
from tests.support.clock import SettableClock
from tests.support.shop import LINK, Shop
from tests.support.webhooks import Desk, verify

FORTH, BACK = timedelta(hours=2), -timedelta(hours=2)
STEP_S = 1500
STEPS = 9
"""Enough to make up for the longest jump."""


def jump(shop: Shop, by: timedelta) -> None:
    shop.clock.set(shop.clock.now() + by)


def create_for_an_hour(shop: Shop) -> str:
    return shop.create(expires_at=format_time(shop.clock.now() + timedelta(hours=1)))


@pytest.mark.parametrize("by", [FORTH, BACK])
def test_a_repeated_order_is_the_same_across_a_jump(shop: Shop, by: timedelta) -> None:
    first = shop.post("/api/v1/payment_link", LINK, Idempotency_Key="cart")
    jump(shop, by)
    again = shop.post("/api/v1/payment_link", LINK, Idempotency_Key="cart")
    assert (again.status_code, again.data) == (200, first.data)
    assert shop.post("/api/v1/payment_link", LINK, Idempotency_Key="another").data != first.data


def test_an_order_that_a_jump_let_expire_still_takes_its_payment(shop: Shop) -> None:
    order_id = create_for_an_hour(shop)
    jump(shop, FORTH)
    shop.wait()
    assert shop.order(order_id)["payment_order_status"] == "expired"
    jump(shop, BACK)
    shop.simulate(order_id, "pay_late")
    for _ in range(STEPS):
        shop.wait(STEP_S)
    assert shop.order(order_id)["payment_order_status"] == "success"
    assert len(shop.payments()) == 1


@pytest.mark.parametrize("by", [FORTH, BACK])
def test_what_is_paid_around_a_jump_counts_once(shop: Shop, by: timedelta) -> None:
    before, after = shop.create(), create_for_an_hour(shop)
    shop.simulate(before, "pay")
    shop.wait()
    jump(shop, by)
    later = shop.create()
    shop.simulate(later, "pay")
    for _ in range(STEPS):
        shop.wait(STEP_S)
    assert [shop.order(each)["payment_order_status"] for each in (before, later)] == ["success", "success"]
    assert Counter(row.order_id for row in shop.payments()) == {before: 1, later: 1}
    assert shop.order(after)["payment_order_status"] == "expired", "an order ends in the end"


@pytest.mark.parametrize("by", [FORTH, BACK])
def test_an_event_waits_as_long_as_the_clock_went_back_and_is_signed_anew(
    desk: Desk, merchant: Merchant, clock: SettableClock, by: timedelta
) -> None:
    secret = desk.subscribe(merchant)["secret"]
    desk.transport.always(status=503)
    event_id = desk.publish(merchant)
    first = desk.work()
    clock.set(clock.now() + by)
    desk.transport.always(status=200)
    sent = []
    for _ in range(STEPS):
        clock.advance(seconds=STEP_S)
        new = desk.work()
        for each in new:
            verify(secret, each)  # which asks for a timestamp of the present
        sent += new
    assert [len(first), len(sent)] == [1, 1]
    assert {each.headers["webhook-id"] for each in (*first, *sent)} == {event_id}
    assert desk.delivery(event_id).status == "delivered"
