"""One leader, slots, housekeeping, and a clean end."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select, text
from sqlalchemy.exc import OperationalError

from api.context import Context
from api.storage.tables import IdempotencyKey, JobSlot, StoredQuote
from api.worker.jobs import JOBS, Job
from api.worker.leader import FileLeadership, Leadership, PostgresLeadership, leadership_for
from api.worker.process import Worker
from tests.api.conftest import START, Merchant

PATIENCE_S = 20


@pytest.fixture
def claims(context: Context) -> Iterator[tuple[Leadership, Leadership]]:
    pair = leadership_for(context.config, context.database), leadership_for(context.config, context.database)
    yield pair
    for claim in pair:
        claim.release()


def test_the_lock_fits_the_database(context: Context, claims: tuple[Leadership, Leadership]) -> None:
    sqlite = context.database.engine.dialect.name == "sqlite"
    assert isinstance(claims[0], FileLeadership if sqlite else PostgresLeadership)


def test_one_leads_and_the_other_takes_over(claims: tuple[Leadership, Leadership]) -> None:
    first, second = claims
    assert not first.is_held()
    assert first.acquire()
    assert first.is_held()
    assert not second.acquire()
    first.release()
    assert not first.is_held()
    assert second.acquire()


def test_a_lost_connection_is_noticed(context: Context) -> None:
    if context.database.engine.dialect.name == "sqlite":
        return
    claim = leadership_for(context.config, context.database)
    assert claim.acquire()
    end_others = text(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE pid <> pg_backend_pid() AND datname = current_database()"
    )
    with context.database.engine.connect() as connection:
        connection.execute(end_others)
    assert not claim.is_held()
    claim.release()
    assert claim.acquire()
    claim.release()


def running(worker: Worker) -> threading.Thread:
    thread = threading.Thread(target=worker.run)
    thread.start()
    return thread


def test_a_worker_runs_its_jobs_and_stops(context: Context, claims: tuple[Leadership, Leadership]) -> None:
    ran = threading.Semaphore(0)
    job = Job(name="tick", every_s=0.05, run=lambda _: ran.release())
    worker = Worker(context, claims[0], (job,))
    thread = running(worker)
    try:
        assert all(ran.acquire(timeout=PATIENCE_S) for _ in range(3))
        assert claims[0].is_held()
    finally:
        worker.stop()
        thread.join(PATIENCE_S)
    assert not thread.is_alive()
    assert claims[1].acquire()


def test_a_second_worker_takes_over(context: Context, claims: tuple[Leadership, Leadership]) -> None:
    ran = [threading.Event(), threading.Event()]
    workers = [
        Worker(context, claim, (Job(name="tick", every_s=0.05, run=lambda _, event=event: event.set()),))
        for claim, event in zip(claims, ran, strict=True)
    ]
    threads = [running(workers[0])]
    try:
        assert ran[0].wait(PATIENCE_S)
        threads.append(running(workers[1]))
        assert not ran[1].wait(0.5)
        workers[0].stop()
        assert ran[1].wait(PATIENCE_S)
    finally:
        for worker in workers:
            worker.stop()
        for thread in threads:
            thread.join(PATIENCE_S)


def test_a_slot_is_taken_once_by_whoever_asks(context: Context, claims: tuple[Leadership, Leadership]) -> None:
    ran: list[int] = []
    job = Job(name="hourly", every_s=3600, run=lambda _: ran.append(1), once_per_slot=True)
    workers = [Worker(context, claim, (job,)) for claim in claims]
    assert [worker.run_job(job) for worker in workers] == [True, False]
    context.clock.set(START + timedelta(hours=1))  # type: ignore[attr-defined]  # the tests' clock moves
    assert [worker.run_job(job) for worker in reversed(workers)] == [True, False]
    assert len(ran) == 2


def test_a_job_survives_a_database_that_is_away(context: Context, claims: tuple[Leadership, Leadership]) -> None:
    def fail(_: Context) -> None:
        raise OperationalError("SELECT 1", {}, ConnectionError("gone"))

    assert not Worker(context, claims[0], ()).run_job(Job(name="away", every_s=1, run=fail))


def test_housekeeping_forgets_only_what_has_served(context: Context, merchant: Merchant) -> None:
    (job,) = [job for job in JOBS if job.name == "housekeeping"]
    keys: dict[str, Any] = {"vendor_id": merchant.id, "env_mode": "test", "body_hash": "", "response_body": "{}"}
    with context.database.write() as session:
        for days in (-10, 10):
            then = START + timedelta(days=days)
            session.add(IdempotencyKey(key=str(days), created_at=START, expires_at=then, **keys))
            session.add(JobSlot(job="x", slot=days, taken_at=then))
            session.add(StoredQuote(id=f"qt_{days}", body={}, created_at=START, expires_at=then))
    job.run(context)
    with context.database.read() as session:
        assert session.scalars(select(IdempotencyKey.key)).all() == ["10"]
        assert session.scalars(select(JobSlot.slot)).all() == [10]
        assert session.scalars(select(StoredQuote.id)).all() == ["qt_10"]
