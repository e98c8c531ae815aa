"""What makes requests fast keeps its promises: who writes, what is on the disk, what is kept."""

from __future__ import annotations

import gzip
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from sqlalchemy import select
from sqlalchemy.exc import TimeoutError as PoolTimeout

from api.app import build_app
from api.services.market.market import MarketService
from api.services.market.supply import load_offline
from api.services.resources import Resources
from api.services.vendors.key_management import revoke_key
from api.storage import sqlite
from api.storage.db import Database
from api.storage.sqlite import CommitLog
from api.storage.tables import ApiKeyRow
from routing_engine import Router, Snapshot
from tests.api.conftest import Merchant
from tests.support.markets import market_of


def test_a_commit_is_on_the_disk_before_it_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[int] = []
    monkeypatch.setattr(sqlite, "_write_to_disk", done.append)
    database = Database(f"sqlite:///{tmp_path / 'one.db'}")
    with database.write() as session:
        session.connection().exec_driver_sql("CREATE TABLE things (id INTEGER)")
        assert not done
    assert len(done) == 1
    database.close()


def test_commits_that_wait_together_reach_the_disk_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "one.db-wal").touch()
    began, may_end, written = threading.Event(), threading.Event(), []

    def write(_file: int) -> None:
        written.append(1)
        began.set()
        assert may_end.wait(20)

    monkeypatch.setattr(sqlite, "_write_to_disk", write)
    log = CommitLog(tmp_path / "one.db")
    threads = [threading.Thread(target=log.wait) for _ in range(9)]
    threads[0].start()
    assert began.wait(20)
    for thread in threads[1:]:
        thread.start()
    while log._asked < len(threads):
        time.sleep(0)
    may_end.set()
    for thread in threads:
        thread.join(20)
    assert len(written) == 2  # the first one's, and one for all who came while it was written


def test_who_waits_for_a_disk_that_fails_is_told_and_the_next_one_tries_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "one.db-wal").touch()

    def fail(_file: int) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(sqlite, "_write_to_disk", fail)
    log = CommitLog(tmp_path / "one.db")
    for _ in range(2):
        with pytest.raises(OSError, match="no space"):
            log.wait()


def test_a_writer_that_waits_too_long_is_refused(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'one.db'}", lock_wait_ms=50)
    with database.write() as first:
        first.connection()
        with pytest.raises(PoolTimeout), database.write() as second:
            second.connection()
    database.close()


def test_a_revoked_key_stops_with_the_next_request(
    client: FlaskClient, resources: Resources, merchant: Merchant
) -> None:
    def ask() -> int:
        return client.get("/api/v1/payment", headers=merchant.headers()).status_code

    assert [ask(), ask()] == [200, 200]
    with resources.database.write() as session:
        row = session.scalars(
            select(ApiKeyRow).where(ApiKeyRow.vendor_id == merchant.id, ApiKeyRow.env_mode == "test")
        ).one()
        revoke_key(session, merchant.id, row.id, resources.clock.now())
    assert ask() == 401


def test_a_new_market_has_a_new_list(resources: Resources) -> None:
    class Market(MarketService):
        router = Router(Snapshot(market_of("ab: A@1 B@1 1000 1000 30bps")))

    market = Market(load_offline(None), resources.clock)
    client = build_app(replace(resources, market=market)).test_client()
    first, again = client.get("/v1/tokens"), client.get("/v1/tokens")
    assert (first.data, first.headers["ETag"]) == (again.data, again.headers["ETag"])
    market.router = Router(Snapshot(market_of("ab: A@1 C@1 1000 1000 30bps")))
    other = client.get("/v1/tokens", headers={"If-None-Match": first.headers["ETag"]})
    assert other.status_code == 200
    assert [token["symbol"] for token in other.get_json()["tokens"][-2:]] == ["A", "C"]


def test_a_compressed_list_is_the_list(client: FlaskClient) -> None:
    plain = client.get("/v1/tokens")
    packed = client.get("/v1/tokens", headers={"Accept-Encoding": "gzip"})
    assert packed.headers["Content-Encoding"] == "gzip"
    assert "Accept-Encoding" in packed.headers["Vary"]
    assert gzip.decompress(packed.data) == plain.data
    assert "Content-Encoding" not in plain.headers
