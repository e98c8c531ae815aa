"""A faulty network between the service and PostgreSQL or Redis: nothing is lost or done twice, and no request hangs."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest
from flask import Flask, Response
from sqlalchemy import func, make_url, select

from api.app import build_app
from api.config import Config
from api.context import build_resources
from api.domain.env import EnvMode
from api.secrets.keys import make_key
from api.services.vendors.vendors import create_vendor
from api.storage.db import Database
from api.storage.migrations import upgrade
from api.storage.patience import PatientConnection
from api.storage.tables import PaymentOrder
from tests.support.fault_proxy import HALF_OPEN, NONE, REFUSED, SILENT, Fault, FaultProxy, fault_proxy
from tests.support.redis_server import redis_server
from tests.support.servers import wait_until
from tests.support.shop import LINK

pytestmark = pytest.mark.xdist_group("chaos")
KEY = make_key()
SELLERS = 4
ORDERS = 24
FAULT_S = 1.5
ANSWER_S = 2.0
"""For an answer of the database, here: shorter than usual, so that the test is."""
CONNECT_S = 5
"""For a new connection to it."""
LONGEST_S = 2 * ANSWER_S + CONNECT_S + 5
"""No request may take longer: a connection that was there is given up, and a new one is not had."""
LATE = Fault(delay_s=0.05)
DRIPPING = Fault(delay_s=0.001, piece_bytes=400)
BY_DICE = Fault(cut_share=0.4, cut_after_bytes=6_000)


@dataclass
class Told:
    """What sellers were answered."""

    statuses: Counter[int] = field(default_factory=Counter)
    bodies: dict[str, set[bytes]] = field(default_factory=dict)
    longest_s: float = 0.0


def sell(app: Flask, key: str, cart: str, told: Told) -> None:
    """Make an order, however often that has to be asked."""
    client, pause = app.test_client(), threading.Event()
    headers = {"X-Api-Key": key, "Idempotency-Key": cart}
    while True:
        began = time.monotonic()
        answer = client.post("/api/v1/payment_link", json={**LINK, "metadata": {"cart": cart}}, headers=headers)
        told.longest_s = max(told.longest_s, time.monotonic() - began)
        told.statuses[answer.status_code] += 1
        if answer.status_code == 200:
            told.bodies.setdefault(cart, set()).add(answer.data)
            return
        assert answer.status_code in {409, 503}, answer.text
        assert "Retry-After" in answer.headers
        pause.wait(0.1)


@pytest.fixture
def far_database(make_database_url: Callable[[str], str]) -> Iterator[tuple[str, Database, FaultProxy]]:
    """Address of a database behind a proxy, the database itself, and the proxy."""
    url = make_url(make_database_url("postgresql"))
    near = Database(url)
    upgrade(near.engine)
    socket = Path(str({**url.translate_connect_args(), **url.query}["host"])) / ".s.PGSQL.5432"
    with fault_proxy(socket) as proxy:
        far = url.set(host="127.0.0.1", port=proxy.port, query={})
        yield far.render_as_string(hide_password=False), near, proxy
    near.close()


@pytest.mark.parametrize(
    "fault",
    [LATE, DRIPPING, BY_DICE, REFUSED, SILENT, HALF_OPEN],
    ids=["late", "drips", "dice", "refused", "silent", "half"],
)
def test_orders_outlast_what_happens_on_the_way_to_the_database(
    fault: Fault, far_database: tuple[str, Database, FaultProxy], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, near, proxy = far_database
    monkeypatch.setattr(PatientConnection, "answer_s", ANSWER_S)
    with near.write() as session:
        key = create_vendor(session, "Tea & Co", datetime.now(UTC)).keys[EnvMode.TEST]
    told, healed = Told(), threading.Event()

    def sell_on(app: Flask, seller: int) -> None:
        number = 0
        while not healed.is_set():
            number += 1
            sell(app, key, f"cart-{seller}-{number}", told)

    config = Config(data_dir=tmp_path, database_url=url, secret_keys=(KEY,), rate_limit_key=1_000_000)
    with serving(config) as app, ThreadPoolExecutor(SELLERS) as pool:
        asked = [pool.submit(sell_on, app, seller) for seller in range(SELLERS)]
        wait_until(lambda: told.statuses[200] > SELLERS, "orders are made")
        proxy.behave(fault)
        threading.Event().wait(FAULT_S)
        proxy.cut()
        threading.Event().wait(FAULT_S)
        proxy.behave(NONE)
        before = told.statuses[200]
        wait_until(lambda: told.statuses[200] > before + SELLERS, "orders are made again")
        healed.set()
        for each in asked:
            each.result()
        first = {cart: set(bodies) for cart, bodies in told.bodies.items()}
        for cart in first:
            sell(app, key, cart, told)
    print(f"{dict(told.statuses)}, {told.longest_s:.1f} s, {proxy.accepted} connections")
    assert told.longest_s < LONGEST_S
    assert told.bodies == first, "a repetition has the first answer"
    with near.read() as session:
        assert session.scalar(select(func.count()).select_from(PaymentOrder)) == len(first)


@contextmanager
def serving(config: Config) -> Iterator[Flask]:
    """Make the application, and close its database at the end."""
    resources = build_resources(config)
    yield build_app(resources)
    resources.database.close()


@pytest.mark.parametrize("fault", [LATE, REFUSED, SILENT, HALF_OPEN], ids=["late", "refused", "silent", "half"])
def test_orders_do_without_the_redis_that_counts_them(
    fault: Fault, make_database_url: Callable[[str], str], tmp_path: Path
) -> None:
    url = make_database_url("sqlite")
    database = Database(url)
    upgrade(database.engine)
    with database.write() as session:
        key = create_vendor(session, "Tea & Co", datetime.now(UTC)).keys[EnvMode.TEST]
    told, during = Told(), Told()
    with redis_server() as (redis_url, _), fault_proxy(Path(redis_url.removeprefix("unix://"))) as proxy:
        shared = f"redis://127.0.0.1:{proxy.port}/0"
        config = Config(data_dir=tmp_path, database_url=url, redis_url=shared, secret_keys=(KEY,))
        with serving(config) as app:
            sell(app, key, "warm", told)
            proxy.behave(fault)
            proxy.cut()
            with ThreadPoolExecutor(SELLERS) as pool:
                list(pool.map(lambda number: sell(app, key, f"cart-{number}", during), range(ORDERS)))
            proxy.behave(NONE)
            sell(app, key, "after", told)
    database.close()
    print(f"{dict(during.statuses)}, {during.longest_s:.1f} s")
    assert during.statuses == {200: ORDERS}
    assert during.longest_s < 4, "Redis is given a second, once"


@pytest.mark.parametrize("most", [1_000_000, 1])
def test_an_answer_stands_though_redis_dies_once_it_has_counted(
    most: int, make_database_url: Callable[[str], str], tmp_path: Path
) -> None:
    """An order that is made is acknowledged, and a refusal still says for how long."""
    url = make_database_url("sqlite")
    database = Database(url)
    upgrade(database.engine)
    with database.write() as session:
        key = create_vendor(session, "Tea & Co", datetime.now(UTC)).keys[EnvMode.TEST]
    database.close()
    with redis_server() as (redis_url, redis):
        config = Config(
            data_dir=tmp_path, database_url=url, redis_url=f"redis+{redis_url}", secret_keys=(KEY,), rate_limit_key=most
        )
        with serving(config) as app:
            client, headers, is_time = app.test_client(), {"X-Api-Key": key}, threading.Event()

            def die(response: Response) -> Response:
                if is_time.is_set():
                    redis.kill()
                    redis.wait()
                return response

            app.after_request(die)
            if most == 1:
                assert client.get("/api/v1/payment", headers=headers).status_code == 200
            is_time.set()
            answer = client.post("/api/v1/payment_link", json=LINK, headers=headers)
    assert answer.status_code == (429 if most == 1 else 200), answer.text
    assert answer.headers.get("Retry-After") == ("60" if most == 1 else None)
