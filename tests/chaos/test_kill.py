"""Processes are killed while orders are paid, expire and are reorganised: nothing is lost and nothing counts twice.

`CHAOS_SCHEDULES` says how many orders take part, and `CHAOS_SEED` which dice are thrown.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import pytest

from api.domain.env import EnvMode
from api.domain.orders import OrderStatus, StatusReason
from api.services.vendors.vendors import create_vendor
from api.storage.db import Database
from api.storage.migrations import upgrade
from tests.chaos.service import Service
from tests.support.books import Books, read_books_when_calm
from tests.support.shop import LINK

SCHEDULES = int(os.environ.get("CHAOS_SCHEDULES", "36"))
SEED = int(os.environ.get("CHAOS_SEED", "7"))
CUSTOMERS = 6
CALM_S = 90
PAUSE_S = 0.6
BETWEEN_KILLS_S = 0.7

PLANS: tuple[tuple[str, ...], ...] = (
    ("pay",),
    ("pay", "expire"),
    ("pay", "reorg", "pay"),
    ("reorg", "pay"),
    ("reorg", "expire", "pay_late"),
    ("underpay", "pay"),
    ("underpay", "expire"),
    ("overpay", "reorg"),
    ("pay_late",),
    ("expire", "pay_late"),
    ("bridge_fail",),
    ("expire",),
)


@pytest.mark.parametrize("dialect", ["sqlite", "postgresql"])
def test_nothing_is_lost_and_nothing_counts_twice(
    dialect: str,
    make_database_url: Callable[[str], str],
    tmp_path: Path,
) -> None:
    url = make_database_url(dialect)
    database = Database(url)
    upgrade(database.engine)
    with database.write() as session:
        key = create_vendor(session, "Tea & Co", datetime.now(UTC)).keys[EnvMode.TEST]
    try:
        with Service(url, tmp_path) as service:
            orders = _run_schedules(service, key)
            books = read_books_when_calm(database, CALM_S, _check_money)
    finally:
        database.close()
    print(f"{dialect}: {len(orders)} orders, kills {dict(service.kills)}, {dict(books.statuses)}")
    assert books.wrong == []
    assert len(set(orders)) == books.statuses.total() == SCHEDULES
    assert service.kills.total() > 0


def _run_schedules(service: Service, key: str) -> list[str]:
    """Let customers act while somebody kills processes; return the orders' ids."""
    done = threading.Event()

    def kill() -> None:
        random = Random(SEED)
        while not done.wait(random.random() * 2 * BETWEEN_KILLS_S):
            service.kill_one(random)

    with ThreadPoolExecutor(CUSTOMERS) as pool:
        killer = threading.Thread(target=kill)
        killer.start()
        try:
            return list(pool.map(lambda number: _customer(service, key, number), range(SCHEDULES)))
        finally:
            done.set()
            killer.join()


def _customer(service: Service, key: str, number: int) -> str:
    """Create one order and do with it what its plan says; a refused action is one that came too late."""
    random = Random(f"{SEED}:{number}")
    headers = {"X-Api-Key": key}
    link = {**LINK, "metadata": {"number": number}}
    created = service.post("/api/v1/payment_link", link, headers | {"Idempotency-Key": f"order-{number}"})
    assert created.status_code == 200, created.text
    order_id = str(created.json()["payment_order_id"])
    for action in PLANS[number % len(PLANS)]:
        answer = service.post(f"/api/v1/payment/{order_id}/simulate", {"action": action}, headers)
        assert answer.status_code in {200, 409}, answer.text
        threading.Event().wait(random.random() * 2 * PAUSE_S)
    return order_id


def _check_money(books: Books) -> None:
    """What an order has received is what moved for it, and its status is what that is worth."""
    for order in books.orders:
        unmatched = sum(
            row.amount for row in books.payments if row.claimed_order_id == order.id and row.order_id is None
        )
        sent = sum(row.amount for row in books.moved if row.reference == order.payment_reference)
        if order.amount_received != sent - unmatched:
            books.wrong.append(f"{order.id} has {order.amount_received}, sent {sent - unmatched}")
        # A worker that is killed may still commit what it found just before the chain changed: such an order says so.
        is_paid = order.status == OrderStatus.SUCCESS and order.status_reason != StatusReason.REORGED
        if is_paid != (order.amount_received >= (order.settlement_amount or 0)):
            books.wrong.append(
                f"{order.id} is {order.status} with {order.amount_received} of {order.settlement_amount}"
            )
