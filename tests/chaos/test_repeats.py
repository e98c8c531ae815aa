"""Every request comes 32 times at once, to several processes of the service: one order each, and one answer.

Over HTTP, as clients send it that lost a connection or whose queue delivers twice.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path

import pytest
import urllib3
from sqlalchemy import func, select

from api.domain.env import EnvMode
from api.services.vendors.vendors import create_vendor
from api.storage.db import Database
from api.storage.migrations import upgrade
from api.storage.tables import IdempotencyKey, PaymentOrder, WebhookEvent
from tests.support.running import run_service
from tests.support.shop import LINK

KEYS = 100
CLIENTS = 32
WEB_WORKERS = "2"
"""Server processes."""


@dataclass
class Seen:
    """What the clients were answered."""

    bodies: defaultdict[int, set[bytes]] = field(default_factory=lambda: defaultdict(set))
    statuses: Counter[int] = field(default_factory=Counter)
    first: Counter[int] = field(default_factory=Counter)


@pytest.mark.rule("idempotency.3")
@pytest.mark.parametrize("dialect", ["sqlite", "postgresql"])
def test_a_hundred_keys_that_come_32_times_at_once_make_a_hundred_orders(
    dialect: str, make_database_url: Callable[[str], str], tmp_path: Path
) -> None:
    url = make_database_url(dialect)
    database = Database(url)
    upgrade(database.engine)
    with database.write() as session:
        vendor = create_vendor(session, "Tea & Co", datetime.now(UTC))
    settings = {"DATABASE_URL": url, "RATE_LIMIT_KEY": "1000000", "WEB_WORKERS": WEB_WORKERS}
    try:
        with run_service(tmp_path, **settings) as service:
            began = time.monotonic()
            seen = _ask_all(service.url, vendor.keys[EnvMode.TEST])
            took = time.monotonic() - began
        with database.read() as session:
            made = session.scalar(select(func.count()).where(PaymentOrder.vendor_id == vendor.vendor_id))
            told = session.scalar(select(func.count()).where(WebhookEvent.vendor_id == vendor.vendor_id))
            kept = session.scalar(select(func.count()).select_from(IdempotencyKey))
    finally:
        database.close()
    print(f"{dialect}: {KEYS} keys × {CLIENTS} in {took:.1f} s, {dict(seen.statuses)}, {made} orders")
    assert (made, told, kept) == (KEYS, KEYS, KEYS)
    assert [len(seen.bodies[key]) for key in range(KEYS)] == [1] * KEYS
    assert [seen.first[key] for key in range(KEYS)] == [1] * KEYS, "one is carried out, the others are repetitions"
    assert set(seen.statuses) <= {200, HTTPStatus.CONFLICT}
    assert seen.statuses[200] == KEYS * CLIENTS


def _ask_all(address: str, api_key: str) -> Seen:
    """Let all clients send the same request at the same moment, key after key."""
    seen, start, pause = Seen(), threading.Barrier(CLIENTS), threading.Event()

    def ask(_: int) -> None:
        with urllib3.connection_from_url(address, retries=False, timeout=60) as client:  # requests takes thrice as long
            for key in range(KEYS):
                headers = {"X-Api-Key": api_key, "Idempotency-Key": f"cart-{key}"}
                body = {**LINK, "metadata": {"cart": str(key)}}
                start.wait()
                answer = client.request("POST", "/api/v1/payment_link", json=body, headers=headers)
                while answer.status == HTTPStatus.CONFLICT:
                    seen.statuses[answer.status] += 1
                    pause.wait(int(answer.headers["Retry-After"]))
                    answer = client.request("POST", "/api/v1/payment_link", json=body, headers=headers)
                seen.statuses[answer.status] += 1
                seen.bodies[key].add(answer.data)
                seen.first[key] += "Idempotent-Replayed" not in answer.headers

    with ThreadPoolExecutor(CLIENTS) as pool:
        list(pool.map(ask, range(CLIENTS)))
    return seen
