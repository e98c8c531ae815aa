"""A copy that is taken while the service works is whole, and what chains knew since is found again after a restore."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner
from sqlalchemy import Connection, delete, insert, make_url, select

from api.app import build_app
from api.cli.commands import main
from api.context import replace_database
from api.domain.duties import PRESENCE
from api.services.operations.backups import BACKUP
from api.services.operations.doctor.database import check_database
from api.services.operations.duty_health import check_worker_health, forget_silent_workers
from api.services.resources import Resources
from api.startup.start_checks import check_start
from api.storage.db import Database, read_database_time
from api.storage.tables import Base, JobSlot, Lease, PaymentOrder
from api.storage.tables.ledger import SimulatedChain, SimulatedReorg, SimulatedTransfer
from api.worker.jobs import clean_up
from api.worker.leases import Leases
from tests.api.conftest import Merchant
from tests.api.orders.test_orders_races import check_books
from tests.support.clock import SettableClock
from tests.support.databases import find_postgres_programs
from tests.support.metrics import read_metrics
from tests.support.shop import Shop

CHAIN = (SimulatedChain, SimulatedReorg, SimulatedTransfer)
"""What a real chain would know: it is not in the backup of anybody."""


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch) -> Path:
    """PostgreSQL's own programs, of the version of the server."""
    folder = find_postgres_programs()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return folder


@pytest.fixture
def run(resources: Resources, monkeypatch: pytest.MonkeyPatch, programs: Path) -> Callable[..., str]:
    monkeypatch.setenv("DATA_DIR", str(resources.config.data_dir))
    monkeypatch.setenv("DATABASE_URL", resources.config.database_url)

    def invoke(*words: str) -> str:
        done = CliRunner().invoke(main, words)
        assert done.exit_code == 0, done.output
        return done.output.strip()

    return invoke


@pytest.fixture
def restore(make_database_url: Callable[[str], str], programs: Path) -> Iterator[Callable[[Path], Database]]:
    """Do what docs/runbook.md says, with an empty database."""
    opened: list[Database] = []

    def make(copy: Path) -> Database:
        url = make_database_url("sqlite" if copy.suffix == ".db" else "postgresql")
        if copy.suffix == ".db":
            shutil.copyfile(copy, make_url(url).database or "")
        else:
            target = url.replace("postgresql+psycopg:", "postgresql:")
            command = [programs / "pg_restore", "--no-owner", "--exit-on-error", f"--dbname={target}", copy]
            subprocess.run(command, check=True)
        opened.append(Database(url))
        return opened[-1]

    yield make
    for database in opened:
        database.close()


def hand_over(old: Connection, new: Connection) -> None:
    """Let the chain go on after the restore as it went on meanwhile."""
    for table in reversed(CHAIN):
        new.execute(delete(table))
    for table in CHAIN:
        if rows := [dict(row) for row in old.execute(select(table.__table__)).mappings()]:
            new.execute(insert(table.__table__), rows)


def test_nothing_that_was_acknowledged_before_a_backup_is_missing_after_the_restore(
    shop: Shop, run: Callable[..., str], restore: Callable[[Path], Database], tmp_path: Path
) -> None:
    acknowledged = [shop.create() for _ in range(5)]
    shop.simulate(acknowledged[0], "pay")
    shop.wait(60)
    assert shop.order(acknowledged[0])["payment_order_status"] == "success"
    stopping, meanwhile = threading.Event(), []
    busy = replace(shop, client=shop.client.application.test_client())

    def sell_on() -> None:
        while not stopping.is_set():
            meanwhile.append(busy.create())

    seller = threading.Thread(target=sell_on)
    seller.start()
    before = [*acknowledged, *meanwhile]
    run("db", "backup", str(tmp_path))
    stopping.set()
    seller.join()
    (copy,) = tmp_path.glob("checkout-*")
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600

    # The customer pays after the backup; then the disk is gone, and the chain is not.
    shop.simulate(acknowledged[1], "pay")
    restored = restore(copy)
    with shop.resources.database.engine.connect() as old, restored.engine.begin() as new:
        assert new.execute(select(PaymentOrder.__table__.c.id)).scalars().all() != []
        hand_over(old, new)
    resources = replace_database(shop.resources, restored)
    check_start(resources)
    again = Shop(
        client=build_app(resources).test_client(), resources=resources, clock=shop.clock, merchant=shop.merchant
    )
    assert all(again.order(each)["payment_order_id"] == each for each in before)
    assert again.order(acknowledged[1])["payment_order_status"] == "created"
    again.wait(60)
    assert [again.order(each)["payment_order_status"] for each in acknowledged[:2]] == ["success", "success"]
    check_books(again)


