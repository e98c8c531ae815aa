"""The delivery log, redelivery, test events, and events for reconciliation."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from datetime import timedelta

import pytest

from api.domain.env import EnvMode
from api.domain.events import DEFAULT_TYPES, EventType, choose_event
from api.domain.orders import OrderStatus, StatusReason
from api.services.webhooks.outbox import NewEvent, publish
from tests.api.conftest import START, Merchant
from tests.api.storage.test_storage import order_of
from tests.support.clock import SettableClock
from tests.support.shop import LINK
from tests.support.webhooks import SUBSCRIPTIONS, Desk, verify

Check = Callable[..., None]


@pytest.fixture
def order(desk: Desk, merchant: Merchant) -> str:
    with desk.resources.database.write() as session:
        session.add(order_of(merchant, "po_1"))
    return "po_1"


def redeliver(desk: Desk, merchant: Merchant, event_id: str) -> object:
    path = f"/api/v1/webhook_delivery/{desk.delivery(event_id).id}/redeliver"
    return desk.client.post(path, headers=merchant.headers())


@pytest.mark.rule("webhooks.13")
def test_the_log_shows_each_attempt(desk: Desk, merchant: Merchant, order: str, clock: SettableClock) -> None:
    webhook_id = desk.subscribe(merchant)["webhook_id"]
    event_id = desk.publish(merchant, order_id=order)
    desk.transport.always(error="The connection was not accepted: Connection refused", duration_ms=3)
    desk.work()
    clock.advance(seconds=6)
    desk.transport.always(status=200, excerpt="thanks", duration_ms=8)
    desk.work()
    (entry,) = desk.log(merchant, webhook_id)
    first, second = entry.pop("attempts")
    assert first == {
        "attempt": 1,
        "at": "2026-03-01T12:00:00.000Z",
        "response_status": None,
        "response_excerpt": "",
        "error": "The connection was not accepted: Connection refused",
        "duration_ms": 3,
    }
    assert (second["attempt"], second["response_status"], second["error"]) == (2, 200, None)
    assert entry == {
        "delivery_id": desk.delivery(event_id).id,
        "webhook_id": webhook_id,
        "event_id": event_id,
        "event_type": "payment_success",
        "payment_order_id": order,
        "status": "delivered",
        "created_at": "2026-03-01T12:00:00.000Z",
        "delivered_at": "2026-03-01T12:00:06.000Z",
        "next_attempt_at": None,
    }


@pytest.mark.rule("webhooks.13")
def test_the_log_comes_in_pages(desk: Desk, merchant: Merchant, clock: SettableClock) -> None:
    webhook_id = desk.subscribe(merchant)["webhook_id"]
    published = []
    for _ in range(7):
        clock.advance(seconds=1)
        published.append(desk.publish(merchant))
    path, cursor, seen = f"{SUBSCRIPTIONS}/{webhook_id}/deliveries?limit=3", "", []
    for size in (3, 3, 1):
        page = desk.client.get(path + cursor, headers=merchant.headers()).get_json()
        assert len(page["data"]) == size
        seen += [entry["event_id"] for entry in page["data"]]
        cursor = f"&cursor={page['next_cursor']}"
    assert page["next_cursor"] is None
    assert seen == published[::-1]


@pytest.mark.parametrize(
    "query", ["limit=0", "limit=101", "limit=x", "limit=-1", "limit=1e3", "cursor=", "cursor=zz", "cursor=evt_1"]
)
def test_a_malformed_page(desk: Desk, merchant: Merchant, assert_error: Check, query: str) -> None:
    webhook_id = desk.subscribe(merchant)["webhook_id"]
    answer = desk.client.get(f"{SUBSCRIPTIONS}/{webhook_id}/deliveries?{query}", headers=merchant.headers())
    assert_error(answer, 400)
    assert answer.get_json()["error"][0]["path"] == query.partition("=")[0]


@pytest.mark.rule("webhooks.14")
def test_a_delivered_event_can_be_sent_again_with_its_id(desk: Desk, merchant: Merchant) -> None:
    webhook_id = desk.subscribe(merchant)["webhook_id"]
    event_id = desk.publish(merchant)
    desk.work()
    answer = redeliver(desk, merchant, event_id)
    assert answer.status_code == 200
    assert answer.get_json()["data"]["status"] == "pending"
    assert [sent.event_id for sent in desk.work()] == [event_id]
    (entry,) = desk.log(merchant, webhook_id)
    assert [row["attempt"] for row in entry["attempts"]] == [1, 2]


@pytest.mark.rule("webhooks.14")
def test_a_failed_event_gets_a_fresh_schedule(desk: Desk, merchant: Merchant, clock: SettableClock) -> None:
    desk.subscribe(merchant)
    event_id = desk.publish(merchant)
    desk.transport.always(status=500)
    for tries in (3, 6):
        for _ in range(5):
            desk.work()
            clock.advance(hours=1)
        assert desk.delivery(event_id).status == "failed"
        assert len(desk.transport.sent) == tries
        redeliver(desk, merchant, event_id)


def test_what_is_being_sent_is_not_sent_twice(desk: Desk, merchant: Merchant, assert_error: Check) -> None:
    desk.subscribe(merchant)
    event_id = desk.publish(merchant)
    answers = []

    def answer(_: object) -> object:
        answers.append(redeliver(desk, merchant, event_id))
        raise ConnectionAbortedError

    desk.transport.answer = answer
    desk.work()
    assert_error(answers[0], 409)


def test_a_disabled_webhook_has_to_be_enabled_first(desk: Desk, merchant: Merchant, assert_error: Check) -> None:
    webhook_id = desk.subscribe(merchant)["webhook_id"]
    event_id = desk.publish(merchant)
    desk.transport.always(status=410)
    desk.work()
    desk.transport.always(status=200)
    one = f"{SUBSCRIPTIONS}/{webhook_id}"
    refused = [redeliver(desk, merchant, event_id), desk.client.post(f"{one}/test", headers=merchant.headers())]
    for answer in refused:
        assert_error(answer, 409, {})
        assert "410 Gone" in answer.get_json()["message"]
    enabled = desk.client.post(f"{one}/enable", headers=merchant.headers()).get_json()["data"]
    assert (enabled["status"], enabled["disabled_reason"]) == ("active", None)
    redeliver(desk, merchant, event_id)
    desk.publish(merchant)
    assert len(desk.work()) == 2


@pytest.mark.rule("webhooks.11")
@pytest.mark.parametrize("env_mode", ["test", "live"])
def test_a_test_event_goes_to_one_subscription_through_the_outbox(
    desk: Desk, merchant: Merchant, env_mode: str
) -> None:
    made = desk.subscribe(merchant, env_mode)
    desk.subscribe(merchant, env_mode, "https://other.example/")
    path = f"{SUBSCRIPTIONS}/{made['webhook_id']}/test"
    event_id = desk.client.post(path, headers=merchant.headers(env_mode)).get_json()["data"]["event_id"]
    (sent,) = desk.work()
    assert sent.event_id == event_id
    event = verify(made["secret"], sent)["event"]
    assert (event["type"], event["env_mode"]) == ("payment_processing", env_mode)
    assert event["data"]["metadata"] == {"webhook_test": True}
    assert desk.client.get("/api/v1/events", headers=merchant.headers(env_mode)).get_json()["data"] == []


def test_a_test_event_can_be_of_each_type(desk: Desk, merchant: Merchant, assert_error: Check) -> None:
    path = f"{SUBSCRIPTIONS}/{desk.subscribe(merchant)['webhook_id']}/test"
    for kind in ("payment_processing", "payment_success", "payment_failed"):
        desk.client.post(path, json={"type": kind}, headers=merchant.headers())
        assert [sent.event["type"] for sent in desk.work()] == [kind]
    assert_error(desk.client.post(path, json={"type": "refund"}, headers=merchant.headers()), 400)


@pytest.mark.parametrize("kind", DEFAULT_TYPES)
def test_a_test_event_looks_like_a_real_one_of_its_type(desk: Desk, merchant: Merchant, kind: EventType) -> None:
    path = f"{SUBSCRIPTIONS}/{desk.subscribe(merchant)['webhook_id']}/test"
    real = desk.client.post("/api/v1/payment_link", json=LINK, headers=merchant.headers())
    assert real.status_code == 200
    (made,) = desk.work()
    desk.client.post(path, json={"type": kind}, headers=merchant.headers())
    (sent,) = desk.work()
    event, data = sent.event, sent.event["data"]
    assert (set(event), set(data)) == (set(made.event), set(made.event["data"]))
    assert (event["type"], data["metadata"]) == (kind, {"webhook_test": True})
    assert choose_event(OrderStatus(data["payment_order_status"]), StatusReason(data["status_reason"])) == kind
    (transaction,) = data["transactions"]
    assert re.fullmatch("0x[0-9a-f]{64}", data["transaction_hash"])
    assert transaction == {"chain_id": 8453, "hash": data["transaction_hash"], "timestamp": event["created_at"]}


@pytest.mark.rule("events.19")
def test_events_are_read_from_a_cursor_on(
    desk: Desk, merchant: Merchant, other_merchant: Merchant, order: str, clock: SettableClock
) -> None:
    published = []
    for _ in range(5):
        published.append(desk.publish(merchant, order_id=order))
        desk.publish(merchant, "live", order_id=order)
        clock.advance(minutes=1)

    def page(query: str) -> dict[str, object]:
        return desk.client.get(f"/api/v1/events?{query}", headers=merchant.headers()).get_json()

    first = page("limit=2")
    assert [row["id"] for row in first["data"]] == published[:2]
    assert (first["next_cursor"], first["has_more"]) == (published[1], True)
    rest = page(f"since={first['next_cursor']}")
    assert [row["id"] for row in rest["data"]] == published[2:]
    assert (rest["next_cursor"], rest["has_more"]) == (published[-1], False)
    assert page(f"since={published[-1]}") == {"data": [], "next_cursor": published[-1], "has_more": False}
    assert [row["id"] for row in page("since=2026-03-01T12:03:00Z")["data"]] == published[3:]
    assert first["data"][0]["event"]["data"]["payment_order_id"] == order
    theirs = desk.client.get("/api/v1/events", headers=other_merchant.headers()).get_json()
    assert theirs == {"data": [], "next_cursor": None, "has_more": False}


@pytest.mark.parametrize("since", ["x", "evt_" + "0" * 36, "2026-13-01", "0001-01-01T00:00:00%2B14:00", "9" * 64])
def test_a_malformed_cursor(desk: Desk, merchant: Merchant, assert_error: Check, since: str) -> None:
    answer = desk.client.get(f"/api/v1/events?since={since}", headers=merchant.headers())
    assert_error(answer, 400)
    assert answer.get_json()["error"][0]["path"] == "since"


@pytest.mark.rule("events.19")
def test_a_cursor_never_passes_an_event_that_is_not_committed_yet(desk: Desk, merchant: Merchant, order: str) -> None:
    event = NewEvent(
        vendor_id=merchant.id,
        env_mode=EnvMode.TEST,
        order_id=order,
        type="payment_failed",
        created_at=START + timedelta(seconds=1),
        data={},
    )
    published, finish = threading.Event(), threading.Event()
    ids: list[str] = []

    def slow() -> None:
        with desk.resources.database.write() as session:
            ids.append(publish(session, event))
            published.set()
            finish.wait(10)

    def quick() -> None:
        ids.append(desk.publish(merchant, order_id=order))

    writer, other = threading.Thread(target=slow), threading.Thread(target=quick)
    writer.start()
    assert published.wait(10)
    other.start()
    other.join(0.3)  # PostgreSQL lets it overtake; on SQLite it waits for the slow one
    threading.Timer(0.2, finish.set).start()
    path, headers = "/api/v1/events", merchant.headers()
    early = desk.client.get(path, headers=headers).get_json()
    writer.join()
    other.join()
    since = f"?since={early['next_cursor']}" if early["next_cursor"] else ""
    late = desk.client.get(path + since, headers=headers).get_json()
    assert sorted(row["id"] for row in early["data"] + late["data"]) == sorted(ids)
