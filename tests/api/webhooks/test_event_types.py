"""Types of events: chosen by each subscription, told once, read back by id, type and cursor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from api.domain.events import DEFAULT_TYPES, EventType
from api.schemas.webhooks.events import EventSchema
from api.services.settlement.watching.watcher import watch
from tests.api.conftest import Merchant
from tests.api.orders.test_orders_races import at_once, retried
from tests.support.clock import SettableClock
from tests.support.shop import Shop
from tests.support.simulated_payments import send
from tests.support.webhooks import HOOK, SUBSCRIPTIONS, Desk

Check = Callable[..., None]
THREE = ["payment_processing", "payment_success", "payment_failed"]
PRICE = 10**6
DETAILS = {"payment_refunded": {"refund"}, "payment_unmatched": {"transfer"}}


@pytest.fixture
def stall(desk: Desk, clock: SettableClock, merchant: Merchant) -> Shop:
    """The merchant's application, beside the desk that delivers its events."""
    return Shop(client=desk.client, resources=desk.resources, clock=clock, merchant=merchant)


def subscribe(desk: Desk, merchant: Merchant, **body: Any) -> dict[str, Any]:
    asked = {"webhook_url": HOOK, "env_mode": "test", **body}
    answer = desk.client.post(SUBSCRIPTIONS, json=asked, headers=merchant.headers())
    assert answer.status_code == 200, answer.get_json()
    data: dict[str, Any] = answer.get_json()["data"]
    return data


def change(desk: Desk, merchant: Merchant, webhook_id: str, **body: Any) -> Any:
    return desk.client.patch(f"{SUBSCRIPTIONS}/{webhook_id}", json=body, headers=merchant.headers())


def work(desk: Desk, url: str = HOOK) -> list[str]:
    return [sent.event["type"] for sent in desk.work() if sent.url == url]


def tell_everything(stall: Shop) -> str:
    """Let an order be paid and given back in two parts, and something reach the shop that names no order."""
    order_id = stall.create()
    stall.simulate(order_id, "pay")
    send(stall, order_id, 77, reference=None)
    stall.wait(6)
    path = f"/api/v1/payment/{order_id}/refund"
    for body in ({"amount": "400000"}, None):
        assert stall.post(path, body).status_code == 200
        stall.wait(6)
    return order_id


@pytest.mark.rule("webhooks.15")
def test_a_subscription_that_does_not_choose_hears_of_the_three(desk: Desk, merchant: Merchant, stall: Shop) -> None:
    assert subscribe(desk, merchant)["events"] == THREE == list(DEFAULT_TYPES)
    tell_everything(stall)
    assert set(work(desk)) == {"payment_processing", "payment_success"}


@pytest.mark.rule("webhooks.16")
def test_a_subscription_hears_of_what_it_chose(desk: Desk, merchant: Merchant, stall: Shop) -> None:
    types = ["payment_unmatched", "payment_refunded"]
    made = subscribe(desk, merchant, events=types)
    assert made["events"] == types[::-1]
    tell_everything(stall)
    assert work(desk) == ["payment_unmatched", "payment_refunded", "payment_refunded"]


@pytest.mark.rule("webhooks.18")
def test_each_refund_is_told_once_with_what_it_is(desk: Desk, merchant: Merchant, stall: Shop) -> None:
    order_id = tell_everything(stall)
    stall.wait(6)
    first, last = [event["data"] for event in stall.events(order_id) if event["type"] == "payment_refunded"]
    assert (first["payment_order_status"], first["status_reason"]) == ("success", "partially_refunded")
    assert (last["payment_order_status"], last["status_reason"]) == ("refunded", "")
    refunds = stall.order(order_id)["refunds"]
    assert [first["refund"]["amount"], last["refund"]["amount"]] == ["400000", "600000"]
    assert all(EventSchema().validate(event) == {} for event in stall.events(order_id))
    for told, kept in zip((first, last), refunds, strict=True):
        assert told["refund"] == {**kept, "status": told["refund"]["status"]}
        assert told["refund"]["status"] in {"sent", "final"}
        assert (told["payment_order_id"], told["metadata"]) == (order_id, {"cart": "7"})


@pytest.mark.rule("webhooks.19")
def test_an_unmatched_transfer_is_told_once_as_the_list_has_it(desk: Desk, merchant: Merchant, stall: Shop) -> None:
    order_id = stall.create()
    send(stall, order_id, 5 * 10**6, reference=None)
    stall.clock.advance(seconds=1)
    watch(stall.resources)
    assert stall.get("/api/v1/events?type=payment_unmatched").get_json()["data"] == []
    stall.wait(6)
    at_once(*[retried(watch, stall)] * 4)
    (row,) = stall.get("/api/v1/events?type=payment_unmatched").get_json()["data"]
    (listed,) = stall.get("/api/v1/unmatched_transfer").get_json()["data"]
    data = row["event"]["data"]
    assert EventSchema().validate(row["event"]) == {}
    assert data["transfer"] == {**listed, "status": data["transfer"]["status"]}
    assert (data["payment_order_id"], data["transaction_hash"]) == ("", listed["transaction_hash"])
    assert (data["payment_order_status"], data["metadata"]) == (None, {})
    assert data["transactions"][0]["hash"] == listed["transaction_hash"]
    assert stall.get("/api/v1/events").get_json()["data"][-1] == row
    body = {"payment_order_id": order_id}
    assert stall.post(f"/api/v1/unmatched_transfer/{listed['id']}/assign", body).status_code == 200
    stall.wait(6)
    assert len(stall.get("/api/v1/events?type=payment_unmatched").get_json()["data"]) == 1