def test_the_workers_of_the_old_database_are_not_looked_for_in_its_copy(
    resources: Resources,
    run: Callable[..., str],
    restore: Callable[[Path], Database],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """For twelve hours the doctor, /readyz and an alert named processes that ended with another machine."""
    with resources.database.write() as session:
        expired = read_database_time(session) - timedelta(seconds=20)
        for number in range(2):
            holder = f"checkout lost-1a2b3c4d {number} 7/{number}"
            session.add(Lease(duty=f"{PRESENCE}{number}", holder=holder, token=1, expires_at=expired))
    restored = restore(Path(run("db", "backup", str(tmp_path))))
    copied = replace_database(resources, restored)
    assert len(check_worker_health(copied).silent) == 2
    monkeypatch.setenv("DATABASE_URL", restored.engine.url.render_as_string(hide_password=False))
    assert "Forgot 2 workers" in run("db", "upgrade")
    assert check_worker_health(copied).silent == {}
    assert "Forgot" not in run("db", "upgrade")


def test_a_worker_that_works_is_not_forgotten(resources: Resources) -> None:
    leases = Leases(resources.database)
    leases.keep(["expiry"])
    assert forget_silent_workers(resources) == 0
    assert len(check_worker_health(resources).workers) == 1
    leases.close()


def test_a_backup_that_fails_leaves_nothing_and_says_why(
    resources: Resources, merchant: Merchant, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DATA_DIR", str(resources.config.data_dir))
    monkeypatch.setenv("DATABASE_URL", resources.config.database_url)
    if resources.database.engine.dialect.name == "postgresql":
        monkeypatch.setenv("PATH", str(tmp_path))
        wanted = "pg_dump is missing: install postgresql-client"
    else:
        monkeypatch.setattr("os.fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
        wanted = "No space left on device"
    folder = tmp_path / "copies"
    folder.mkdir()
    done = CliRunner().invoke(main, ("db", "backup", str(folder)))
    assert done.exit_code == 1
    assert wanted in done.output
    assert list(folder.iterdir()) == []


def test_every_table_is_in_the_copy(
    resources: Resources,
    run: Callable[..., str],
    restore: Callable[[Path], Database],
    merchant: Merchant,
    tmp_path: Path,
) -> None:
    restored = restore(Path(run("db", "backup", str(tmp_path))))
    with resources.database.write() as session:
        session.execute(delete(JobSlot).where(JobSlot.job == BACKUP))  # noted when the copy was whole
    with resources.database.engine.connect() as old, restored.engine.connect() as new:
        for table in Base.metadata.sorted_tables:
            assert sorted(map(repr, old.execute(select(table)))) == sorted(map(repr, new.execute(select(table))))


def test_the_age_of_the_newest_copy_is_told(
    resources: Resources, run: Callable[..., str], merchant: Merchant, tmp_path: Path
) -> None:
    def listen(now: datetime) -> tuple[list[str], list[str]]:
        later = replace(resources, clock=SettableClock(now))
        told = re.findall(r"^checkout_backup_age_seconds (\S+)$", read_metrics(build_app(later)), re.MULTILINE)
        return told, [each.message for each in check_database(later) if each.about == "backups"]

    begun = datetime.now(UTC)
    assert listen(begun) == ([], []), "nobody promised any"
    for _ in range(2):
        run("db", "backup", str(tmp_path))
    ((age,), said) = listen(begun + timedelta(hours=2))
    assert said == []
    assert 0 <= 7200 - float(age) < 600
    clean_up(replace(resources, clock=SettableClock(begun + timedelta(days=9))))
    (age,), (message,) = listen(begun + timedelta(days=9))
    assert float(age) > 8 * 86400
    assert message.startswith("the newest copy of the database is 215 hours old, of ")
