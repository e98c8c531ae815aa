"""Kill the worker again and again while it delivers to a receiver that refuses: nothing is lost."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import func, select
from standardwebhooks import Webhook, WebhookVerificationError

from api.domain.env import EnvMode
from api.domain.events import DEFAULT_TYPES
from api.domain.ids import IdPrefix, make_id
from api.secrets.box import SecretBox
from api.secrets.keys import FixedKeys, make_key, parse_keys
from api.services.vendors.vendors import create_vendor
from api.services.webhooks.outbox import NewEvent, publish
from api.services.webhooks.secrets import add_secret
from api.storage.db import Database
from api.storage.migrations import upgrade
from api.storage.tables import WebhookDelivery, WebhookSubscription
from tests.support.databases import DIALECTS
from tests.support.listening import listen

MESSAGES = 300
SUBSCRIPTIONS = 5
KILLS = 4
BETWEEN_KILLS = 40
REFUSED_OF_TEN = 1
PATIENCE_S = 400.0
"""Outlasts the five minutes before a third attempt: an event that was refused, and whose second attempt met a machine
that stood still for the worker's time limit, gets one. With 120 s a run failed on that.
"""


class Receiver:
    """Verifies every request, and refuses a tenth of the events the first time they come."""

    def __init__(self) -> None:
        self._webhooks: list[Webhook] = []
        self._lock = threading.Lock()
        self.seen: Counter[str] = Counter()
        self.accepted: Counter[str] = Counter()

    def trust(self, secret: str) -> None:
        self._webhooks.append(Webhook(secret))

    def take(self, body: bytes, headers: Mapping[str, str]) -> int:
        assert any(is_signed(webhook, body, headers) for webhook in self._webhooks)
        event_id = headers["webhook-id"]
        with self._lock:
            self.seen[event_id] += 1
            if self.seen[event_id] == 1 and len(self.seen) % 10 < REFUSED_OF_TEN:
                return 503
            self.accepted[event_id] += 1
        return 200

    def received(self) -> int:
        with self._lock:
            return self.seen.total()


@pytest.fixture(params=DIALECTS)
def url(request: pytest.FixtureRequest, make_database_url: Callable[[str], str]) -> str:
    return make_database_url(request.param)


@pytest.mark.xdist_group("chaos")
def test_no_event_is_lost_when_the_worker_is_killed(url: str, tmp_path: Path) -> None:
    database, receiver = Database(url), Receiver()
    upgrade(database.engine)
    environment = {**os.environ, "DATABASE_URL": url, "DATA_DIR": str(tmp_path), "ALLOW_LOCAL_WEBHOOKS": "true"}
    environment["SECRET_KEYS"] = key = make_key()
    with listen(receiver.take) as hook:
        published = publish_all(database, receiver, key, hook)
        for _ in range(KILLS):
            worker = start(environment)
            goal = receiver.received() + BETWEEN_KILLS
            wait_until(lambda goal=goal: receiver.received() >= goal)
            worker.kill()
            worker.wait()
        worker = start(environment)
        try:
            wait_until(lambda: statuses(database) == {"delivered": MESSAGES}, lambda: list_unfinished(database))
        finally:
            worker.kill()
            worker.wait()
    database.close()
    duplicates = receiver.accepted.total() - MESSAGES
    print(f"{MESSAGES} events, {KILLS} kills: {duplicates} delivered more than once")
    assert set(receiver.accepted) == set(published)
    assert receiver.seen.total() - receiver.accepted.total() == MESSAGES // 10
    assert duplicates <= KILLS * 16


def is_signed(webhook: Webhook, body: bytes, headers: Mapping[str, str]) -> bool:
    try:
        webhook.verify(body, dict(headers))
    except WebhookVerificationError:
        return False
    return True


def publish_all(database: Database, receiver: Receiver, key: str, hook: str, messages: int = MESSAGES) -> list[str]:
    now, box = datetime.now(UTC), SecretBox(FixedKeys(parse_keys([key], "SECRET_KEYS")))
    with database.write() as session:
        vendors = [create_vendor(session, f"Shop {number}", now).vendor_id for number in range(SUBSCRIPTIONS)]
        for vendor_id in vendors:
            subscription = WebhookSubscription(
                id=make_id(IdPrefix.SUBSCRIPTION, now),
                vendor_id=vendor_id,
                url=hook,
                env_mode=EnvMode.TEST,
                events=list(DEFAULT_TYPES),
                created_at=now,
                updated_at=now,
            )
            session.add(subscription)
            session.flush()
            receiver.trust(add_secret(session, box, subscription.id, now))
        return [
            publish(
                session,
                NewEvent(
                    vendor_id=vendors[number % SUBSCRIPTIONS],
                    env_mode=EnvMode.TEST,
                    order_id=None,
                    type="payment_success",
                    created_at=now,
                    data={"number": number},
                ),
            )
            for number in range(messages)
        ]


def start(environment: dict[str, str]) -> subprocess.Popen[bytes]:
    root = Path(__file__).parents[2]
    command = [sys.executable, "-m", "tests.chaos.webhook_worker"]
    return subprocess.Popen(command, cwd=root, env=environment, stdout=subprocess.DEVNULL)


def statuses(database: Database) -> dict[str, int]:
    query = select(WebhookDelivery.status, func.count()).group_by(WebhookDelivery.status)
    with database.read() as session:
        return {str(status): int(count) for status, count in session.execute(query)}


def list_unfinished(database: Database) -> list[tuple[str, int, str, str]]:
    """Return what is not delivered: status, attempts, the last answer, and when the next attempt is due."""
    query = select(WebhookDelivery).where(WebhookDelivery.status != "delivered")
    with database.read() as session:
        return [
            (row.status, row.attempts, str(row.response_status), str(row.next_attempt_at))
            for row in session.scalars(query)
        ]


def wait_until(condition: Callable[[], bool], describe: Callable[[], object] = lambda: "") -> None:
    deadline, pause = time.monotonic() + PATIENCE_S, threading.Event()
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"the worker made no progress: {describe()}")
        pause.wait(0.02)