def test_a_payment_that_names_its_order_is_never_told_as_unmatched(stall: Shop) -> None:
    for action in ("pay", "bridge_delay", "overpay"):
        stall.simulate(stall.create(), action)
    stall.wait(60)
    assert stall.get("/api/v1/events?type=payment_unmatched").get_json()["data"] == []


@pytest.mark.rule("webhooks.6", "webhooks.17")
def test_types_and_address_can_be_changed(desk: Desk, merchant: Merchant, clock: SettableClock) -> None:
    webhook_id = subscribe(desk, merchant)["webhook_id"]
    one = f"{SUBSCRIPTIONS}/{webhook_id}"
    before = desk.client.get(one, headers=merchant.headers()).get_json()["data"]
    assert (before["webhook_url"], before["events"], before["status"]) == (HOOK, THREE, "active")
    assert "secret" not in before
    desk.publish(merchant)
    clock.advance(seconds=3)
    other = "https://shop.example/other"
    after = change(desk, merchant, webhook_id, webhook_url=other, events=["payment_refunded"]).get_json()["data"]
    assert after == {
        **before,
        "webhook_url": other,
        "events": ["payment_refunded"],
        "updated_at": "2026-03-01T12:00:03.000Z",
    }
    assert desk.client.get(one, headers=merchant.headers()).get_json()["data"] == after
    desk.publish(merchant)  # a type that it has no more
    assert work(desk, other) == ["payment_success"]  # what waited goes to the new address
    assert change(desk, merchant, webhook_id).get_json()["data"] == after


def test_a_new_address_has_not_failed_yet(desk: Desk, merchant: Merchant) -> None:
    webhook_id = subscribe(desk, merchant)["webhook_id"]
    desk.transport.always(status=500)
    desk.publish(merchant)
    desk.work()
    assert desk.subscription(webhook_id).failing_since is not None
    change(desk, merchant, webhook_id, webhook_url="https://shop.example/other")
    assert desk.subscription(webhook_id).failing_since is None


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"events": []}, "events"),
        ({"events": ["payment_done"]}, "events.0"),
        ({"events": ["payment_failed", "payment_failed"]}, "events"),
        ({"events": "payment_failed"}, "events"),
        ({"events": None}, "events"),
        ({"webhook_url": None}, "webhook_url"),
        ({"webhook_url": "http://127.0.0.1/hook"}, "webhook_url"),
        ({"webhook_url": "http://169.254.169.254/"}, "webhook_url"),
        ({"webhook_url": "https://me:pw@a.example/"}, "webhook_url"),
        ({"env_mode": "test"}, "env_mode"),
    ],
)
def test_a_change_is_checked_as_a_registration_is(
    desk: Desk, merchant: Merchant, assert_error: Check, body: dict[str, Any], path: str
) -> None:
    webhook_id = subscribe(desk, merchant)["webhook_id"]
    refused = change(desk, merchant, webhook_id, **body)
    assert_error(refused, 400)
    assert [row["path"] for row in refused.get_json()["error"]] == [path]
    if "events" in body:
        made = desk.client.post(
            SUBSCRIPTIONS, json={"webhook_url": HOOK, "env_mode": "test", **body}, headers=merchant.headers()
        )
        assert [row["path"] for row in made.get_json()["error"]] == [path]
    row = desk.subscription(webhook_id)
    assert (row.url, row.events) == (HOOK, THREE)


@pytest.mark.rule("input.12")
def test_plain_http_stays_for_the_test_environment(desk: Desk, merchant: Merchant, assert_error: Check) -> None:
    live = desk.subscribe(merchant, "live")["webhook_id"]
    refused = desk.client.patch(
        f"{SUBSCRIPTIONS}/{live}", json={"webhook_url": "http://shop.example/"}, headers=merchant.headers("live")
    )
    assert_error(refused, 400, {"webhook_url": "Plain http is for env_mode test only; use https"})
    test = subscribe(desk, merchant)["webhook_id"]
    assert change(desk, merchant, test, webhook_url="http://shop.example/").status_code == 200


def test_nobody_else_reads_or_changes_them(
    desk: Desk, merchant: Merchant, other_merchant: Merchant, assert_error: Check
) -> None:
    one = f"{SUBSCRIPTIONS}/{subscribe(desk, merchant)['webhook_id']}"
    event_id = desk.publish(merchant)
    for headers, status in ((other_merchant.headers(), 404), (merchant.headers("live"), 404), ({}, 401)):
        assert_error(desk.client.get(one, headers=headers), status)
        assert_error(desk.client.patch(one, json={"events": ["payment_failed"]}, headers=headers), status)
    for headers, status in ((other_merchant.headers(), 404), (merchant.headers("live"), 404), ({}, 401)):
        assert_error(desk.client.get(f"/api/v1/events/{event_id}", headers=headers), status)
    desk.client.delete(one, headers=merchant.headers())
    assert_error(desk.client.get(one, headers=merchant.headers()), 404)
    assert_error(change(desk, merchant, one.rpartition("/")[2]), 404)


