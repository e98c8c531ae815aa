"""What is sent, to whom, in which order and by which worker: on both databases."""

from __future__ import annotations

import base64
import hmac
import threading
from datetime import timedelta
from itertools import count

import pytest
from sqlalchemy import select
from standardwebhooks import Webhook, WebhookVerificationError

from api.app import build_app
from api.domain.env import EnvMode
from api.domain.ids import ALPHABET
from api.net.client import HttpReply
from api.services.webhooks.dispatcher import SLOW_S, Dispatcher
from api.services.webhooks.outbox import NewEvent, publish
from api.services.webhooks.secrets import add_secret
from api.services.webhooks.waiting import PARTS, select_part
from api.storage.tables import WebhookDelivery, WebhookEvent, WebhookSubscription
from tests.api.conftest import START, Merchant
from tests.api.storage.test_storage import order_of
from tests.support.clock import SettableClock
from tests.support.metrics import read_metrics
from tests.support.webhooks import Desk, Sent, verify


def add_orders(desk: Desk, merchant: Merchant, *order_ids: str) -> None:
    with desk.resources.database.write() as session:
        session.add_all(order_of(merchant, order_id) for order_id in order_ids)


@pytest.mark.rule("events.1", "events.2", "events.3", "events.4", "events.6")
def test_the_payload_is_the_interfaces_and_the_signature_verifies(desk: Desk, merchant: Merchant) -> None:
    add_orders(desk, merchant, "po_1")
    secret = desk.subscribe(merchant)["secret"]
    event_id = desk.publish(merchant, order_id="po_1", metadata={"ü": "„☕“"}, transaction_hash="0xab")
    (sent,) = desk.work()
    data = {"payment_order_id": "po_1", "metadata": {"ü": "„☕“"}, "transaction_hash": "0xab"}
    wanted = {
        "resource": "event",
        "type": "payment_success",
        "created_at": "2026-03-01T12:00:00.000Z",
        "env_mode": "test",
        "data": data,
    }
    assert verify(secret, sent) == {"event": wanted}
    assert list(sent.event) == list(wanted)
    assert sent.event_id == event_id
    assert sent.headers["Content-Type"] == "application/json"
    assert desk.delivery(event_id).status == "delivered"
    assert desk.work() == []


@pytest.mark.rule("deliveries.3")
def test_a_changed_body_or_another_secret_does_not_verify(desk: Desk, merchant: Merchant) -> None:
    secret = desk.subscribe(merchant)["secret"]
    other = desk.subscribe(merchant, url="https://other.example/")["secret"]
    desk.publish(merchant)
    sent = next(sent for sent in desk.work() if "shop" in sent.url)
    for key, body in ((secret, sent.body + b" "), (other, sent.body)):
        with pytest.raises(WebhookVerificationError):
            Webhook(key).verify(body, dict(sent.headers))


@pytest.mark.rule("events.5", "events.9", "events.10")
def test_an_event_reaches_the_subscriptions_of_its_vendor_and_environment_only(
    desk: Desk, merchant: Merchant, other_merchant: Merchant
) -> None:
    for owner, name in ((merchant, "mine"), (other_merchant, "theirs")):
        for env_mode in ("test", "live"):
            desk.subscribe(owner, env_mode, f"https://{name}.example/{env_mode}")
    desk.publish(merchant, "test")
    assert [sent.url for sent in desk.work()] == ["https://mine.example/test"]
    desk.publish(merchant, "live")
    assert [(sent.url, sent.event["env_mode"]) for sent in desk.work()] == [("https://mine.example/live", "live")]


def test_nothing_is_sent_of_a_transaction_that_fails(desk: Desk, merchant: Merchant) -> None:
    desk.subscribe(merchant)

    def fail() -> None:
        with desk.resources.database.write() as session:
            event = NewEvent(
                vendor_id=merchant.id,
                env_mode=EnvMode.TEST,
                order_id=None,
                type="payment_failed",
                created_at=START,
                data={},
            )
            publish(session, event)
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert desk.work() == []
    with desk.resources.database.read() as session:
        assert session.scalars(select(WebhookEvent)).all() == []


