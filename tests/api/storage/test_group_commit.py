"""What threads write to SQLite at the same time is one transaction, in which nobody's fault is another's."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import cast

import pytest
from sqlalchemy import select
from sqlalchemy.exc import IntegrityError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from api.domain.env import EnvMode
from api.domain.errors import Unprocessable
from api.secrets.box import SecretBox
from api.secrets.keys import FixedKeys, make_key, parse_keys
from api.services.idempotency import AnsweredBefore, KeptAnswer, Repeatable, carry_out_at_once, seal_answer
from api.services.vendors.vendors import create_vendor
from api.storage import sqlite
from api.storage.db import Database
from api.storage.direct import DirectPool, Job
from api.storage.group_commit import GroupCommit
from api.storage.migrations import upgrade
from api.storage.rows import NewRow, insert_rows
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


def write_together(database: Database, writes: Sequence[list[NewRow] | Job]) -> list[Future[None]]:
    """Have each write by a thread of its own, all of them in one group, and wait until that is done."""
    jobs = [partial(insert_rows, rows=each) if isinstance(each, list) else each for each in writes]
    group = cast(GroupCommit, database._direct.at_once)
    with ThreadPoolExecutor(len(jobs)) as pool:
        with database.write() as session:
            session.connection()  # nobody else writes until this has ended
            written = [pool.submit(database.write_at_once, each) for each in jobs]
            while len(group._waiting) < len(jobs):
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


def test_the_disk_is_waited_for_if_one_of_the_group_asks_for_that(database: Database, syncs: list[int]) -> None:
    jobs = [partial(insert_rows, rows=[make_vendor(number)]) for number in range(3)]
    database.write_at_once(jobs[0], is_lasting=False)
    assert (list_vendors(database), syncs) == (["ven_0"], [])
    group = cast(GroupCommit, database._direct.at_once)
    with ThreadPoolExecutor(2) as pool:
        with database.write() as session:
            session.connection()
            written = [pool.submit(database.write_at_once, job, is_lasting=job is jobs[2]) for job in jobs[1:]]
            while len(group._waiting) < len(written):
                time.sleep(0)
            syncs.clear()
        for each in written:
            each.result(20)
    assert list_vendors(database) == ["ven_0", "ven_1", "ven_2"]
    assert len(syncs) == 2  # of whom they waited for, and their own


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


def test_nobody_waits_for_the_connection_as_often_as_there_are_others(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One fault has each write by himself; if somebody else writes for long then, that is one wait and not six."""
    impatient = database.connect_anew(lock_wait_ms=300)
    other = sqlite3.connect(str(impatient.engine.url.database), isolation_level=None, check_same_thread=False)
    opened, open_one = [], DirectPool.open

    @contextmanager
    def open_and_be_late(pool: DirectPool) -> Iterator[DirectConnection]:
        opened.append(1)
        with open_one(pool) as direct:
            yield direct
        other.execute("BEGIN IMMEDIATE")

    with monkeypatch.context() as late:
        late.setattr(DirectPool, "open", open_and_be_late)
        faulty = [make_vendor(9), make_vendor(9)]
        written = write_together(impatient, [faulty, *([make_vendor(number)] for number in range(COUNT))])
    assert {type(each.exception()) for each in written} == {OperationalError}
    assert len(opened) == 2
    other.close()
    impatient.close()
    assert list_vendors(database) == []


def test_a_key_that_comes_several_times_in_a_group_is_carried_out_once(database: Database) -> None:
    """Whichever comes first and does not fail: the others get its answer, or are refused if they ask for other things.

    In each group somebody fails, so that all write by themselves, in whichever order they came.
    """
    with database.write() as session:
        vendor = create_vendor(session, "Tea & Co", START)
    box = SecretBox(FixedKeys(parse_keys([make_key()], "SECRET_KEYS")))

    def prepare(number: int, body: bytes) -> Job:
        request = Repeatable(vendor_id=vendor.vendor_id, env_mode=EnvMode.TEST, key="k", address="/x?", body=body)
        sealed = seal_answer(request, KeptAnswer(status=200, body=str(number)), box)
        rows = [make_vendor(number), *([make_vendor(number)] if number == 0 else [])]
        return lambda place: carry_out_at_once(place, rows, request=request, sealed=sealed, box=box, now=START)

    jobs = [prepare(number, b"{}" if number < COUNT else b'{"other": 1}') for number in range(COUNT + 1)]
    errors = [each.exception() for each in write_together(database, jobs)]
    (kept,) = [int(each.removeprefix("ven_")) for each in list_vendors(database) if each != vendor.vendor_id]
    assert errors[kept] is None
    assert kept != 0
    if kept < COUNT:
        assert isinstance(errors[COUNT], Unprocessable)
        told = {each.answer.body for each in errors if isinstance(each, AnsweredBefore)}
        assert told == {str(kept)}
    others = [type(each) for number, each in enumerate(errors) if number not in (kept, 0)]
    assert set(others) <= {AnsweredBefore, Unprocessable}
