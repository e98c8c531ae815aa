"""Workers are stopped, killed and continued: others take over within ten seconds, and the first writes no more."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import select

from api.domain.duties import PRESENCE, Duty, find_duty, name_share
from api.domain.env import EnvMode
from api.services.vendors.vendors import create_vendor
from api.storage.db import Database
from api.storage.migrations import upgrade
from api.storage.process import Process
from api.storage.tables import JobSlot, Lease, PaymentOrder
from api.worker.leases import Leases
from tests.chaos.service import Service
from tests.support.databases import DIALECTS
from tests.support.shop import LINK

PATIENCE_S = 60
WATCHED = name_share(Duty.CHAINS, "test")

pytestmark = pytest.mark.xdist_group("chaos")


@pytest.fixture(params=DIALECTS)
def url(request: pytest.FixtureRequest, make_database_url: Callable[[str], str]) -> str:
    return make_database_url(request.param)


@pytest.fixture
def database(url: str) -> Iterator[Database]:
    opened = Database(url)
    upgrade(opened.engine)
    yield opened
    opened.close()


def wait_until(condition: Callable[[], bool], within_s: float, what: str) -> float:
    """Wait for a condition; return how many seconds that took."""
    started, pause = time.monotonic(), threading.Event()
    while not condition():
        assert time.monotonic() - started < within_s, f"not within {within_s} s: {what}"
        pause.wait(0.05)
    return time.monotonic() - started


def holders(database: Database) -> dict[str, Process]:
    """Return who does each share."""
    with database.read() as session:
        rows = {row.duty: Process.parse(row.holder.partition("/")[0]) for row in session.scalars(select(Lease))}
    return {share: process for share, process in rows.items() if process is not None and not share.startswith(PRESENCE)}


def is_shared(database: Database) -> bool:
    """Whether two workers do everything, both of them some."""
    held = holders(database)
    return {find_duty(share) for share in held} == set(Duty) and len(set(held.values())) == 2


def slots(database: Database) -> list[str]:
    with database.read() as session:
        return list(session.scalars(select(JobSlot.job)))


@pytest.mark.parametrize("moment", ["before", "within"])
def test_what_a_stopped_worker_was_about_to_write_is_refused(url: str, database: Database, moment: str) -> None:
    """Within a transaction it also holds locks: on SQLite the only one for writing, until it is killed."""
    command = [sys.executable, "-m", "tests.chaos.stopped_worker", moment]
    root = Path(__file__).parents[2]
    environment = {**os.environ, "DATABASE_URL": url}
    process = subprocess.Popen(command, cwd=root, env=environment, stdout=subprocess.PIPE, text=True)
    leases = Leases(database)
    leases.keep([Duty.EXPIRY])  # one who has a duty already must get past the other's lock as well
    try:
        os.waitpid(process.pid, os.WUNTRACED)  # until it has stopped itself
        took_s = wait_until(lambda: Duty.CHAINS in leases.keep([Duty.CHAINS]), PATIENCE_S, "a new holder")
        with database.write() as session:
            session.add(JobSlot(job="in time", slot=1, taken_at=datetime.now(UTC)))
        process.send_signal(signal.SIGCONT)
        said, _ = process.communicate(timeout=PATIENCE_S)
    finally:
        process.kill()
        process.wait()
        leases.close()
    print(f"{database.engine.dialect.name}, stopped {moment} a transaction: replaced after {took_s:.1f} s")
    assert slots(database) == ["in time"]
    must_die = database.engine.dialect.name == "sqlite" and moment == "within"
    outcome = {"refused"} & set(said.split()) or {"written"} & set(said.split())
    assert (process.returncode, outcome) == ((-9, set()) if must_die else (0, {"refused"}))


@pytest.mark.parametrize("number", [signal.SIGSTOP, signal.SIGKILL])
def test_a_worker_that_hangs_or_dies_is_replaced(
    url: str, database: Database, tmp_path: Path, number: signal.Signals
) -> None:
    with database.write() as session:
        key = create_vendor(session, "Tea & Co", datetime.now(UTC)).keys[EnvMode.TEST]
    with Service(url, tmp_path) as service, ThreadPoolExecutor(1) as customer:
        wait_until(lambda: is_shared(database), PATIENCE_S, "two workers that share everything")
        before = holders(database)
        old = before[WATCHED]
        os.kill(old.pid, number)
        killed_at, paid = time.monotonic(), customer.submit(paid_order, service, key)
        wait_until(lambda: old not in holders(database).values(), PATIENCE_S, "new holders")
        took_s = time.monotonic() - killed_at
        order_id = paid.result()
        print(f"{database.engine.dialect.name}, {number.name}: replaced after {took_s:.1f} s")
        wait_until(lambda: status_of(database, order_id) == "success", PATIENCE_S, "success of what was paid meanwhile")
        if number == signal.SIGSTOP and old.is_here:  # it held no lock, so nobody had to end it
            os.kill(old.pid, signal.SIGCONT)
            again = paid_order(service, key)
            wait_until(lambda: status_of(database, again) == "success", PATIENCE_S, "success of a later order")
            wait_until(lambda: is_shared(database), PATIENCE_S, "two workers that share everything again")
        assert status_of(database, order_id) == "success"


def paid_order(service: Service, key: str) -> str:
    headers = {"X-Api-Key": key}
    created = service.post("/api/v1/payment_link", LINK, headers)
    assert created.status_code == 200, created.text
    order_id = str(created.json()["payment_order_id"])
    paid = service.post(f"/api/v1/payment/{order_id}/simulate", {"action": "pay"}, headers)
    assert paid.status_code == 200, paid.text
    return order_id


def status_of(database: Database, order_id: str) -> str:
    with database.read() as session:
        return str(session.get_one(PaymentOrder, order_id).status)
