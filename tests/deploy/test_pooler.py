"""PostgreSQL behind pgbouncer in transaction mode: few connections for many, and nothing of a session is relied on."""

from __future__ import annotations

import json
import os
import pwd
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest
import requests
from sqlalchemy import make_url, text
from sqlalchemy.exc import OperationalError

from api.storage.db import Database
from tests.deploy.conftest import Processes, make_environment
from tests.deploy.files import read, replace_all
from tests.deploy.test_proxies import LINK
from tests.support.running import find_free_port
from tests.support.servers import answers, get_program, run_server, wait_until

pytestmark = pytest.mark.xdist_group("deploy")
CONNECTIONS = 4
"""That pgbouncer has to PostgreSQL."""
AT_ONCE = 16


@pytest.fixture(scope="module")
def pooler_folder() -> Iterator[Path]:
    """A folder that another account may write to, which none of pytest's own lets in."""
    with tempfile.TemporaryDirectory(prefix="pooler", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o777)
        yield folder


@pytest.fixture(scope="module")
def pooled(make_database_url: Callable[[str], str], pooler_folder: Path) -> Iterator[str]:
    """Address of a database behind pgbouncer, with the file of `deploy`."""
    folder = pooler_folder
    url = make_url(make_database_url("postgresql"))
    parts = {**url.translate_connect_args(), **url.query}
    port = find_free_port()
    text_of_file = replace_all(
        read("pgbouncer/pgbouncer.ini"),
        {
            "host=127.0.0.1 port=5432 dbname=checkout": f"host={parts['host']} dbname={url.database} "
            f"user={url.username}",
            "listen_port = 6432": f"listen_port = {port}",
            "auth_type = scram-sha-256": "auth_type = any",
            "auth_file = /etc/pgbouncer/userlist.txt\n": "unix_socket_dir =\n",
            "default_pool_size = 20": f"default_pool_size = {CONNECTIONS}",
            "/var/log/postgresql/": f"{folder}/",
            "/run/postgresql/": f"{folder}/",
        },
    )
    (folder / "pgbouncer.ini").write_text(text_of_file)
    (folder / "pgbouncer.ini").chmod(0o644)
    command = [get_program("pgbouncer"), *choose_account(Path(parts["host"])), folder / "pgbouncer.ini"]
    address = f"127.0.0.1:{port}"

    def is_ready() -> bool:
        try:
            psycopg.connect(f"postgresql://checkout@{address}/checkout", connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True

    with run_server(command, folder / "log", is_ready):
        yield f"postgresql://checkout@{address}/checkout"


def choose_account(data: Path) -> tuple[str, ...]:
    """Run as whoever may use PostgreSQL's socket: pgbouncer does not run as root."""
    return ("-u", pwd.getpwuid(data.stat().st_uid).pw_name) if os.geteuid() == 0 else ()


def test_limits_hold_in_each_transaction(pooled: str) -> None:
    database = Database(pooled.replace("postgresql:", "postgresql+psycopg:"), lock_wait_ms=1234, is_pooled=True)
    names = ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout", "TimeZone")
    for _ in range(AT_ONCE):  # a prepared statement would be missed by the sixth
        with database.read() as session:
            assert [session.scalar(text(f"SHOW {name}")) for name in names] == ["15s", "1234ms", "15s", "UTC"]
    with database.read_one_state() as session:
        assert session.scalar(text("SHOW transaction_isolation")) == "repeatable read"
    database.close()


def test_without_the_setting_a_pooler_is_refused_at_once(pooled: str) -> None:
    database = Database(pooled.replace("postgresql:", "postgresql+psycopg:"))
    with pytest.raises(OperationalError, match="unsupported startup parameter"), database.read() as session:
        session.execute(text("SELECT 1"))
    database.close()


@pytest.mark.timeout(240)
def test_many_processes_and_requests_share_few_connections(pooled: str, tmp_path: Path) -> None:
    port = find_free_port()
    environment = make_environment(
        DATABASE_URL=pooled, DATABASE_POOLED="true", DATA_DIR=str(tmp_path), PORT=str(port), RATE_LIMIT_KEY="100000"
    )
    processes = Processes(environment, tmp_path / "log")
    url = f"http://127.0.0.1:{port}"
    try:
        processes.run("db", "upgrade")
        key = json.loads(processes.run("vendors", "create", "Tea & Co", "--json"))["test_key"]
        for words in (("serve",), ("worker",), ("worker",)):
            processes.start(*words)
        wait_until(lambda: answers(f"{url}/readyz"), "the service is ready")
        headers = {"X-Api-Key": key}

        def sell(number: int) -> str:
            # Each pair of requests has the same key, so that both wait for one another in the database.
            own = headers | {"Idempotency-Key": f"cart-{number // 2}"}
            made = requests.post(f"{url}/api/v1/payment_link", json=LINK, headers=own, timeout=30)
            while made.status_code == 409:
                made = requests.post(f"{url}/api/v1/payment_link", json=LINK, headers=own, timeout=30)
            assert made.status_code == 200, made.text
            order = str(made.json()["payment_order_id"])
            if number % 2:
                paid = requests.post(
                    f"{url}/api/v1/payment/{order}/simulate", json={"action": "pay"}, headers=headers, timeout=30
                )
                assert paid.status_code == 200, paid.text
            return order

        with ThreadPoolExecutor(AT_ONCE) as pool:
            orders = list(pool.map(sell, range(2 * AT_ONCE)))
        assert len(set(orders)) == AT_ONCE
        for order in set(orders):
            wait_until(lambda order=order: is_paid(url, order, headers), f"{order} is paid")
        admin = pooled.replace("/checkout", "/pgbouncer")
        with psycopg.connect(admin, autocommit=True) as connection:
            cursor = connection.execute("SHOW POOLS", prepare=False)
            names = [column.name for column in cursor.description or ()]
            pools = [dict(zip(names, row, strict=True)) for row in cursor]
        (pool_row,) = [each for each in pools if each["database"] == "checkout"]
        assert pool_row["pool_mode"] == "transaction"
        assert sum(value for name, value in pool_row.items() if name.startswith("sv_")) <= CONNECTIONS
        assert pool_row["cl_active"] + pool_row["cl_waiting"] > CONNECTIONS
    finally:
        processes.end()


def is_paid(url: str, order: str, headers: dict[str, str]) -> bool:
    answer = requests.get(f"{url}/api/v1/payment/{order}", headers=headers, timeout=30)
    return bool(answer.json()["payment_order_status"] == "success")
