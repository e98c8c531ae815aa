"""What threads write to SQLite at the same time is one transaction, in which nobody's fault is another's."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import cast

import pytest
from sqlalchemy import select
from sqlalchemy.exc import IntegrityError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from api.storage import sqlite
from api.storage.db import Database
from api.storage.group_commit import GroupCommit
from api.storage.migrations import upgrade
from api.storage.rows import NewRow
from api.storage.statements import DirectConnection, Statement
from api.storage.tables import Vendor
from tests.api.conftest import START

COUNT = 6
VENDORS = Statement(select(Vendor.id).order_by(Vendor.id))


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = Database(f"sqlite:///{tmp_path / 'one.db'}", lock_wait_ms=2_000)
    upgrade(database.engine)
    yield database
    database.close()


@pytest.fixture
def syncs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Each write to the disk."""
    written: list[int] = []
    monkeypatch.setattr(sqlite, "_write_to_disk", written.append)
    return written


def make_vendor(number: int) -> NewRow:
    return NewRow(table=Vendor, given={"id": f"ven_{number}", "name": f"Tea {number}", "created_at": START})


def list_vendors(database: Database) -> list[str]:
    with database.look() as place:
        return [row.id for row in VENDORS.fetch(place)]


def write_together(database: Database, rows: list[list[NewRow]]) -> list[Future[None]]:
    """Have each list written by a thread of its own, all of them in one group, and wait until that is done."""
    group = cast(GroupCommit, database._direct.at_once)
    with ThreadPoolExecutor(len(rows)) as pool:
        with database.write() as session:
            session.connection()  # nobody else writes until this has ended
            written = [pool.submit(database.write_rows, each) for each in rows]
            while len(group._waiting) < len(rows):
                time.sleep(0)
        return written


def test_those_who_write_together_share_a_commit_and_a_write_to_the_disk(
    database: Database, syncs: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    commits, commit = [], DirectConnection.commit
    monkeypatch.setattr(DirectConnection, "commit", lambda direct: (commits.append(1), commit(direct)))
    written = write_together(database, [[make_vendor(number)] for number in range(COUNT)])
    assert [each.exception() for each in written] == [None] * COUNT
    assert list_vendors(database) == [f"ven_{number}" for number in range(COUNT)]
    assert len(commits) == 1
    assert len(syncs) == 2  # of whom they waited for, and their own


def test_nobody_is_answered_before_the_disk_has_it(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    may_end, begun = threading.Event(), threading.Event()

    def write(_file: int) -> None:
        begun.set()
        assert may_end.wait(20)

    monkeypatch.setattr(sqlite, "_write_to_disk", write)
    with ThreadPoolExecutor(1) as pool:
        written = pool.submit(database.write_rows, [make_vendor(1)])
        assert begun.wait(20)
        assert list_vendors(database) == ["ven_1"]
        assert not written.done()
        may_end.set()
        written.result(20)


def test_one_that_fails_spoils_nothing_of_the_others(database: Database, syncs: list[int]) -> None:
    database.write_rows([make_vendor(0)])
    rows = [[make_vendor(number + 1), make_vendor(0 if number == 2 else number + 50)] for number in range(COUNT)]
    written = write_together(database, rows)
    assert [type(each.exception()) for each in written].count(IntegrityError) == 1
    assert isinstance(written[2].exception(), IntegrityError)
    kept = {f"ven_{number + more}" for number in range(COUNT) if number != 2 for more in (1, 50)}
    assert set(list_vendors(database)) == {"ven_0", *kept}
    database.write_rows([make_vendor(99)])  # and the next group is as if nothing had been


def test_all_hear_of_a_disk_that_fails_and_the_next_group_tries_again(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_file: int) -> None:
        raise OSError("no space left")

    with monkeypatch.context() as broken:
        broken.setattr(sqlite, "_write_to_disk", fail)
        with ThreadPoolExecutor(COUNT) as pool:
            written = [pool.submit(database.write_rows, [make_vendor(number)]) for number in range(COUNT)]
        assert [type(each.exception()) for each in written] == [OperationalError] * COUNT
    database.write_rows([make_vendor(99)])


def test_all_who_wait_are_refused_when_others_write_for_too_long(database: Database) -> None:
    impatient = database.connect_anew(lock_wait_ms=100)
    with ThreadPoolExecutor(COUNT) as pool, impatient.write() as session:
        session.connection()
        written = [pool.submit(impatient.write_rows, [make_vendor(number)]) for number in range(COUNT)]
        assert {type(each.exception(20)) for each in written} == {PoolTimeout}
    assert list_vendors(database) == []
    impatient.write_rows([make_vendor(1)])
    impatient.close()


def test_a_commit_that_fails_is_told_to_all_and_not_tried_again(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody knows what a failed commit has left: what was tried once more could be there twice."""
    tried: list[str] = []

    def fail(connection: DirectConnection) -> None:
        tried.append("commit")
        raise OperationalError("COMMIT", None, OSError("disk I/O error"))

    monkeypatch.setattr(DirectConnection, "commit", fail)
    written = write_together(database, [[make_vendor(number)] for number in range(COUNT)])
    assert [type(each.exception()) for each in written] == [OperationalError] * COUNT
    assert tried == ["commit"]
    assert list_vendors(database) == []
    monkeypatch.undo()
    database.write_rows([make_vendor(99)])
