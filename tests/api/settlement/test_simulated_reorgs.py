"""Simulated reorganisations: what they undo, and when they come too late."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sqlalchemy import select

from api.storage.tables import SimulatedTransfer
from tests.support.shop import Shop


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
