"""Processes are killed while orders are paid, expire and are reorganised: nothing is lost and nothing counts twice.

`CHAOS_SCHEDULES` says how many orders take part, and `CHAOS_SEED` which dice are thrown.
"""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from sqlalchemy import func, select

from api.domain.env import EnvMode
from api.domain.orders import TRANSITIONS, OrderStatus, StatusReason
from api.domain.payments import GONE
from api.services.vendors.vendors import create_vendor
from api.storage.db import Database
from api.storage.migrations import upgrade
from api.storage.tables import Payment, PaymentOrder, SimulatedTransfer, TimelineEntry, WebhookEvent
from tests.chaos.service import Service
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


@dataclass
class Books:
    """What the database says after everything, and what is wrong with it."""

    statuses: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


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
            books = _books_when_calm(database)
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


def _books_when_calm(database: Database) -> Books:
    """Wait until the workers have nothing left to do; then the books must be right."""
    deadline = time.monotonic() + CALM_S
    books = _books(database)
    while books.wrong and time.monotonic() < deadline:
        threading.Event().wait(0.2)
        books = _books(database)
    return books


def _books(database: Database) -> Books:
    books = Books()
    with database.read() as session:
        orders = session.scalars(select(PaymentOrder)).all()
        payments = session.scalars(select(Payment)).all()
        moved = session.scalars(
            select(SimulatedTransfer).where(SimulatedTransfer.is_canonical, SimulatedTransfer.kind == "payment")
        ).all()
        steps = session.execute(select(TimelineEntry.order_id, TimelineEntry.status).order_by(TimelineEntry.id)).all()
        events = {
            row[0]: row[1]
            for row in session.execute(select(WebhookEvent.order_id, func.count()).group_by(WebhookEvent.order_id))
        }
    _check_transfers(books, payments, moved)
    for order in orders:
        history = [OrderStatus(row.status) for row in steps if row.order_id == order.id]
        _check_order(books, order, history, events.get(order.id, 0))
        _check_money(books, order, payments, moved)
    return books


def _check_transfers(books: Books, payments: Sequence[Payment], moved: Sequence[SimulatedTransfer]) -> None:
    """Each transfer on the chains is one payment, and each payment is on the chains."""
    known = Counter((row.chain_id, row.tx_hash, row.log_index) for row in payments if _counts(row))
    real = Counter((row.chain_id, row.tx_hash, row.log_index) for row in moved)
    for key in known.keys() | real.keys():
        if known[key] != real[key]:
            books.wrong.append(f"{key} moved {real[key]} times and is known {known[key]} times")


def _check_order(books: Books, order: PaymentOrder, history: list[OrderStatus], events: int) -> None:
    """The history is legal, ends where the order stands, and every change was told."""
    books.statuses[order.status] += 1
    legal = all(b in TRANSITIONS[a] or a == b in {"processing", "success"} for a, b in pairwise(history))
    if not legal or history[:1] != [OrderStatus.CREATED] or history[-1] != order.status:
        books.wrong.append(f"{order.id} is {order.status} after {history}")
    if events != len(history):
        books.wrong.append(f"{order.id} has {len(history)} changes and {events} events")


def _check_money(
    books: Books, order: PaymentOrder, payments: Sequence[Payment], moved: Sequence[SimulatedTransfer]
) -> None:
    """What the order has received is what moved for it, and its status is what that is worth."""
    received = sum(row.amount for row in payments if row.order_id == order.id and _counts(row))
    unmatched = sum(row.amount for row in payments if row.claimed_order_id == order.id and row.order_id is None)
    sent = sum(row.amount for row in moved if row.reference == order.payment_reference)
    if not order.amount_received == received == sent - unmatched:
        books.wrong.append(f"{order.id} has {order.amount_received}, credited {received}, sent {sent - unmatched}")
    # A worker that is killed may still commit what it found just before the chain changed: such an order says so.
    is_paid = order.status == OrderStatus.SUCCESS and order.status_reason != StatusReason.REORGED
    if is_paid != (received >= (order.settlement_amount or 0)):
        books.wrong.append(f"{order.id} is {order.status} with {received} of {order.settlement_amount}")


def _counts(row: Payment) -> bool:
    return row.kind == "payment" and row.state not in GONE
