"""Many at once: watchers, expiry, cancellations and payments, on both databases."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.exc import OperationalError

from api.domain.orders import TRANSITIONS, OrderStatus
from api.services.orders.expiry import expire_orders
from api.services.settlement.watching.watcher import watch
from api.storage.tables import PaymentOrder
from tests.support.shop import Shop

PRICE = 10**6


def at_once(*actions: Callable[[], Any]) -> None:
    """Run each action in a thread of its own; what one raises is raised here."""
    start = threading.Barrier(len(actions))

    def run(action: Callable[[], Any]) -> None:
        start.wait()
        action()

    with ThreadPoolExecutor(len(actions)) as pool:
        for done in [pool.submit(run, action) for action in actions]:
            done.result()


def retried(job: Callable[[Any], None], shop: Shop) -> Callable[[], None]:
    """Run a worker's job as the worker does: what the database refuses is made up for by the next run."""

    def run() -> None:
        for _ in range(5):
            try:
                return job(shop.resources)
            except OperationalError:
                continue
        raise AssertionError("five runs in a row were refused")

    return run


def check_books(shop: Shop) -> Counter[str]:
    """Every transfer counts for one order or for none, every history is legal; return the statuses."""
    credited: Counter[str] = Counter()
    for row in shop.payments():
        if row.order_id is not None and row.state != "reorged":
            credited[row.order_id] += row.amount
    moved = sum(row.amount for row in shop.transfers())
    nobodys = sum(row.amount for row in shop.payments() if row.order_id is None)
    assert credited.total() + nobodys == moved
    statuses: Counter[str] = Counter()
    with shop.resources.database.read() as session:
        orders = session.scalars(select(PaymentOrder)).all()
    for order in orders:
        assert order.amount_received == credited[order.id]
        steps = [OrderStatus(word.split("/")[0]) for word in shop.history(order.id)]
        assert all(b in TRANSITIONS[a] or a == b in {"processing", "cancelled"} for a, b in pairwise(steps))
        assert len(shop.events(order.id)) == len(steps)
        assert (order.status == "success") <= (order.amount_received >= PRICE)
        statuses[order.status] += 1
    return statuses


def test_pay_against_expire(shop: Shop) -> None:
    """Fifty orders are paid and expire at the same moment, under six jobs; each payment is credited once."""
    orders = [shop.create() for _ in range(50)]
    for order_id in orders:
        shop.simulate(order_id, "pay")
    shop.clock.advance(hours=24, seconds=70)
    at_once(*[retried(watch, shop), retried(expire_orders, shop)] * 3)
    shop.wait(4)
    assert check_books(shop) == {"success": 50}
    assert len(shop.payments()) == 50


def test_cancel_against_pay(shop: Shop) -> None:
    orders = [shop.create() for _ in range(40)]
    for order_id in orders:
        shop.simulate(order_id, "pay")
    shop.clock.advance(seconds=1)

    def cancel_all() -> None:
        client = shop.client.application.test_client()
        for order_id in orders:
            answer = client.post(f"/api/v1/payment/{order_id}/cancel", headers=shop.merchant.headers())
            assert answer.status_code in {200, 409}

    at_once(cancel_all, retried(watch, shop))
    shop.wait(4)
    statuses = check_books(shop)
    assert set(statuses) <= {"success", "cancelled"}
    assert sum(row.is_after_close for row in shop.payments()) == statuses["cancelled"]


def test_two_workers_see_one_payment(shop: Shop) -> None:
    orders = [shop.create() for _ in range(20)]
    for order_id in orders:
        shop.simulate(order_id, "overpay")
    shop.clock.advance(seconds=1)
    at_once(*[retried(watch, shop)] * 4)
    shop.clock.advance(seconds=1)
    at_once(*[retried(watch, shop)] * 4)
    shop.wait(2)
    assert check_books(shop) == {"success": 20}
    assert all(shop.history(order_id)[1:] == ["processing/overpaid", "success/overpaid"] for order_id in orders)


def test_one_click_of_many_pays(shop: Shop) -> None:
    """The customer clicks eight times at once; one payment is made."""
    order_id = shop.create()
    answers: list[int] = []

    def click() -> None:
        client = shop.client.application.test_client()
        path = f"/api/v1/payment/{order_id}/simulate"
        answers.append(client.post(path, json={"action": "pay"}, headers=shop.merchant.headers()).status_code)

    at_once(*[click] * 8)
    assert Counter(answers) == {200: 1, 409: 7}
    shop.wait(3)
    assert check_books(shop) == {"success": 1}


def test_one_refund_of_many(shop: Shop) -> None:
    order_id = shop.create()
    shop.simulate(order_id, "pay")
    shop.wait(5)
    answers: list[int] = []

    def refund() -> None:
        client = shop.client.application.test_client()
        answer = client.post(f"/api/v1/payment/{order_id}/refund", headers=shop.merchant.headers())
        answers.append(answer.status_code)

    at_once(*[refund] * 6)
    assert Counter(answers) == {200: 6}
    shop.wait(2)
    assert len(shop.transfers()) == 2


@pytest.mark.parametrize("action", ["pay", "bridge_delay", "reorg"])
def test_payments_go_in_while_blocks_are_closed(shop: Shop, action: str) -> None:
    """Whoever pays while the head moves is in a block that the watcher still reads."""
    orders = [shop.create() for _ in range(12)]

    def act(part: int) -> Callable[[], None]:
        def run() -> None:
            client = shop.client.application.test_client()
            for order_id in orders[part::2]:
                path = f"/api/v1/payment/{order_id}/simulate"
                answer = client.post(path, json={"action": action}, headers=shop.merchant.headers())
                assert answer.status_code == 200, answer.get_json()

        return run

    def keep_watching() -> None:
        for _ in range(10):
            shop.clock.advance(seconds=0.25)
            retried(watch, shop)()

    at_once(act(0), act(1), keep_watching)
    shop.wait(20)  # until the bridge has delivered
    shop.wait(8)  # until what the last of these looks saw has its confirmations
    assert {row.tx_hash for row in shop.transfers()} == {
        row.tx_hash for row in shop.payments() if row.state != "reorged"
    }
    expected = "created/reorged" if action == "reorg" else "success/"
    assert {shop.history(order_id)[-1] for order_id in orders} == {expected}
