"""The service as real processes on a live market: a bridge fails, the worker is killed, both come back."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import requests

from api.storage.db import Database
from api.storage.migrations import upgrade
from tests.support.redis_server import redis_server
from tests.support.routes import BODY
from tests.support.running import find_free_port
from tests.support.venues import reply, venue

CHECKOUT = Path(sys.executable).parent / "checkout"
PATIENCE_S = 120
LOOK_S = 0.05
FEES = [{"finalityThreshold": 1000, "minimumFee": 1}, {"finalityThreshold": 2000, "minimumFee": 0}]


class Bridge:
    """Circle's service, which can be broken and mended."""

    def __init__(self) -> None:
        self.is_broken = False

    def answer(self, request: bytes) -> bytes:
        if self.is_broken:
            return reply("", "503 Oops")
        return reply({"allowance": 10**7} if b"/allowance" in request else FEES)


class Processes:
    """One HTTP process and one worker."""

    def __init__(self, settings: dict[str, str], port: int) -> None:
        self.environment = {**os.environ, **settings, "PORT": str(port), "LOG_LEVEL": "ERROR"}
        self.url = f"http://127.0.0.1:{port}/v1/routes"
        self.pause = threading.Event()
        self.running: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, part: str) -> None:
        self.running[part] = subprocess.Popen([CHECKOUT, part], env=self.environment)

    def kill(self, part: str) -> None:
        process = self.running.pop(part)
        process.kill()
        process.wait()

    def answer(self, until: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Ask for a route until the answer is as expected."""
        deadline, body = time.monotonic() + PATIENCE_S, {}
        while time.monotonic() < deadline:
            try:
                answer = requests.post(self.url, json=BODY, timeout=30)
                body = answer.json()
                if answer.status_code == 200 and until(body):
                    return body
            except requests.RequestException:
                pass  # not there yet
            self.pause.wait(LOOK_S)
        raise TimeoutError(f"the last answer was {body}")


@pytest.fixture
def bridge() -> Bridge:
    return Bridge()


@pytest.fixture
def processes(tmp_path: Path, bridge: Bridge) -> Iterator[Processes]:
    with ExitStack() as stack:
        redis_url, _ = stack.enter_context(redis_server())
        service = stack.enter_context(venue(choose=bridge.answer))
        port = find_free_port()
        database_url = f"sqlite:///{tmp_path / 'checkout.db'}"
        database = Database(database_url)
        upgrade(database.engine)
        database.close()
        settings = {
            "DATABASE_URL": database_url,
            "DATA_DIR": str(tmp_path),
            "WEB_WORKERS": "1",  # of several one may not have heard that the bridge is back when the worker is killed
            "REDIS_URL": f"redis+{redis_url}",
            "RATE_LIMIT_ROUTING": "1000000",
            "RATE_LIMIT_KEYLESS": "1000000",
            "ADAPTERS": "sandbox,cctp",
            "ADAPTER_OPTIONS": f"cctp.url={service.url}",
            "SOURCE_INTERVALS": "cctp=1",
            "SOURCE_MAX_AGES": "cctp=3",
        }
        running = Processes(settings, port)
        try:
            yield running
        finally:
            for part in tuple(running.running):
                running.kill(part)


def names_of_missing(body: dict[str, Any]) -> list[str]:
    return [source["protocol"] for source in body.get("unavailable", ())]


def reasons_of_missing(body: dict[str, Any]) -> dict[str, str]:
    """Return why each source is missing, without the time since when."""
    return {source["protocol"]: source["reason"].rpartition(" ")[0] for source in body.get("unavailable", ())}


def test_what_fails_is_told_and_what_comes_back_is_used(processes: Processes, bridge: Bridge) -> None:
    processes.start("worker")
    processes.start("serve")
    whole = processes.answer(lambda body: not names_of_missing(body))
    bridge.is_broken = True
    # On a busy machine its rates may be too old before the worker has seen it fail.
    without = processes.answer(lambda body: reasons_of_missing(body) == {"cctp": "STALE: it does not answer since"})
    assert without["snapshotId"] != whole["snapshotId"]
    processes.kill("worker")
    bridge.is_broken = False
    processes.start("worker")
    again = processes.answer(lambda body: not names_of_missing(body))
    assert again["snapshotId"] == whole["snapshotId"], "the same content has the same id"
    processes.kill("worker")
    orphaned = processes.answer(lambda body: "its rates are too old" in str(body.get("unavailable")))
    assert names_of_missing(orphaned) == ["cctp"]
    assert orphaned["snapshotId"] == without["snapshotId"]
