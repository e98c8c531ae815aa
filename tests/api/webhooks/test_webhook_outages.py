"""Leases are lost and the database goes away while webhooks are under way: who is healthy hears soon, and once."""

from __future__ import annotations

import threading
from contextlib import suppress
from datetime import timedelta

import pytest
from sqlalchemy import select
from sqlalchemy.exc import OperationalError

from api.context import replace_database
from api.domain.duties import Duty
from api.net.client import HttpReply
from api.services.resources import Resources
from api.services.webhooks import dispatcher as dispatching
from api.services.webhooks.dispatcher import LEASE
from api.storage.db import insert_new
from api.storage.fencing import Fence
from api.storage.tables import Lease, WebhookDelivery
from tests.api.conftest import START, Merchant
from tests.support.clock import SettableClock
from tests.support.servers import wait_until
from tests.support.webhooks import Desk, Sent

PATIENCE_S = 20


def hand_out(resources: Resources, token: int) -> Resources:
    """Give the duty of sending to a worker, under a token; what was written under the one before is refused then."""
    with resources.database.write() as session:
        values = {"duty": Duty.WEBHOOKS, "holder": "", "token": token, "expires_at": START + timedelta(days=1)}
        if not insert_new(session, Lease, values):
            session.get_one(Lease, Duty.WEBHOOKS).token = token
    return replace_database(resources, resources.database.fenced(Fence(duty=Duty.WEBHOOKS, token=token)))


def list_statuses(desk: Desk) -> list[str]:
    with desk.resources.database.read() as session:
        return list(session.scalars(select(WebhookDelivery.status)))


def begin(desk: Desk) -> None:
    """Let the worker send; whichever thread is at it meets the database that is away."""
    with suppress(OperationalError):
        desk.dispatcher.run(desk.resources)


def test_who_loses_a_lease_and_has_it_again_waits_for_no_slow_receiver(desk: Desk, merchant: Merchant) -> None:
    """After a database was away for longer than leases last, workers sent nothing for as long as a tarpit held them."""
    release, started, served = threading.Event(), threading.Semaphore(0), threading.Semaphore(0)

    def answer(sent: Sent) -> HttpReply:
        if sent.event_id == held:
            started.release()
            release.wait(PATIENCE_S)
        else:
            served.release()
        return HttpReply(status=200)

    desk.transport.answer = answer
    desk.subscribe(merchant, url="https://slow.example/")
    held = desk.publish(merchant)
    desk.dispatcher.run(hand_out(desk.resources, 1))
    assert started.acquire(timeout=PATIENCE_S)
    desk.subscribe(merchant, url="https://quick.example/")
    try:
        desk.dispatcher.lose()
        again = hand_out(desk.resources, 2)
        desk.publish(merchant)
        desk.dispatcher.run(again)
        assert all(served.acquire(timeout=PATIENCE_S) for _ in range(2))
        wait_until(lambda: list_statuses(desk).count("delivered") == 2, "what was answered is written down")
    finally:
        release.set()
    desk.dispatcher.wait_idle()
    assert list_statuses(desk) == ["delivered"] * 3, "under the lease of now"
    assert [sent.event_id for sent in desk.transport.sent].count(held) == 1


def test_who_has_lost_a_lease_for_good_writes_nothing_more(desk: Desk, merchant: Merchant) -> None:
    release, started = threading.Event(), threading.Event()

    def answer(_: Sent) -> HttpReply:
        started.set()
        release.wait(PATIENCE_S)
        return HttpReply(status=200)

    desk.transport.answer = answer
    desk.subscribe(merchant)
    desk.publish(merchant)
    desk.dispatcher.run(hand_out(desk.resources, 1))
    assert started.wait(PATIENCE_S)
    desk.dispatcher.lose()
    hand_out(desk.resources, 2)
    desk.publish(merchant)
    release.set()
    desk.dispatcher.wait_idle()
    assert list_statuses(desk) == ["pending"] * 2
    assert len(desk.transport.sent) == 1


def test_an_answer_that_could_not_be_written_down_is_written_later(
    desk: Desk, merchant: Merchant, clock: SettableClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The receiver heard everything again 45 s after each restart of the database."""
    desk.subscribe(merchant)
    event_id, look = desk.publish(merchant), dispatching.record_outcome
    away = threading.Event()

    def record(*given: object) -> None:
        if not away.is_set():
            away.set()
            raise OperationalError("UPDATE", {}, Exception("the server went away"))
        look(*given)  # type: ignore[arg-type]  # as they were given

    monkeypatch.setattr(dispatching, "record_outcome", record)
    begin(desk)
    assert away.wait(PATIENCE_S)
    assert desk.work() == []
    assert desk.delivery(event_id).status == "delivered"
    clock.advance(seconds=LEASE.total_seconds() + 1)
    assert desk.work() == [], "it is not sent again"


def test_what_was_answered_before_the_end_and_never_written_is_sent_again(
    desk: Desk, merchant: Merchant, clock: SettableClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.subscribe(merchant)
    event_id, refused = desk.publish(merchant), threading.Event()

    def refuse(*_: object) -> None:
        refused.set()
        raise OperationalError("UPDATE", {}, Exception("the server went away"))

    with monkeypatch.context() as patched:
        patched.setattr(dispatching, "record_outcome", refuse)
        begin(desk)
        assert refused.wait(PATIENCE_S)
        desk.dispatcher.end()
    assert desk.work() == []
    clock.advance(seconds=LEASE.total_seconds() + 1)
    assert [sent.event_id for sent in desk.work()] == [event_id]
    assert desk.delivery(event_id).status == "delivered"
