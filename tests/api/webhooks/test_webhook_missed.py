"""What a webhook missed while it was disabled is found and sent, once, in pages, whatever crashes."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from sqlalchemy import select

from api.domain.clock import format_time
from api.services.webhooks import missed
from api.storage.tables import WebhookDelivery
from tests.api.conftest import START, Merchant
from tests.support.shop import LINK
from tests.support.webhooks import SUBSCRIPTIONS, Desk

Check = Callable[..., None]


def order(desk: Desk, merchant: Merchant, number: int) -> str:
    """Make an order, whose event says `number`, and return its id."""
    body = {**LINK, "metadata": {"number": number}}
    answer = desk.client.post("/api/v1/payment_link", json=body, headers=merchant.headers())
    return str(answer.get_json()["payment_order_id"])


def post(desk: Desk, merchant: Merchant, path: str, **body: object) -> tuple[int, dict]:
    answer = desk.client.post(f"{SUBSCRIPTIONS}/{path}", json=body, headers=merchant.headers())
    return answer.status_code, answer.get_json()


@pytest.fixture
def lapsed(desk: Desk, merchant: Merchant) -> str:
    """A webhook that got event 0, refused 1 with 410 while 2 waited, and missed 3 and 4."""
    webhook_id = desk.subscribe(merchant)["webhook_id"]
    clock = desk.resources.clock
    order(desk, merchant, 0)
    desk.work()
    clock.advance(seconds=60)
    order(desk, merchant, 1)
    clock.advance(seconds=1)
    desk.transport.always(status=410)
    desk.work()
    for number in (2, 3):
        order(desk, merchant, number)
        clock.advance(seconds=60)
    assert desk.work() == []
    desk.transport.always(status=200)
    return str(webhook_id)


def numbers(sent: list) -> list[int]:
    return sorted(each.event["data"]["metadata"]["number"] for each in sent)


def test_enabling_says_since_when_events_were_missed_and_they_can_be_had(
    desk: Desk, merchant: Merchant, lapsed: str
) -> None:
    status, enabled = post(desk, merchant, f"{lapsed}/enable")
    assert (status, enabled["missed_since"]) == (200, format_time(START + timedelta(seconds=60)))
    assert desk.work() == []
    first = post(desk, merchant, f"{lapsed}/redeliver_missed", since=enabled["missed_since"])[1]
    assert (len(first["data"]["event_ids"]), first["data"]["has_more"]) == (3, False)
    assert numbers(desk.work()) == [1, 2, 3]
    again = post(desk, merchant, f"{lapsed}/redeliver_missed", since=enabled["missed_since"])[1]
    assert again["data"] == {"event_ids": [], "next_cursor": enabled["missed_since"], "has_more": False}
    assert desk.work() == []
    assert post(desk, merchant, f"{lapsed}/enable")[1]["missed_since"] is None


def test_what_is_sent_again_has_its_first_id_and_can_be_verified(desk: Desk, merchant: Merchant, lapsed: str) -> None:
    post(desk, merchant, f"{lapsed}/enable")
    sent = post(desk, merchant, f"{lapsed}/redeliver_missed", since=format_time(START))[1]["data"]["event_ids"]
    listed = desk.client.get("/api/v1/events", headers=merchant.headers()).get_json()["data"]
    assert sent == [row["id"] for row in listed][1:]
    assert sorted(each.event_id for each in desk.work()) == sorted(sent)
    assert {row["status"] for row in desk.log(merchant, lapsed)} == {"delivered"}


def test_pages_follow_each_other(desk: Desk, merchant: Merchant, lapsed: str) -> None:
    since: str = post(desk, merchant, f"{lapsed}/enable")[1]["missed_since"]
    pages = []
    for _ in range(3):
        page = post(desk, merchant, f"{lapsed}/redeliver_missed", since=since, limit=1)[1]["data"]
        since = page["next_cursor"]
        pages.append((len(page["event_ids"]), page["has_more"]))
    assert pages == [(1, True), (1, True), (1, False)]
    assert numbers(desk.work()) == [1, 2, 3]


def test_what_is_on_its_way_is_not_sent_twice(desk: Desk, merchant: Merchant, lapsed: str) -> None:
    post(desk, merchant, f"{lapsed}/enable")

    def ask(_: int) -> int:
        headers, body = merchant.headers(), {"since": format_time(START)}
        other = desk.client.application.test_client()
        answer = other.post(f"{SUBSCRIPTIONS}/{lapsed}/redeliver_missed", json=body, headers=headers)
        return len(answer.get_json()["data"]["event_ids"])

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(ask, range(4))) == [0, 0, 0, 3]
    assert numbers(desk.work()) == [1, 2, 3]


def test_a_crash_half_way_sends_nothing_and_loses_nothing(
    desk: Desk, merchant: Merchant, lapsed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    post(desk, merchant, f"{lapsed}/enable")
    put_back, calls = missed._put_back, []

    def crash(*args: object) -> None:
        calls.append(args)
        if len(calls) == 2:
            raise KeyboardInterrupt
        put_back(*args)  # type: ignore[arg-type]

    with monkeypatch.context() as broken:
        broken.setattr(missed, "_put_back", crash)
        with pytest.raises(KeyboardInterrupt):
            post(desk, merchant, f"{lapsed}/redeliver_missed", since=format_time(START))
    assert desk.work() == []
    post(desk, merchant, f"{lapsed}/redeliver_missed", since=format_time(START))
    assert numbers(desk.work()) == [1, 2, 3]


def test_a_disabled_webhook_is_told_to_be_enabled_first(
    desk: Desk, merchant: Merchant, lapsed: str, assert_error: Check
) -> None:
    status, refused = post(desk, merchant, f"{lapsed}/redeliver_missed", since=format_time(START))
    assert status == 409
    assert "/enable" in refused["message"]
    with desk.resources.database.read() as session:
        assert len(session.scalars(select(WebhookDelivery)).all()) == 2


@pytest.mark.parametrize("since", ["2026-03-01T12:00:00", "yesterday", "", "evt_" + "0" * 36, 7, None])
def test_a_bad_since_is_named(desk: Desk, merchant: Merchant, assert_error: Check, since: object) -> None:
    webhook_id = desk.subscribe(merchant)["webhook_id"]
    status, refused = post(desk, merchant, f"{webhook_id}/redeliver_missed", since=since)
    assert (status, [row["path"] for row in refused["error"]]) == (400, ["since"])


@pytest.mark.parametrize("since", ["2026-03-01T12:00:00", "2026-03-01", "20260301T120000"])
def test_events_are_not_listed_since_somebodys_noon(
    desk: Desk, merchant: Merchant, assert_error: Check, since: str
) -> None:
    answer = desk.client.get(f"/api/v1/events?since={since}", headers=merchant.headers())
    message = "Expected the id of an event, or a moment with a time zone such as 2026-03-01T12:00:00Z"
    assert_error(answer, 400, {"since": message})


def test_another_vendors_events_are_not_sent(
    desk: Desk, merchant: Merchant, other_merchant: Merchant, lapsed: str
) -> None:
    theirs = desk.subscribe(other_merchant)["webhook_id"]
    answer = post(desk, other_merchant, f"{theirs}/redeliver_missed", since=format_time(START))[1]
    assert answer["data"]["event_ids"] == []
    assert post(desk, other_merchant, f"{lapsed}/redeliver_missed", since=format_time(START))[0] == 404


def test_what_failed_and_would_be_tried_later_goes_out_at_once(desk: Desk, merchant: Merchant) -> None:
    """A shop that was away for a while was told that it had missed nothing, and waited for the next try."""
    webhook_id = desk.subscribe(merchant)["webhook_id"]
    order(desk, merchant, 0)
    desk.transport.always(status=500)
    desk.work()
    order(desk, merchant, 1)  # nobody has tried this one yet, so it is on its way
    desk.transport.always(status=200)
    answer = post(desk, merchant, f"{webhook_id}/redeliver_missed", since=format_time(START))[1]
    assert len(answer["data"]["event_ids"]) == 1
    assert (
        post(desk, merchant, f"{webhook_id}/redeliver_missed", since=format_time(START))[1]["data"]["event_ids"] == []
    )
    assert numbers(desk.work()) == [0, 1]
    assert desk.work() == []
