"""A worker is killed while it sends: the next one on its machine sends again at once, and waits for no lease."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import select

from api.domain.duties import Duty
from api.domain.env import EnvMode
from api.services.vendors.vendors import create_vendor
from api.services.webhooks.dispatcher import LEASE
from api.storage.db import Database
from api.storage.migrations import upgrade
from api.storage.process import Process
from api.storage.tables import Lease, WebhookDelivery
from tests.chaos.service import Service
from tests.support.databases import DIALECTS
from tests.support.listening import listen
from tests.support.servers import wait_until
from tests.support.shop import LINK

pytestmark = pytest.mark.xdist_group("chaos")


class Receiver:
    """Answers no request until it is told to; notes when each event came."""

    def __init__(self) -> None:
        self.came: dict[str, list[float]] = {}
        self.answering = threading.Event()

    def take(self, _: bytes, headers: Mapping[str, str]) -> int:
        self.came.setdefault(headers["webhook-id"], []).append(time.monotonic())
        self.answering.wait(LEASE.total_seconds())
        return 200


def find_sender(database: Database) -> int | None:
    """Return the process that has the part of the only subscription that something is being sent to."""
    with database.read() as session:
        leased = session.scalars(select(WebhookDelivery.id).where(WebhookDelivery.lease_until.is_not(None))).all()
        rows = session.scalars(select(Lease).where(Lease.duty.startswith(f"{Duty.WEBHOOKS}/"))).all()
    senders = {Process.parse(row.holder.partition("/")[0]) for row in rows}
    (sender,) = senders if leased and len(senders) == 1 else (None,)
    return None if sender is None else sender.pid


@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_a_killed_worker_was_sending_is_sent_again_at_once(
    dialect: str, make_database_url: Callable[[str], str], tmp_path: Path
) -> None:
    url, receiver = make_database_url(dialect), Receiver()
    database = Database(url)
    upgrade(database.engine)
    with database.write() as session:
        key = {"X-Api-Key": create_vendor(session, "Tea & Co", datetime.now(UTC)).keys[EnvMode.TEST]}
    parts = ("serve", "worker")
    with listen(receiver.take) as hook, Service(url, tmp_path, parts=parts, ALLOW_LOCAL_WEBHOOKS="true") as service:
        subscribed = service.post("/api/v1/webhook_subscription", {"webhook_url": hook, "env_mode": "test"}, key)
        assert subscribed.status_code == 200, subscribed.text
        created = service.post("/api/v1/payment_link", LINK, key)
        assert created.status_code == 200, created.text
        wait_until(lambda: receiver.came, "the first request")
        (event,) = receiver.came
        wait_until(lambda: find_sender(database) is not None, "the lease of what is sent")
        os.kill(find_sender(database) or 0, signal.SIGKILL)
        receiver.answering.set()
        service.start("worker")
        wait_until(lambda: len(receiver.came[event]) == 2, "the second request")
    database.close()
    first, second = receiver.came[event]
    print(f"{dialect}: sent again {second - first:.1f} s after the first time")
    assert second - first < LEASE.total_seconds() / 2
