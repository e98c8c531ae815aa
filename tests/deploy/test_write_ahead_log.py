"""PostgreSQL with its log kept elsewhere, as the runbook says: the disk is lost under load, and no order with it."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest

from api import create_app
from api.config import Config
from api.domain.env import EnvMode
from api.services.vendors.vendors import create_vendor
from api.storage.db import Database
from api.storage.migrations import upgrade
from tests.deploy.test_proxies import LINK
from tests.support.databases import find_postgres_programs
from tests.support.servers import PATIENCE_S, wait_until

ACCOUNT = "nobody" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name
"""PostgreSQL does not run as root."""
SELLERS = 3


class Machine:
    """A machine with PostgreSQL, whose disk may be lost."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder, self.data, self.log = folder, folder / name, folder / f"{name}.log"
        self._server: subprocess.Popen[bytes] | None = None

    @property
    def place(self) -> str:
        return f"host={self.folder} user=checkout dbname=postgres"

    @property
    def url(self) -> str:
        return f"postgresql+psycopg://checkout@/postgres?host={self.folder}"

    def run(self, program: str, *words: str | Path) -> None:
        """Run one of PostgreSQL's programs to its end."""
        subprocess.run(self.name_program(program, *words), check=True, capture_output=True, **as_account())

    def name_program(self, program: str, *words: str | Path) -> list[str]:
        return [str(find_postgres_programs() / program), *map(str, words)]

    def start(self, *settings: str) -> None:
        """Start the server, and wait until it takes orders."""
        words = [word for setting in settings for word in ("-c", setting)]
        command = self.name_program("postgres", "-D", self.data, "-k", self.folder, "-h", "", *words)
        with self.log.open("ab") as told:
            self._server = subprocess.Popen(command, stdout=told, stderr=told, **as_account())
        wait_until(self.is_open, "PostgreSQL takes orders")

    def is_open(self) -> bool:
        try:
            with psycopg.connect(self.place, connect_timeout=2) as connection:
                return connection.execute("SELECT pg_is_in_recovery()").fetchone() == (False,)
        except psycopg.OperationalError:
            return False

    def lose(self) -> None:
        """End without warning, and lose the disk."""
        self.stop(signal.SIGKILL)
        shutil.rmtree(self.data)

    def stop(self, number: int = signal.SIGQUIT) -> None:
        if self._server is not None and self._server.poll() is None:
            self._server.send_signal(number)
            self._server.wait(PATIENCE_S)


def as_account() -> dict[str, Any]:
    return {"user": ACCOUNT, "cwd": "/"} if os.geteuid() == 0 else {}


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder whose path is short enough for a socket."""
    made = Path(tempfile.mkdtemp(prefix="wal"))
    shutil.chown(made, ACCOUNT)
    yield made
    shutil.rmtree(made, ignore_errors=True)


def follow(machine: Machine, wal: Path) -> subprocess.Popen[bytes]:
    """Keep the log elsewhere, as fast as it is written."""
    place = f"{machine.place} application_name=elsewhere"
    command = machine.name_program("pg_receivewal", "-d", place, "-D", wal, "--synchronous")
    with (machine.folder / "follower.log").open("wb") as told:
        return subprocess.Popen(command, stdout=told, stderr=told, **as_account())


def is_followed(machine: Machine) -> bool:
    with psycopg.connect(machine.place) as connection:
        return connection.execute("SELECT sync_state FROM pg_stat_replication").fetchall() == [("sync",)]


@pytest.mark.timeout(240)
def test_no_acknowledged_order_is_missing_when_the_disk_is_lost(folder: Path, tmp_path: Path) -> None:
    first = Machine(folder, "data")
    wal, base = folder / "wal", folder / "base"
    first.run("initdb", "-D", first.data, "-U", "checkout", "-A", "trust")
    wal.mkdir()
    shutil.chown(wal, ACCOUNT)
    second, follower = Machine(folder, "base"), None
    try:
        first.start("wal_level=replica", "fsync=off")
        database = Database(first.url)
        upgrade(database.engine)
        first.run("pg_basebackup", "-d", first.place, "-D", base, "--checkpoint=fast", "--wal-method=stream")
        follower = follow(first, wal)
        with psycopg.connect(first.place, autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET synchronous_standby_names = 'elsewhere'")
            connection.execute("SELECT pg_reload_conf()")
        wait_until(lambda: is_followed(first), "the log is kept elsewhere")
        acknowledged = sell_until_lost(first, database, tmp_path)
        follower.terminate()
        follower.wait(PATIENCE_S)
        assert len(acknowledged) > 20
        for part in wal.glob("*.partial"):
            part.rename(part.with_suffix(""))
        (base / "recovery.signal").touch()
        second.start(f"restore_command=cp {wal}/%f %p", "fsync=off")
        with psycopg.connect(second.place) as connection:
            found = {row[0] for row in connection.execute("SELECT id FROM payment_orders")}
        assert set(acknowledged) - found == set()
    finally:
        for machine in (first, second):
            machine.stop()
        if follower is not None and follower.poll() is None:
            follower.kill()
            follower.wait(PATIENCE_S)


def sell_until_lost(machine: Machine, database: Database, data_dir: Path) -> list[str]:
    """Make orders until the machine is gone; return those whose making was acknowledged."""
    config = Config(data_dir=data_dir, database_url=machine.url, rate_limit_key=1_000_000)
    app = create_app(config)
    with database.write() as session:
        key = create_vendor(session, "Tea & Co", datetime.now(UTC)).keys[EnvMode.TEST]
    acknowledged: list[str] = []
    lost = threading.Event()

    def sell() -> None:
        client = app.test_client()
        while not lost.is_set():
            answer = client.post("/api/v1/payment_link", json=LINK, headers={"X-Api-Key": key})
            if answer.status_code == 200:
                acknowledged.append(answer.get_json()["payment_order_id"])

    sellers = [threading.Thread(target=sell) for _ in range(SELLERS)]
    for seller in sellers:
        seller.start()
    wait_until(lambda: len(acknowledged) > 20, "orders are made")
    machine.lose()
    lost.set()
    for seller in sellers:
        seller.join()
    database.close()
    return acknowledged