def test_events_of_one_order_arrive_in_their_order(desk: Desk, merchant: Merchant) -> None:
    orders = [f"po_{number}" for number in range(4)]
    add_orders(desk, merchant, *orders)
    desk.subscribe(merchant)
    active: list[str] = []
    together: list[tuple[str, ...]] = []

    def answer(sent: Sent) -> HttpReply:
        active.append(sent.event["data"]["payment_order_id"])
        threading.Event().wait(0.01)  # for others to come in
        together.append(tuple(active))
        active.remove(sent.event["data"]["payment_order_id"])
        return HttpReply(status=200)

    desk.transport.answer = answer
    published = [(order_id, desk.publish(merchant, order_id=order_id)) for order_id in orders for _ in range(6)]
    sent = desk.work()
    assert len(sent) == 24
    assert all(len(set(one)) == len(one) for one in together)
    assert any(len(one) > 1 for one in together)
    for order_id in orders:
        wanted = [event_id for order, event_id in published if order == order_id]
        assert [one.event_id for one in sent if one.event["data"]["payment_order_id"] == order_id] == wanted


def hold_slow_receivers(desk: Desk) -> tuple[threading.Event, threading.Semaphore, threading.Semaphore]:
    """Let slow receivers answer only once the first is set; the others count who was asked, and who else answered."""
    release, started, served = threading.Event(), threading.Semaphore(0), threading.Semaphore(0)

    def answer(sent: Sent) -> HttpReply:
        if "slow" in sent.url:
            started.release()
            release.wait(30)
        else:
            served.release()
        return HttpReply(status=200)

    desk.transport.answer = answer
    return release, started, served


def test_a_slow_receiver_holds_up_nobody_else(desk: Desk, merchant: Merchant) -> None:
    release, started, served = hold_slow_receivers(desk)
    desk.subscribe(merchant, url="https://slow.example/")
    for _ in range(40):
        desk.publish(merchant)
    desk.dispatcher.run(desk.resources)
    for _ in range(4):
        assert started.acquire(timeout=10)
    quick = desk.subscribe(merchant, url="https://quick.example/")["webhook_id"]
    events = [desk.publish(merchant) for _ in range(10)]
    desk.dispatcher.run(desk.resources)
    try:
        assert all(served.acquire(timeout=10) for _ in events)
        assert sum("slow" in sent.url for sent in desk.transport.sent) == 4
    finally:
        release.set()
    desk.dispatcher.wait_idle()
    assert {entry["status"] for entry in desk.log(merchant, quick)} == {"delivered"}


def test_who_leaves_waits_for_a_slow_receiver_while_the_others_hear_on(desk: Desk, merchant: Merchant) -> None:
    release, started, served = hold_slow_receivers(desk)
    seconds = iter(count(step=SLOW_S / 100))
    leaving = Dispatcher(desk.transport, stopwatch=lambda: next(seconds))
    slow = desk.subscribe(merchant, url="https://slow.example/")["webhook_id"]
    for _ in range(6):
        desk.publish(merchant)
    leaving.run(desk.resources)
    for _ in range(4):
        assert started.acquire(timeout=10)
    quick = desk.subscribe(merchant, url="https://quick.example/")["webhook_id"]
    for _ in range(200):  # a second and more goes by
        next(seconds)
    thread = threading.Thread(target=leaving.end)
    thread.start()
    try:
        for _ in range(3):
            desk.publish(merchant)
            assert served.acquire(timeout=10)
        assert thread.is_alive()
    finally:
        release.set()
        thread.join(30)
    assert not thread.is_alive()
    assert {entry["status"] for entry in desk.log(merchant, quick)} == {"delivered"}
    assert sum("slow" in sent.url for sent in desk.transport.sent) == 4, "the slow one gets nothing more"
    left = [sent.event_id for sent in desk.work()]
    assert len(left) == 5, "two of before, three of since: whoever comes next sends them"
    assert {entry["status"] for entry in desk.log(merchant, slow)} == {"delivered"}


def test_who_leaves_and_has_nothing_slow_under_way_is_gone_at_once(desk: Desk, merchant: Merchant) -> None:
    desk.subscribe(merchant)
    desk.publish(merchant)
    desk.work()
    desk.publish(merchant)
    desk.dispatcher.end()
    assert len(desk.transport.sent) == 1
    assert len(desk.work()) == 1, "it can begin again"


