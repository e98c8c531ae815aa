"""A service whose PostgreSQL has no room left, first for rows and then for its log; prints what came of it as JSON.

Run as ``python -m tests.chaos.full_disk_of_postgres FOLDER DATA``, with a small file system of its own at FOLDER.
"""

from __future__ import annotations

import json
import os
import re
import sys
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
from flask.testing import FlaskClient

from api.app import build_app
from api.config import Config
from api.context import build_resources
from api.domain.env import EnvMode
from api.domain.short_memory import ShortMemory
from api.secrets.keys import make_key
from api.services.operations.doctor.database import check_database
from api.services.operations.shares import list_shares
from api.services.resources import Resources
from api.services.vendors.vendors import create_vendor
from api.storage.migrations import upgrade
from api.storage.tables import Lease
from tests.chaos.full_disk import BEFORE, REFUSED, Told, sell
from tests.support.machines import Machine
from tests.support.metrics import read_metrics

LEFT = 200_000
"""Bytes that are left where rows find no room; the log has room then in the files that it has."""
PIECE = 4_096
MOST = 1_000
SEGMENTS = 40
SETTINGS = ("autovacuum=off", "max_wal_size=32MB", "shared_buffers=16MB")


def fill(ballast: Path, left: int) -> None:
    """Let no more than so many bytes be free."""
    with ballast.open("ab", buffering=0) as file, suppress(OSError):
        while (free := os.statvfs(ballast).f_bavail * os.statvfs(ballast).f_frsize) > left:
            file.write(bytes(max(PIECE, (free - left) // 2)))


def sell_until_refused(client: FlaskClient, key: str, name: str, told: Told) -> None:
    """Sell until `REFUSED` more orders were refused, or `MOST` were asked for."""
    until, number = len(told.refused) + REFUSED, 0
    while len(told.refused) < until and number < MOST:
        sell(client, key, f"{name}-{number}", told)
        number += 1


def exhaust_log(machine: Machine) -> bool:
    """Begin one file of the log after the other, until there is room for none; return whether the server fell."""
    for _ in range(SEGMENTS):
        try:
            with psycopg.connect(machine.place, autocommit=True, connect_timeout=5) as connection:
                connection.execute("SELECT pg_logical_emit_message(true, 'full', repeat('x', 100000))")
                connection.execute("SELECT pg_switch_wal()")
        except psycopg.OperationalError:
            return True
    return False


def open_service(machine: Machine, data: Path) -> tuple[Resources, FlaskClient, str]:
    """Return a service on a new database, its client, and a seller's key."""
    config = Config(data_dir=data, database_url=machine.url, secret_keys=(make_key(),), rate_limit_key=1_000_000)
    resources = build_resources(config)
    upgrade(resources.database.engine)
    with resources.database.write() as session:
        key = create_vendor(session, "Tea & Co", datetime.now(UTC)).keys[EnvMode.TEST]
    return resources, build_app(resources).test_client(), key


def listen(resources: Resources) -> dict[str, str]:
    """Return what an operator is told."""
    app = build_app(replace(resources, memory=ShortMemory()))
    said = app.test_client().get("/readyz").get_json()
    (metric,) = re.findall(r"^checkout_database_writable (.*)$", read_metrics(app), re.MULTILINE)
    doctor = {each.about: each.message for each in check_database(resources)}
    return {"ready": said.get("message") or said["status"], "metric": metric, "doctor": doctor["database"]}


def pretend_to_work(resources: Resources) -> None:
    """Write down that workers do everything, as they do in place on a disk that is full."""
    later = datetime.now(UTC) + timedelta(hours=1)
    with resources.database.write() as session:
        session.add_all(Lease(duty=each, holder="w", token=1, expires_at=later) for each in list_shares(resources))


def main() -> None:
    """Sell until nothing more goes in, make room, and sell what was refused; and again without room for the log."""
    folder, data = Path(sys.argv[1]), Path(sys.argv[2])
    machine, ballast, rounds, told = Machine(folder, "data"), folder / "ballast", [], Told()
    machine.make()
    machine.start(*SETTINGS)
    try:
        resources, client, key = open_service(machine, data)
        for number in range(BEFORE):
            sell(client, key, f"before-{number}", told)
        known = next(iter(told.acknowledged.values()))
        pretend_to_work(resources)
        for name in ("rows", "log"):
            fill(ballast, LEFT if name == "rows" else 0)
            fell = name == "log" and exhaust_log(machine)
            sell_until_refused(client, key, name, told)
            read = client.get(f"/api/v1/payment/{known}", headers={"X-Api-Key": key}).status_code
            told_of = listen(resources) if name == "rows" else {}
            ballast.unlink()
            if machine.says_recovery() is None:
                machine.stop()
                machine.start_again()  # as what looks after a server does
            refused, told.refused = told.refused, []
            for cart in refused:
                sell(client, key, cart, told)
            rounds.append(
                {"fell": fell, "read": read, "refused": len(refused), "refused_after": len(told.refused)} | told_of
            )
        resources.database.close()
        with psycopg.connect(machine.place) as connection:
            stored = [row[0] for row in connection.execute("SELECT id FROM payment_orders")]
    finally:
        machine.stop()
    answers = {"statuses": told.statuses, "without_remedy": told.without_remedy, "rounds": rounds}
    print(json.dumps(answers | {"acknowledged": sorted(told.acknowledged.values()), "stored": sorted(stored)}))


if __name__ == "__main__":
    main()
