"""A vendor whose receivers are slow, or whose backlog is long, keeps no other vendor waiting: on both databases."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import insert, select, true, update

from api.domain.env import EnvMode
from api.net.addresses import IpAddress
from api.net.client import HttpReply
from api.services.chains.waiting_room import WaitingRoom
from api.services.resources import Resources
from api.services.vendors.api_keys import find_key
from api.services.webhooks.dispatcher import Dispatcher
from api.services.webhooks.in_flight import InFlight
from api.services.webhooks.leases import DeliveryLease, lease_due
from api.services.webhooks.slowness import LONG_S
from api.services.webhooks.subscriptions import register
from api.services.webhooks.waiting import FEW, LOOK, list_waiting, lock_due, select_waiting
from api.storage.tables import WebhookDelivery, WebhookEvent, WebhookSubscription
from tests.api.conftest import START, Merchant
from tests.api.orders.test_order_search_plans import copy_row
from tests.support.plans import explain_all
from tests.support.receiver import StaticResolver
from tests.support.webhooks import HOOK, Desk, Sent

THREADS = 8
BACKLOG = 3000
WAITING = select_waiting(true())
PERIOD = timedelta(seconds=45)


class Tarpit:
    """Receivers that answer only when they are told to, if there is `slow` in their address; others do at once."""

    def __init__(self) -> None:
        self.quick = threading.Semaphore(0)
        self._changed = threading.Condition()
        self._gate = threading.Event()
        self.held = self.ended = 0

    def answer(self, sent: Sent) -> HttpReply:
        if "slow" not in sent.url:
            self.quick.release()
            return HttpReply(status=200)
        with self._changed:
            gate, self.held = self._gate, self.held + 1
            self._changed.notify_all()
        gate.wait(60)
        with self._changed:
            self.held, self.ended = self.held - 1, self.ended + 1
            self._changed.notify_all()
        return HttpReply(status=200)

    def wait_until(self, held: int, ended: int = 0) -> bool:
        with self._changed:
            return self._changed.wait_for(lambda: (self.held, self.ended) == (held, ended), timeout=30)

    def let_go(self) -> None:
        """Let all answer that are held now; whoever is asked later is held again."""
        gate, self._gate = self._gate, threading.Event()
        gate.set()


@pytest.fixture
def tarpit(desk: Desk) -> Iterator[Tarpit]:
    made = Tarpit()
    desk.transport.answer = made.answer
    yield made
    desk.transport.always(status=200)  # whatever is begun from now on
    made.let_go()


def subscribe_slow(desk: Desk, merchant: Merchant, count: int) -> None:
    for number in range(count):
        desk.subscribe(merchant, url=f"https://slow{number}.example/")


@pytest.mark.parametrize(("vendors", "held"), [(1, 4), (3, 6)])
def test_slow_receivers_of_few_vendors_keep_nobody_else_waiting(
    desk: Desk, tarpit: Tarpit, merchant: Merchant, make_merchant: Callable[[str], Merchant], vendors: int, held: int
) -> None:
    """Each has more of them than there are threads, and the victim is heard while they are all under way."""
    desk.dispatcher = Dispatcher(desk.transport, threads=THREADS)
    thieves = [make_merchant(f"Thief {number}") for number in range(vendors)]
    for thief in thieves:
        subscribe_slow(desk, thief, THREADS + 1)
    desk.subscribe(merchant, url="https://victim.example/")
    for thief in thieves * 10:
        desk.publish(thief)
    desk.dispatcher.run(desk.resources)
    assert tarpit.wait_until(held=held)
    for _ in range(5):
        desk.publish(merchant)
        desk.dispatcher.run(desk.resources)
        assert tarpit.quick.acquire(timeout=10)
    assert tarpit.wait_until(held=held), "none of them has answered yet"


def test_who_was_slow_shares_half_of_the_threads_with_all_who_were(
    desk: Desk, tarpit: Tarpit, merchant: Merchant, make_merchant: Callable[[str], Merchant]
) -> None:
    seconds = [0.0]
    desk.dispatcher = Dispatcher(desk.transport, threads=THREADS, stopwatch=lambda: seconds[0])
    slow = [make_merchant(f"Slow {number}") for number in range(4)]
    for each in slow:
        subscribe_slow(desk, each, 1)
    for each in slow * 6:
        desk.publish(each)
    desk.dispatcher.run(desk.resources)
    assert tarpit.wait_until(held=7), "who is not known yet leaves one"
    seconds[0] += LONG_S + 1
    tarpit.let_go()
    assert tarpit.wait_until(held=THREADS // 2, ended=7)
    desk.dispatcher.run(desk.resources)
    desk.subscribe(merchant, url="https://victim.example/")
    desk.publish(merchant)
    desk.dispatcher.run(desk.resources)
    assert tarpit.quick.acquire(timeout=10)
    assert tarpit.wait_until(held=THREADS // 2, ended=7)


def pile_up(desk: Desk, merchant: Merchant, count: int) -> None:
    """Give each subscription of a vendor a backlog that is older than anything else."""
    event_id = desk.publish(merchant)
    with desk.resources.database.write() as session:
        event = session.scalars(select(WebhookEvent).where(WebhookEvent.id == event_id)).one()
        deliveries = session.scalars(select(WebhookDelivery).where(WebhookDelivery.event_id == event_id)).all()
        events, rows = [], []
        for number in range(count // len(deliveries)):
            at = START - timedelta(hours=1) + timedelta(milliseconds=number)
            name = f"evt_{merchant.id}_{number}"
            events.append(copy_row(event, "seq") | {"id": name, "created_at": at})
            for each in deliveries:
                copied = {"id": f"{each.id[-20:]}_{number}", "event_id": name, "next_attempt_at": at}
                rows.append(copy_row(each) | copied)
        session.execute(insert(WebhookEvent), events)
        session.execute(insert(WebhookDelivery), rows)


def lease(desk: Desk, free: int, in_flight: InFlight | None = None) -> list[DeliveryLease]:
    with desk.resources.database.write() as session:
        return lease_due(session, in_flight or InFlight(16), desk.resources.clock.now(), PERIOD, free, WAITING)


def test_a_long_backlog_hides_nobodys_deliveries(
    desk: Desk, merchant: Merchant, other_merchant: Merchant, make_merchant: Callable[[str], Merchant]
) -> None:
    subscribe_slow(desk, other_merchant, 20)
    pile_up(desk, other_merchant, BACKLOG)
    small = [make_merchant(f"Small {number}") for number in range(5)]
    for each in (*small, merchant):
        desk.subscribe(each)
        desk.publish(each)
    leased = lease(desk, free=16)
    by_vendor = [each.vendor_id for each in leased]
    assert {each.id for each in (*small, merchant)} < set(by_vendor)
    assert by_vendor.count(other_merchant.id) == 5, "as many as it leaves"
    assert len(leased) == 11
    more = lease(desk, free=16, in_flight=InFlight(16))
    assert {each.vendor_id for each in more} == {other_merchant.id}
    assert not {each.delivery_id for each in more} & {each.delivery_id for each in leased}


def test_the_one_free_thread_is_for_the_vendor_with_least_and_for_live_events_first(
    desk: Desk, merchant: Merchant, other_merchant: Merchant
) -> None:
    subscribe_slow(desk, other_merchant, 20)
    pile_up(desk, other_merchant, BACKLOG)
    for env_mode in ("test", "live"):
        desk.subscribe(merchant, env_mode)
        desk.publish(merchant, env_mode)
    (first,) = lease(desk, free=1)
    assert first.env_mode == EnvMode.LIVE, "test events are older"
    in_flight = InFlight(16)
    in_flight.enter(replace(first, vendor_id=other_merchant.id))
    (second,) = lease(desk, free=1, in_flight=in_flight)
    assert (second.vendor_id, second.env_mode) == (merchant.id, EnvMode.TEST)
    (third,) = lease(desk, free=1, in_flight=in_flight)
    assert third.vendor_id == other_merchant.id


def test_a_backlog_of_one_order_lets_other_orders_of_the_subscription_pass(desk: Desk, merchant: Merchant) -> None:
    """Where the oldest wait for the one before them, later rounds see what is behind."""
    from tests.api.webhooks.test_webhook_delivery import add_orders

    add_orders(desk, merchant, "po_1", "po_2")
    desk.subscribe(merchant)
    for _ in range(2 * LOOK):
        desk.publish(merchant, order_id="po_1")
    desk.publish(merchant, order_id="po_2")
    sent = desk.work()
    assert len(sent) == 2 * LOOK + 1
    assert sent[-1].event["data"]["payment_order_id"] == "po_1"


def test_what_a_deleted_subscription_was_to_get_is_given_up(desk: Desk, merchant: Merchant) -> None:
    gone = desk.subscribe(merchant)["webhook_id"]
    events = [desk.publish(merchant) for _ in range(3)]
    with desk.resources.database.write() as session:  # as if the events had come at the same moment
        session.execute(update(WebhookSubscription).where(WebhookSubscription.id == gone).values(deleted_at=START))
    assert desk.work() == []
    assert {desk.delivery(event_id).status for event_id in events} == {"cancelled"}


@pytest.mark.parametrize("backlog", [FEW // 2, BACKLOG])
def test_what_is_due_is_found_by_an_index_however_much_there_is(desk: Desk, merchant: Merchant, backlog: int) -> None:
    subscribe_slow(desk, merchant, 4)
    pile_up(desk, merchant, backlog)
    now = desk.resources.clock.now()
    with desk.resources.database.read() as session:
        (one, *others) = list_waiting(session, WAITING, now)
    assert len(others) == 3
    assert one.since == START - timedelta(hours=1)
    plans = explain_all(
        desk.resources.database,
        lambda session: (list_waiting(session, WAITING, now), lock_due(session, one, now)),
    )
    assert len(plans) == 3
    assert all("ix_webhook_deliveries_pending" in plan for plan in plans[1:])
    assert ("RECURSIVE" in plans[1].upper()) == (backlog == BACKLOG)
    for plan in plans:
        for other in ("SCAN webhook_deliveries", "Seq Scan", "Aggregate  "):
            assert other not in plan, plan


def test_what_is_pending_and_not_due_is_not_gone_through(desk: Desk, merchant: Merchant) -> None:
    subscribe_slow(desk, merchant, 4)
    pile_up(desk, merchant, FEW // 2)
    with desk.resources.database.write() as session:
        session.execute(update(WebhookDelivery).values(next_attempt_at=START + timedelta(hours=1)))
    plans = explain_all(desk.resources.database, lambda session: list_waiting(session, WAITING, START))
    assert len(plans) == 1
    assert "next_attempt_at<" in plans[0] or "next_attempt_at <" in plans[0]


def test_a_vendors_slow_name_server_holds_few_threads(resources: Resources, merchant: Merchant) -> None:
    """Found: each registration waited two seconds for it, so a vendor had all threads of the service wait."""
    gate, waiting = threading.Event(), threading.Semaphore(0)

    class Slow(StaticResolver):
        def resolve(self, host: str, timeout_s: float) -> tuple[IpAddress, ...]:
            waiting.release()
            gate.wait(10)
            return super().resolve(host, timeout_s)

    resolver = Slow(("93.184.216.34",))
    slow = replace(resources, resolver=resolver, name_room=WaitingRoom(4))
    with resources.database.read() as session:
        key = find_key(session, merchant.headers()["X-Api-Key"], resources.clock.now())
    assert key is not None
    with ThreadPoolExecutor(2) as pool:
        asked = [pool.submit(register, slow, key, HOOK, EnvMode.TEST) for _ in range(2)]
        for _ in asked:
            waiting.acquire(timeout=10)
        try:
            assert [register(slow, key, HOOK, EnvMode.TEST).url for _ in range(2)] == [HOOK] * 2
            assert not any(each.done() for each in asked)
        finally:
            gate.set()
    assert len(resolver.asked) == 2
