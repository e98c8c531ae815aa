"""PostgreSQL with its log kept elsewhere, as the runbook says: the disk is lost under load, and no order with it."""

from __future__ import annotations

import shutil
import subprocess
import threading
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest

from api import create_app
from api.config import Config
from api.context import get_resources_of
from api.domain.env import EnvMode
from api.services.vendors.vendors import create_vendor
from api.storage.db import Database
from api.storage.migrations import upgrade
from tests.deploy.test_proxies import LINK
from tests.support.machines import ACCOUNT, Machine, as_account
from tests.support.servers import PATIENCE_S, wait_until

SELLERS = 3


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
def test_no_acknowledged_order_is_missing_when_the_disk_is_lost(machine_folder: Path, tmp_path: Path) -> None:
    folder = machine_folder
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
    for each in (database, get_resources_of(app).database):  # it is left with connections to a machine that is gone
        each.close()
    return acknowledged
