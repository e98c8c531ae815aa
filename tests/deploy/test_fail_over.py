"""Two databases: the first is lost under load, its standby takes over, and the service finds it by its address."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import make_url, text
from sqlalchemy.exc import InternalError

from api.app import build_app
from api.config import Config
from api.context import build_resources
from api.domain.env import EnvMode
from api.secrets.keys import make_key
from api.services.resources import Resources
from api.services.vendors.vendors import create_vendor
from api.storage.backup import back_up
from api.storage.db import Database
from api.storage.migrations import upgrade
from api.storage.patience import PatientConnection
from tests.deploy.test_proxies import LINK
from tests.support.databases import find_postgres_programs
from tests.support.fault_proxy import fault_proxy
from tests.support.machines import Machine
from tests.support.servers import wait_until

SELLERS = 3
MORE = 20
KEY = make_key()


@pytest.fixture
def pair(machine_folder: Path) -> Iterator[tuple[Machine, Machine]]:
    """A database and its standby, which has everything that is acknowledged."""
    first, second = Machine(machine_folder, "first"), Machine(machine_folder, "second")
    try:
        first.make()
        first.start("wal_level=replica", "fsync=off")
        upgrade_all(first)
        first.run("pg_basebackup", "-d", first.place, "-D", second.data, "--write-recovery-conf", "--checkpoint=fast")
        # The copy's own connection to the first is named after the option in what pg_basebackup wrote.
        second.start("fsync=off", f"primary_conninfo={first.place} application_name=second", is_standby=True)
        with psycopg.connect(first.place, autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET synchronous_standby_names = 'second'")
            connection.execute("SELECT pg_reload_conf()")
        wait_until(lambda: is_followed(first), "the standby follows")
        yield first, second
    finally:
        for machine in (second, first):
            machine.kill()


def upgrade_all(machine: Machine) -> None:
    database = Database(machine.url)
    upgrade(database.engine)
    database.close()


def is_followed(machine: Machine) -> bool:
    with psycopg.connect(machine.place) as connection:
        return connection.execute("SELECT sync_state FROM pg_stat_replication").fetchall() == [("sync",)]


def name_both(first: Machine, second: Machine) -> str:
    """Return the address that the runbook gives: both, and that one is wanted that takes orders."""
    hosts = "&".join(f"host=127.0.0.1:{machine.port}" for machine in (first, second))
    return f"postgresql://checkout@/postgres?{hosts}&target_session_attrs=read-write"


@contextmanager
def service(url: str, folder: Path) -> Iterator[Resources]:
    settings = {"DATABASE_URL": url, "DATA_DIR": str(folder), "SECRET_KEYS": KEY, "RATE_LIMIT_KEY": "1000000"}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in settings.items():
            patch.setenv(name, value)
        resources = build_resources(Config.from_env())
    yield resources
    resources.database.close()


class Sellers:
    """Shops that make orders until they are told to stop."""

    def __init__(self, resources: Resources) -> None:
        self._app = build_app(resources)
        with resources.database.write() as session:
            self._key = create_vendor(session, "Tea & Co", datetime.now(UTC)).keys[EnvMode.TEST]
        self._ended = threading.Event()
        self._threads = [threading.Thread(target=self._sell, args=(number,)) for number in range(SELLERS)]
        self.acknowledged: list[tuple[str, str]] = []
        self.refused: list[int] = []
        self.wrong: list[str] = []

    def __enter__(self) -> Sellers:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join()

    def wait_for_more(self) -> None:
        """Wait until orders are made again."""
        wanted = len(self.acknowledged) + MORE
        wait_until(lambda: bool(self.wrong) or len(self.acknowledged) >= wanted, "orders are made")

    def _sell(self, seller: int) -> None:
        client, number = self._app.test_client(), 0
        while not self._ended.is_set():
            cart = f"cart-{seller}-{number}"
            answer = client.post(
                "/api/v1/payment_link", json=LINK, headers={"X-Api-Key": self._key, "Idempotency-Key": cart}
            )
            if answer.status_code == 200:
                self.acknowledged.append((cart, answer.get_json()["payment_order_id"]))
                number += 1
            elif answer.status_code in (409, 503) and "Retry-After" in answer.headers:
                self.refused.append(answer.status_code)
                self._ended.wait(0.1)
            else:
                self.wrong.append(f"{answer.status_code}: {answer.text}")
                return


def read_orders(machine: Machine) -> list[str]:
    with psycopg.connect(machine.place) as connection:
        return [row[0] for row in connection.execute("SELECT id FROM payment_orders")]


@pytest.mark.timeout(240)
def test_what_is_acknowledged_is_on_the_standby_that_takes_over(pair: tuple[Machine, Machine], tmp_path: Path) -> None:
    first, second = pair
    with service(name_both(first, second), tmp_path) as resources, Sellers(resources) as sellers:
        sellers.wait_for_more()
        first.lose()
        with psycopg.connect(second.place, autocommit=True) as connection:
            connection.execute("SELECT pg_promote()")
        sellers.wait_for_more()
    print(f"{len(sellers.acknowledged)} orders, {len(sellers.refused)} refusals")
    assert sellers.wrong == []
    assert sellers.refused
    found = read_orders(second)
    assert {order for _, order in sellers.acknowledged} <= set(found)
    assert len(dict(sellers.acknowledged)) == len(sellers.acknowledged), "each was acknowledged once"
    assert len(found) <= len(sellers.acknowledged) + SELLERS, "what was under way may be there too, once each"


@pytest.mark.timeout(240)
def test_one_address_that_moves_on_to_the_standby_will_do(pair: tuple[Machine, Machine], tmp_path: Path) -> None:
    """As a pooler's or a proxy's does. While it still leads to the standby nothing can be written, and says so."""
    first, second = pair
    with fault_proxy(("127.0.0.1", first.port)) as proxy:
        url = f"postgresql://checkout@127.0.0.1:{proxy.port}/postgres"
        with service(url, tmp_path) as resources, Sellers(resources) as sellers:
            sellers.wait_for_more()
            proxy.target = ("127.0.0.1", second.port)
            proxy.cut()
            wait_until(lambda: len(sellers.refused) > SELLERS or bool(sellers.wrong), "the standby refuses")
            first.lose()
            with psycopg.connect(second.place, autocommit=True) as connection:
                connection.execute("SELECT pg_promote()")
            sellers.wait_for_more()
    assert sellers.wrong == []
    assert {order for _, order in sellers.acknowledged} <= set(read_orders(second))


def test_a_connection_to_a_server_that_became_read_only_is_not_kept(pair: tuple[Machine, Machine]) -> None:
    _, second = pair
    database = Database(second.url)
    with database.read() as session:
        before = session.scalar(text("SELECT pg_backend_pid()"))
    with pytest.raises(InternalError), database.write() as session:
        session.execute(text("DELETE FROM payment_orders"))
    with database.read() as session:
        assert session.scalar(text("SELECT pg_backend_pid()")) != before
    database.close()


def test_a_commit_whose_standby_is_gone_is_given_up_and_tells_the_truth_later(
    pair: tuple[Machine, Machine], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PostgreSQL waits for ever then. The order is there nevertheless, so its key has its answer once one comes."""
    first, second = pair
    monkeypatch.setattr(PatientConnection, "answer_s", 2.0)
    with service(first.url, tmp_path) as resources:
        client = build_app(resources).test_client()
        with resources.database.write() as session:
            key = create_vendor(session, "Tea & Co", datetime.now(UTC)).keys[EnvMode.TEST]
        second.kill()
        headers = {"X-Api-Key": key, "Idempotency-Key": "cart"}
        answer = client.post("/api/v1/payment_link", json=LINK, headers=headers)
        assert (answer.status_code, "Retry-After" in answer.headers) == (503, True)
        second.start_again()
        wait_until(lambda: is_followed(first), "the standby follows again")
        wait_until(
            lambda: client.post("/api/v1/payment_link", json=LINK, headers=headers).status_code == 200, "an answer"
        )
    assert len(read_orders(first)) == 1


def test_a_copy_is_made_of_whichever_takes_orders(
    pair: tuple[Machine, Machine], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = pair
    monkeypatch.setenv("PATH", f"{find_postgres_programs()}{os.pathsep}{os.environ['PATH']}")
    both = name_both(second, first).replace("postgresql:", "postgresql+psycopg:")
    assert back_up(make_url(both), tmp_path, datetime.now(UTC)).stat().st_size > 0
