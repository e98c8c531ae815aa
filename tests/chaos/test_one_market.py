"""Three HTTP processes quote on the market that one of two workers publishes; Redis and the publisher die."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import requests
from sqlalchemy import select

from api.domain.duties import Duty
from api.storage.db import Database
from api.storage.migrations import upgrade
from api.storage.process import Process
from api.storage.tables import Lease
from tests.support.redis_server import redis_server
from tests.support.routes import BODY
from tests.support.running import find_free_port
from tests.support.venues import reply, venue

CHECKOUT = Path(sys.executable).parent / "checkout"
PATIENCE_S = 120
PAUSE_S = 0.2
"""Between two questions to all of them, which take most of what this test takes."""
SETTLED_S = 2.5
"""How long a market lasts that is no step to the next one: two readings of the bridge, whose lanes come one by one."""
READERS = 3
QUESTION = {**BODY, "maxHops": 2, "maxSplits": 1}
"""Asks for the market, so the search may be small."""

pytestmark = pytest.mark.xdist_group("chaos")


@dataclass
class Bridge:
    """Circle's service, whose fee changes when the test says so."""

    fee: int = 1

    def answer(self, request: bytes) -> bytes:
        if b"/allowance" in request:
            return reply({"allowance": 10**7})
        return reply(
            [{"finalityThreshold": 1000, "minimumFee": self.fee}, {"finalityThreshold": 2000, "minimumFee": 0}]
        )


@dataclass
class Readers:
    """HTTP processes, each asked by itself, and the workers beside them."""

    settings: dict[str, str]
    ports: list[int] = field(default_factory=lambda: [find_free_port() for _ in range(READERS)])
    workers: dict[int, subprocess.Popen[bytes]] = field(default_factory=dict)
    said: str = ""

    def start(self, part: str, **settings: str) -> subprocess.Popen[bytes]:
        environment = {**os.environ, **self.settings, **settings, "LOG_LEVEL": "ERROR"}
        process = subprocess.Popen([CHECKOUT, part], env=environment)
        if part == "worker":
            self.workers[process.pid] = process
        return process

    def read_ids(self) -> list[str]:
        """Return the market that each process quotes on now; empty for one that does not answer."""
        return [self._read_id(port) for port in self.ports]

    def wait_for_one(self, *, other_than: str = "") -> tuple[str, float]:
        """Wait until all quote on the same market, and stay; return it, and how long the last was behind the first."""
        deadline, first_at, pause = time.monotonic() + PATIENCE_S, 0.0, threading.Event()
        ids: list[str] = []
        while time.monotonic() < deadline:
            ids = self.read_ids()
            if not first_at and any(each not in ("", other_than) for each in ids):
                first_at = time.monotonic()
            if ids[0] not in ("", other_than) and len(set(ids)) == 1:
                behind_s = time.monotonic() - first_at
                pause.wait(SETTLED_S)
                if self.read_ids() == ids:
                    return ids[0], behind_s
            pause.wait(PAUSE_S)
        raise TimeoutError(f"the last markets were {ids}; {self.said}")

    def _read_id(self, port: int) -> str:
        try:
            answer = requests.post(f"http://127.0.0.1:{port}/v1/routes", json=QUESTION, timeout=30)
        except requests.RequestException:
            return ""
        body: dict[str, Any] = answer.json()
        self.said = answer.text[:500]
        return str(body["snapshotId"]) if answer.status_code == 200 else ""


@pytest.fixture
def bridge() -> Bridge:
    return Bridge()


@pytest.fixture
def redis() -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    with redis_server() as running:
        yield running


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database(f"sqlite:///{tmp_path / 'checkout.db'}")
    upgrade(opened.engine)
    yield opened
    opened.close()


@pytest.fixture
def readers(
    tmp_path: Path, bridge: Bridge, database: Database, redis: tuple[str, subprocess.Popen[bytes]]
) -> Iterator[Readers]:
    with ExitStack() as stack:
        service = stack.enter_context(venue(choose=bridge.answer))
        made = Readers(
            {
                "DATABASE_URL": database.engine.url.render_as_string(hide_password=False),
                "DATA_DIR": str(tmp_path),
                "REDIS_URL": f"redis+{redis[0]}",
                "RATE_LIMIT_ROUTING": "1000000",
                "RATE_LIMIT_KEYLESS": "1000000",
                "WEB_WORKERS": "1",  # each has a port of its own here, so that all can be asked
                "ADAPTERS": "sandbox,cctp",
                "ADAPTER_OPTIONS": f"cctp.url={service.url}",
                "SOURCE_INTERVALS": "cctp=1",
                "SOURCE_MAX_AGES": f"cctp={2 * PATIENCE_S}",
            }
        )
        started = [made.start("worker"), made.start("worker")]
        started += [made.start("serve", PORT=str(port)) for port in made.ports]
        try:
            yield made
        finally:
            for process in (*started, *made.workers.values()):
                process.kill()
                process.wait()


def find_publisher(database: Database) -> int:
    with database.read() as session:
        holder = session.scalar(select(Lease.holder).where(Lease.duty == Duty.SOURCES))
    process = Process.parse((holder or "").partition("/")[0])
    assert process is not None
    return process.pid


def test_all_quote_on_one_market_whatever_dies(
    readers: Readers, bridge: Bridge, database: Database, redis: tuple[str, subprocess.Popen[bytes]]
) -> None:
    first, _ = readers.wait_for_one()
    bridge.fee = 2
    second, behind_s = readers.wait_for_one(other_than=first)
    print(f"a change reached all {READERS} processes within {behind_s:.1f} s of the first")

    redis[1].kill()
    redis[1].wait()
    bridge.fee = 3  # nobody hears of it for now
    for _ in range(5):
        assert set(readers.read_ids()) == {second}, "without Redis each goes on with what it knows"
    anew = subprocess.Popen(redis[1].args, stdout=subprocess.DEVNULL)
    try:
        third, behind_s = readers.wait_for_one(other_than=second)
        print(f"after Redis was back, empty: within {behind_s:.1f} s")

        publisher = readers.workers[find_publisher(database)]
        publisher.kill()
        publisher.wait()
        died_at, bridge.fee = time.monotonic(), 4
        assert set(readers.read_ids()) == {third}
        fourth, _ = readers.wait_for_one(other_than=third)
        print(f"the publisher died: the other one's market was everywhere {time.monotonic() - died_at:.1f} s later")
        assert find_publisher(database) != publisher.pid
        assert len({first, second, third, fourth}) == 4
    finally:
        anew.kill()
        anew.wait()
