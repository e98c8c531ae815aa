"""Payments that should be final by now are told, and no others."""

from __future__ import annotations

import re
from datetime import timedelta

from api.app import build_app
from api.services.operations.doctor.database import check_database
from api.services.operations.overdue_payments import GRACE
from tests.support.metrics import read_metrics
from tests.support.shop import Shop
from tests.support.simulated_payments import ETH_PRICE, send

OVERDUE = r'^checkout_payments_overdue{chain_id="(\d+)",env_mode="test"} (\S+)$'


def count(shop: Shop) -> float:
    found = re.findall(OVERDUE, read_metrics(build_app(shop.resources)), re.MULTILINE)
    assert len(found) > 1, "each chain that is watched has a series"
    return sum(float(value) for _, value in found)


def list_said(shop: Shop) -> list[tuple[str, str]]:
    return [(each.level, each.message) for each in check_database(shop.resources) if each.about == "payments"]


def test_a_payment_that_is_not_final_for_long_is_told(shop: Shop) -> None:
    order_id = shop.create(order_price=ETH_PRICE)
    send(shop, order_id, 10**18)
    shop.wait(1)
    (payment,) = shop.payments()
    assert payment.state != "final"
    assert count(shop) == 0, "it waits as it should"
    shop.clock.advance(seconds=(GRACE + timedelta(minutes=1)).total_seconds())
    assert count(shop) == 1
    ((level, said),) = list_said(shop)
    assert (level, said) == (
        "warning", f"payments should have been final ten minutes ago: 1 on chain {payment.chain_id} (test)",
    )  # fmt: skip
    shop.wait(5)
    assert {row.state for row in shop.payments()} == {"final"}
    assert (count(shop), list_said(shop)) == (0, [])
