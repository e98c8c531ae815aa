"""Processes are killed while a vendor assigns transfers, twice each: every one counts once, and is told once."""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import pytest
from sqlalchemy import func, select

from api.domain.env import EnvMode
from api.domain.transfers import TransferKind
from api.services.simulator.chain import NewTransfer, append
from api.services.simulator.wallet import PAYER
from api.services.vendors.vendors import create_vendor
from api.storage.db import Database
from api.storage.migrations import upgrade
from api.storage.tables import Payment, PaymentOrder, TimelineEntry, WebhookEvent
from tests.chaos.service import Service
from tests.support.shop import LINK

TRANSFERS = int(os.environ.get("CHAOS_TRANSFERS", "16"))
SEED = int(os.environ.get("CHAOS_SEED", "7"))
PRICE = 10**6
CALM_S = 90
BETWEEN_KILLS_S = 0.7
PATH = "/api/v1/unmatched_transfer"


@pytest.mark.parametrize("dialect", ["sqlite", "postgresql"])
def test_what_is_assigned_while_processes_die_counts_once(
    dialect: str, make_database_url: Callable[[str], str], tmp_path: Path
) -> None:
    url = make_database_url(dialect)
    database = Database(url)
    upgrade(database.engine)
    with database.write() as session:
        headers = {"X-Api-Key": create_vendor(session, "Tea & Co", datetime.now(UTC)).keys[EnvMode.TEST]}
    try:
        with Service(url, tmp_path) as service:
            orders = [_create(service, headers) for _ in range(TRANSFERS)]
            for order_id in orders:
                _send(database, order_id)
            answers = _assign_all(service, database, headers, orders)
            wrong = _wait_until_right(database)
    finally:
        database.close()
    print(f"{dialect}: kills {dict(service.kills)}, answers {dict(answers)}")
    assert wrong == []
    assert service.kills.total() > 0
    assert 1 <= answers[200] <= TRANSFERS  # whose answer was killed on its way asked again, and got 409


def _create(service: Service, headers: dict[str, str]) -> str:
    return str(service.post("/api/v1/payment_link", LINK, headers).json()["payment_order_id"])


def _send(database: Database, order_id: str) -> None:
    """Move the price of an order to its merchant, without a word for what."""
    with database.write() as session:
        order = session.get_one(PaymentOrder, order_id)
        moved = NewTransfer(
            kind=TransferKind.PAYMENT,
            chain_id=order.settlement_chain_id or 0,
            token_address=order.settlement_token_address or "",
            sender=PAYER,
            recipient=order.settlement_address or "",
            amount=PRICE,
            reference=None,
        )
        append(session, moved, datetime.now(UTC))


def _assign_all(service: Service, database: Database, headers: dict[str, str], orders: list[str]) -> Counter[int]:
    """Assign each transfer from two sides at once as soon as it is known, while processes are killed."""
    done, answers = threading.Event(), Counter[int]()

    def kill() -> None:
        random = Random(SEED)
        while not done.wait(random.random() * 2 * BETWEEN_KILLS_S):
            service.kill_one(random)

    def assign(number: int, order_id: str) -> None:
        transfer_id = _await_transfer(database, number)
        answer = service.post(f"{PATH}/{transfer_id}/assign", {"payment_order_id": order_id}, headers)
        assert answer.status_code in {200, 409}, answer.text
        answers[answer.status_code] += 1

    with ThreadPoolExecutor(6) as pool:
        killer = threading.Thread(target=kill)
        killer.start()
        try:
            sides = [(number, side[number]) for number in range(TRANSFERS) for side in (orders, orders[::-1])]
            for asked in [pool.submit(assign, *each) for each in sides]:
                asked.result()
        finally:
            done.set()
            killer.join()
    return answers


def _await_transfer(database: Database, number: int) -> str:
    """Return the id of one transfer, once a worker has seen as many."""
    deadline = time.monotonic() + CALM_S
    while time.monotonic() < deadline:
        with database.read() as session:
            known = session.scalars(select(Payment.public_id).order_by(Payment.id)).all()
        if len(known) > number:
            return known[number]
        threading.Event().wait(0.1)
    raise TimeoutError(f"only {len(known)} transfers were seen")


def _wait_until_right(database: Database) -> list[str]:
    deadline = time.monotonic() + CALM_S
    while (wrong := _find_wrongs(database)) and time.monotonic() < deadline:
        threading.Event().wait(0.2)
    return wrong


def _find_wrongs(database: Database) -> list[str]:
    with database.read() as session:
        payments = session.scalars(select(Payment)).all()
        orders = session.scalars(select(PaymentOrder)).all()
        counted = select(TimelineEntry.order_id, func.count()).group_by(TimelineEntry.order_id)
        steps = {row[0]: row[1] for row in session.execute(counted)}
        told = session.execute(select(WebhookEvent.order_id, WebhookEvent.transfer_id)).all()
    wrong = [] if len(payments) == TRANSFERS else [f"{len(payments)} of {TRANSFERS} transfers are known"]
    wrong += [f"{row.public_id} is {row.state} without an order" for row in payments if row.order_id is None]
    for order in orders:
        received = sum(row.amount for row in payments if row.order_id == order.id)
        events = sum(row.order_id == order.id for row in told)
        if order.amount_received != received:
            wrong.append(f"{order.id} says {order.amount_received} and has {received}")
        if (order.status == "success") != (received >= PRICE):
            wrong.append(f"{order.id} is {order.status} with {received}")
        if events != steps[order.id]:
            wrong.append(f"{order.id} has {steps[order.id]} changes and {events} events")
    twice = Counter(row.transfer_id for row in told if row.transfer_id)
    return wrong + [f"{name} was told {count} times" for name, count in twice.items() if count > 1]
