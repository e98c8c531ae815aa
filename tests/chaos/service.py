"""The service as real processes, which can be killed at any moment and are started again."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any, Self

import requests

from tests.chaos.nursery import Nursery
from tests.support.running import find_free_port

PATIENCE_S = 60
LOOK_S = 0.02
PARTS = ("serve", "worker", "worker")
"""One API process and two workers, which share the work."""


class Service:
    """The processes on one database.

    Parameters
    ----------
    parts : sequence of str
        What is started.
    settings : str
        Further settings of theirs.
    """

    def __init__(self, database_url: str, data_dir: Path, *, parts: Sequence[str] = PARTS, **settings: str) -> None:
        port = find_free_port()
        self._address = f"http://127.0.0.1:{port}"
        self._environment = {
            **os.environ,
            "DATABASE_URL": database_url,
            "DATA_DIR": str(data_dir),
            "PORT": str(port),
            "RATE_LIMIT_KEY": "1000000",
            "LOG_LEVEL": "ERROR",
            **settings,
        }
        self._parts = parts
        self._processes: dict[int, str] = {}
        self._pause = threading.Event()
        self.kills: Counter[str] = Counter()

    def __enter__(self) -> Self:
        self._nursery = Nursery(self._environment)
        for part in self._parts:
            self.start(part)
        self.wait_until_ready()
        return self

    def __exit__(self, *_: object) -> None:
        for process in tuple(self._processes):
            self._kill(process)
        self._nursery.end()

    def kill_one(self, random: Random) -> None:
        """Kill a process without warning, and start another."""
        process = random.choice(sorted(self._processes))
        part = self._kill(process)
        self.kills[part] += 1
        self.start(part)
        if part == "serve":
            self.wait_until_ready()

    def wait_until_ready(self) -> None:
        """Wait until the API answers."""
        self._insist("GET", "/readyz")

    def post(self, path: str, body: Mapping[str, Any], headers: Mapping[str, str]) -> requests.Response:
        """Send a request until it is answered, whatever happens to the process meanwhile."""
        return self._insist("POST", path, json=body, headers=headers)

    def _insist(self, method: str, path: str, **content: Any) -> requests.Response:
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            try:
                answer = requests.request(method, self._address + path, timeout=10, **content)
                if answer.status_code < 500:
                    return answer
            except requests.RequestException:
                pass  # killed, or not there yet
            self._pause.wait(LOOK_S)
        raise TimeoutError(f"{path} was not answered within {PATIENCE_S} s")

    def list_processes(self, part: str) -> list[int]:
        """Return the numbers of the processes of a kind."""
        return sorted(process for process, kind in self._processes.items() if kind == part)

    def kill(self, process: int) -> None:
        """Kill a process without warning."""
        self.kills[self._kill(process)] += 1

    def start(self, part: str) -> None:
        """Start a process."""
        self._processes[self._nursery.fork(part)] = part

    def _kill(self, process: int) -> str:
        part = self._processes.pop(process)
        with suppress(ProcessLookupError):  # a test may have killed it
            os.kill(process, signal.SIGKILL)
        while _is_alive(process):
            self._pause.wait(LOOK_S)
        return part


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