def test_two_workers_never_send_the_same_delivery(desk: Desk, merchant: Merchant) -> None:
    desk.subscribe(merchant)
    events = [desk.publish(merchant) for _ in range(30)]
    second = Dispatcher(desk.transport)
    both = [threading.Thread(target=one.run, args=(desk.resources,)) for one in (desk.dispatcher, second)]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join()
    second.wait_idle()
    second.end()
    desk.work()
    assert sorted(sent.event_id for sent in desk.transport.sent) == sorted(events)


def test_each_part_sends_its_own_subscriptions_and_together_they_send_all(desk: Desk, merchant: Merchant) -> None:
    hooks = [desk.subscribe(merchant, url=f"https://shop{number}.example/")["webhook_id"] for number in range(24)]
    with desk.resources.database.write() as session:  # nobody makes such an id now
        made = session.get_one(WebhookSubscription, hooks[0])
        values = {column.key: getattr(made, column.key) for column in WebhookSubscription.__mapper__.column_attrs}
        session.add(WebhookSubscription(**values | {"id": "ep_ODD!", "url": "https://odd.example/"}))
        session.flush()
        add_secret(session, desk.resources.box, "ep_ODD!", START)
    desk.publish(merchant)
    by_part = []
    for part in range(PARTS):
        desk.dispatcher = Dispatcher(desk.transport, mine=select_part(part))
        by_part.append({sent.url for sent in desk.work()})
        assert desk.work() == []
    urls = [url for part in by_part for url in part]
    assert len(urls) == len(set(urls)) == len(hooks) + 1
    assert "https://odd.example/" in by_part[0]
    for number, hook in enumerate(hooks):
        assert f"https://shop{number}.example/" in by_part[ALPHABET.index(hook[-1]) % PARTS]


def test_a_lease_that_a_dead_worker_left_ends(desk: Desk, merchant: Merchant, clock: SettableClock) -> None:
    desk.subscribe(merchant)
    event_id = desk.publish(merchant)
    with desk.resources.database.write() as session:
        session.scalars(select(WebhookDelivery)).one().lease_until = clock.now() + timedelta(seconds=45)
    assert desk.work() == []
    clock.advance(seconds=45)
    assert [sent.event_id for sent in desk.work()] == [event_id]


def test_an_ended_dispatcher_starts_nothing_more_and_can_run_again(desk: Desk, merchant: Merchant) -> None:
    desk.subscribe(merchant)
    holding, release = threading.Event(), threading.Event()

    def answer(_: Sent) -> HttpReply:
        holding.set()
        release.wait(30)
        return HttpReply(status=200)

    desk.transport.answer = answer
    events = [desk.publish(merchant) for _ in range(8)]
    desk.dispatcher.run(desk.resources)
    assert holding.wait(10)
    ending = threading.Thread(target=desk.dispatcher.end)
    ending.start()
    release.set()
    ending.join(10)
    assert not ending.is_alive()
    desk.work()
    assert sorted(sent.event_id for sent in desk.transport.sent) == sorted(events)


def test_metrics(desk: Desk, merchant: Merchant, clock: SettableClock) -> None:
    desk.subscribe(merchant)
    desk.publish(merchant)
    desk.work()
    desk.publish(merchant)
    clock.advance(seconds=90)
    text = read_metrics(build_app(desk.resources))
    assert 'checkout_webhook_deliveries{status="delivered"} 1.0' in text
    assert 'checkout_webhook_deliveries{status="pending"} 1.0' in text
    assert 'checkout_webhook_deliveries{status="failed"} 0.0' in text
    assert "checkout_webhook_oldest_pending_seconds 90.0" in text


@pytest.mark.rule("money.5", "deliveries.1", "deliveries.2")
def test_the_signature_is_the_hmac_of_id_timestamp_and_body(desk: Desk, merchant: Merchant) -> None:
    secret = desk.subscribe(merchant)["secret"]
    event_id = desk.publish(merchant)
    (sent,) = desk.work()
    assert event_id.startswith("evt_")
    moment = str(int(START.timestamp()))
    assert (sent.headers["webhook-id"], sent.headers["webhook-timestamp"]) == (event_id, moment)
    signed = f"{event_id}.{moment}.".encode() + sent.body
    mac = hmac.digest(base64.b64decode(secret.removeprefix("whsec_")), signed, "sha256")
    assert sent.headers["webhook-signature"] == f"v1,{base64.b64encode(mac).decode()}"
