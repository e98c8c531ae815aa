"""Duties are begun, done by one worker at a time, handed over at once, and end cleanly."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.exc import OperationalError

from api.domain.duties import Duty
from api.services.checkout.quotes import quote_order
from api.services.operations.shares import list_shares
from api.services.resources import Resources
from api.services.settlement.crediting.quote_payers import remember_payer
from api.storage.tables import IdempotencyKey, JobSlot, Lease, QuotePayer, StoredQuote
from api.worker import process
from api.worker.jobs import Job, list_jobs
from api.worker.leases import Leases
from api.worker.process import Worker
from api.worker.sources import SourceReader
from routing_engine.reference import token_registry
from tests.api.conftest import START, Merchant
from tests.support.clock import SettableClock
from tests.support.shop import Shop

PATIENCE_S = 20
LEASE_S = 3600
"""So long that whoever gets a duty within a test was handed it."""


@pytest.fixture
def leases(resources: Resources) -> Iterator[tuple[Leases, Leases]]:
    pair = Leases(resources.database, lease_s=LEASE_S), Leases(resources.database, lease_s=LEASE_S)
    yield pair
    for each in pair:
        each.close()


def running(worker: Worker) -> threading.Thread:
    thread = threading.Thread(target=worker.run)
    thread.start()
    return thread


def stop(*workers: tuple[Worker, threading.Thread]) -> None:
    for worker, _ in workers:
        worker.stop()
    for _, thread in workers:
        thread.join(PATIENCE_S)
        assert not thread.is_alive()


def tick(run: Callable[[Resources], object], **options: Any) -> Job:
    return Job(**{"duty": Duty.EXPIRY, "every_s": 0.05, "run": run} | options)


def find_job(resources: Resources, duty: Duty) -> Job:
    (job,) = [job for job in list_jobs(resources, SourceReader()) if job.duty == duty]
    return job


def test_every_share_of_every_duty_has_its_job(resources: Resources) -> None:
    jobs = list_jobs(resources, SourceReader())
    assert sorted(job.share for job in jobs) == sorted(list_shares(resources))
    assert {job.duty for job in jobs} == set(Duty)


def test_a_worker_runs_its_jobs_and_hands_over_when_it_stops(
    resources: Resources, leases: tuple[Leases, Leases]
) -> None:
    ran = threading.Semaphore(0)
    worker = Worker(resources, leases[0], [tick(lambda _: ran.release())])
    thread = running(worker)
    try:
        assert all(ran.acquire(timeout=PATIENCE_S) for _ in range(3))
        assert leases[1].keep([Duty.EXPIRY]) == {}
    finally:
        stop((worker, thread))
    assert leases[1].keep([Duty.EXPIRY]) == {Duty.EXPIRY: 2}


def test_a_second_worker_takes_over_at_once(resources: Resources, leases: tuple[Leases, Leases]) -> None:
    ran = [threading.Event(), threading.Event()]
    workers = [
        Worker(resources, each, [tick(lambda _, event=event: event.set())])
        for each, event in zip(leases, ran, strict=True)
    ]
    first = running(workers[0])
    assert ran[0].wait(PATIENCE_S)
    second = running(workers[1])
    try:
        assert not ran[1].wait(0.5)
        workers[0].stop()
        assert ran[1].wait(PATIENCE_S)
    finally:
        stop((workers[0], first), (workers[1], second))


def test_one_whose_duty_was_taken_away_writes_nothing_and_begins_anew_later(
    resources: Resources, leases: tuple[Leases, Leases]
) -> None:
    inside, go_on, ended, again = threading.Event(), threading.Event(), threading.Event(), threading.Event()

    def write(fenced: Resources) -> None:
        if not inside.is_set():
            inside.set()
            assert go_on.wait(PATIENCE_S)
        with fenced.database.write() as session:
            session.add(JobSlot(job="written", slot=len(again_slots), taken_at=START))
            again_slots.append(1)
        again.set()

    again_slots: list[int] = []
    worker = Worker(resources, leases[0], [tick(write, every_s=60, end=ended.set)])
    thread = running(worker)
    try:
        assert inside.wait(PATIENCE_S)
        with resources.database.write() as session:  # what taking over an expired lease does
            session.get_one(Lease, Duty.EXPIRY).token += 1
        go_on.set()
        assert ended.wait(PATIENCE_S)
        with resources.database.read() as session:
            assert session.scalars(select(JobSlot.job)).all() == []
        leases[1].release(Duty.EXPIRY)
        with resources.database.write() as session:
            session.get_one(Lease, Duty.EXPIRY).expires_at = START
        assert again.wait(PATIENCE_S)
    finally:
        go_on.set()
        stop((worker, thread))
    with resources.database.read() as session:
        assert session.scalars(select(JobSlot.job)).all() == ["written"]


def test_what_was_lost_and_is_free_again_is_begun_without_waiting_for_its_end(
    resources: Resources, leases: tuple[Leases, Leases]
) -> None:
    ran, lost, never = threading.Semaphore(0), threading.Event(), threading.Event()
    job = tick(lambda _: ran.release(), end=lambda: never.wait(PATIENCE_S), lose=lost.set)
    worker = Worker(resources, leases[0], [job])
    thread = running(worker)
    try:
        assert ran.acquire(timeout=PATIENCE_S)
        leases[0].forget(job.share, 1)
        assert lost.wait(PATIENCE_S)
        while ran.acquire(blocking=False):
            pass
        with resources.database.write() as session:
            session.get_one(Lease, job.share).expires_at = START
        assert ran.acquire(timeout=PATIENCE_S / 2)
    finally:
        never.set()
        stop((worker, thread))


def test_a_run_that_hangs_costs_the_duty(
    resources: Resources, leases: tuple[Leases, Leases], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "STUCK_S", 0.2)
    hanging, released = threading.Event(), threading.Event()

    def hang(_: Resources) -> None:
        hanging.set()
        released.wait(PATIENCE_S)

    worker = Worker(resources, leases[0], [tick(hang)])
    thread = running(worker)
    try:
        assert hanging.wait(PATIENCE_S)
        deadline = time.monotonic() + PATIENCE_S
        while not (taken := leases[1].keep([Duty.EXPIRY])):
            assert time.monotonic() < deadline
        assert taken == {Duty.EXPIRY: 2}
    finally:
        released.set()
        stop((worker, thread))


def test_a_slot_is_taken_once_by_whoever_asks(resources: Resources, leases: tuple[Leases, Leases]) -> None:
    ran: list[int] = []
    job = Job(duty=Duty.HOUSEKEEPING, every_s=3600, run=lambda _: ran.append(1), once_per_slot=True)
    worker = Worker(resources, leases[0], [job])

    def run_as(each: Leases) -> bool:
        (token,) = each.keep([job.duty]).values()
        try:
            return worker.run_job(job, token)
        finally:
            each.release(job.duty)

    assert [run_as(each) for each in leases] == [True, False]
    assert isinstance(resources.clock, SettableClock)
    resources.clock.set(START + timedelta(hours=1))
    assert [run_as(each) for each in reversed(leases)] == [True, False]
    assert len(ran) == 2


def test_a_job_survives_a_database_that_is_away(resources: Resources, leases: tuple[Leases, Leases]) -> None:
    def fail(_: Resources) -> None:
        raise OperationalError("SELECT 1", {}, ConnectionError("gone"))

    job = tick(fail)
    assert not Worker(resources, leases[0], [job]).run_job(job, 1)


def test_quotes_that_no_wallet_was_given_are_forgotten_soon(
    resources: Resources, clock: SettableClock, shop: Shop
) -> None:
    job = find_job(resources, Duty.HOUSEKEEPING)
    order_id, usdc = shop.create(), token_registry.token("USDC", 8453)
    quotes = [quote_order(resources, order_id, 8453, usdc.address).quote_id for _ in range(3)]
    with resources.database.write() as session:
        remember_payer(session, quotes[1], "0x" + "ab" * 20)
    clock.advance(seconds=2 * 3600)
    other = quote_order(resources, shop.create(), 8453, usdc.address).quote_id
    fresh = quote_order(resources, order_id, 8453, usdc.address).quote_id
    with resources.database.read() as session:
        assert set(session.scalars(select(StoredQuote.id))) == {quotes[1], other, fresh}, (
            "as soon as others are asked for"
        )
    clock.advance(seconds=3600)
    job.run(resources)
    with resources.database.read() as session:
        assert set(session.scalars(select(StoredQuote.id))) == {quotes[1]}
    clock.advance(seconds=23 * 3600)
    job.run(resources)
    with resources.database.read() as session:
        assert not session.scalars(select(QuotePayer.quote_id)).all()


def test_housekeeping_forgets_only_what_has_served(resources: Resources, merchant: Merchant) -> None:
    job = find_job(resources, Duty.HOUSEKEEPING)
    keys: dict[str, Any] = {"vendor_id": merchant.id, "env_mode": "test", "body_hash": "", "response_body": "{}"}
    with resources.database.write() as session:
        for days in (-10, 10):
            then = START + timedelta(days=days)
            session.add(IdempotencyKey(key=str(days), created_at=START, expires_at=then, **keys))
            session.add(JobSlot(job="x", slot=days, taken_at=then))
            session.add(StoredQuote(id=f"qt_{days}", body={}, created_at=START, expires_at=then))
    job.run(resources)
    with resources.database.read() as session:
        assert session.scalars(select(IdempotencyKey.key)).all() == ["10"]
        assert session.scalars(select(JobSlot.slot)).all() == [10]
        assert session.scalars(select(StoredQuote.id)).all() == ["qt_10"]