def test_an_event_is_read_by_its_id(desk: Desk, merchant: Merchant, stall: Shop, assert_error: Check) -> None:
    webhook_id = subscribe(desk, merchant)["webhook_id"]
    stall.create()
    (sent,) = desk.work()
    answer = stall.get(f"/api/v1/events/{sent.event_id}").get_json()
    assert answer == {"id": sent.event_id, "event": sent.event}
    test = desk.client.post(f"{SUBSCRIPTIONS}/{webhook_id}/test", headers=merchant.headers()).get_json()
    assert stall.get(f"/api/v1/events/{test['data']['event_id']}").status_code == 200
    assert_error(stall.get("/api/v1/events/evt_nothing"), 404, {})


def test_events_are_listed_by_type_and_cursor(stall: Shop, assert_error: Check) -> None:
    for _ in range(3):
        stall.post(f"/api/v1/payment/{stall.create()}/cancel")
        stall.clock.advance(minutes=1)
    every = stall.get("/api/v1/events").get_json()["data"]
    failed = [row["id"] for row in every if row["event"]["type"] == "payment_failed"]
    assert len(failed) == 3
    first = stall.get("/api/v1/events?type=payment_failed&limit=2").get_json()
    assert ([row["id"] for row in first["data"]], first["has_more"]) == (failed[:2], True)
    rest = stall.get(f"/api/v1/events?type=payment_failed&cursor={first['next_cursor']}").get_json()
    assert ([row["id"] for row in rest["data"]], rest["has_more"]) == (failed[2:], False)
    late = stall.get(f"/api/v1/events?since=2026-03-01T12:01:00Z&cursor={failed[1]}").get_json()
    ids = [row["id"] for row in every]
    assert [row["id"] for row in late["data"]] == ids[ids.index(failed[1]) + 1 :]
    assert_error(stall.get("/api/v1/events?type=refund"), 400)
    unknown = "evt_" + "0" * 36
    gone = dict.fromkeys(("since", "cursor"), "There is no event with this id")
    assert_error(stall.get(f"/api/v1/events?cursor={unknown}&since={unknown}"), 400, gone)


def test_events_are_listed_by_order(stall: Shop, other_merchant: Merchant, assert_error: Check) -> None:
    one, other = stall.create(), stall.create()
    for order_id in (other, one):
        stall.post(f"/api/v1/payment/{order_id}/cancel")

    def list_types(query: str, **options: Any) -> list[str]:
        answer = stall.client.get(f"/api/v1/events?payment_order_id={query}", **options).get_json()
        return [row["event"]["type"] for row in answer["data"]]

    own = {"headers": stall.merchant.headers()}
    assert list_types(one, **own) == ["payment_processing", "payment_failed"]
    assert list_types(f"{one}&type=payment_failed", **own) == ["payment_failed"]
    page = stall.get(f"/api/v1/events?payment_order_id={one}&limit=1").get_json()
    assert page["has_more"]
    assert list_types(f"{one}&cursor={page['next_cursor']}", **own) == ["payment_failed"]
    assert list_types("po_unknown", **own) == []
    assert list_types(one, headers=stall.merchant.headers("live")) == []
    assert list_types(one, headers=other_merchant.headers()) == []
    refused = stall.get("/api/v1/events?payment_order_id=evt_1&limit=0")
    assert_error(refused, 400)
    assert {row["path"] for row in refused.get_json()["error"]} == {"payment_order_id", "limit"}


def test_a_page_of_events_that_is_empty_says_how_to_go_on(stall: Shop) -> None:
    stall.create()
    later = "2026-03-01T12:00:01Z"
    empty = stall.get(f"/api/v1/events?since={later}").get_json()
    assert (empty["data"], empty["next_cursor"]) == ([], later)
    stall.clock.advance(minutes=1)
    stall.create()
    for name in ("since", "cursor"):
        assert len(stall.get(f"/api/v1/events?{name}={empty['next_cursor']}").get_json()["data"]) == 1


@pytest.mark.parametrize("kind", list(EventType))
def test_a_test_event_can_be_of_every_type(desk: Desk, merchant: Merchant, kind: str) -> None:
    """Also of one that the subscription does not have: the receiver is tried before it subscribes."""
    webhook_id = subscribe(desk, merchant)["webhook_id"]
    answer = desk.client.post(f"{SUBSCRIPTIONS}/{webhook_id}/test", json={"type": kind}, headers=merchant.headers())
    assert answer.status_code == 200
    (sent,) = desk.work()
    assert sent.event["type"] == kind
    assert EventSchema().validate(sent.event) == {}
    assert set(sent.event["data"]) & {"refund", "transfer"} == DETAILS.get(kind, set())
