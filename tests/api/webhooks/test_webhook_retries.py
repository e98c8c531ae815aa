"""When a delivery is tried again, and when no more: on both databases, with a clock that the test sets."""

from __future__ import annotations

from datetime import timedelta

import pytest
from standardwebhooks import WebhookVerificationError

from api.net.client import HttpReply
from tests.api.conftest import START, Merchant
from tests.support.clock import SettableClock
from tests.support.webhooks import HOOK, SUBSCRIPTIONS, Desk, Sent, verify

LIVE_DELAYS = (5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400)


@pytest.mark.rule("deliveries.5")
def test_retries_follow_the_schedule_and_then_end(desk: Desk, merchant: Merchant, clock: SettableClock) -> None:
    webhook_id = desk.subscribe(merchant, "live")["webhook_id"]
    event_id = desk.publish(merchant, "live")
    desk.transport.always(status=500, excerpt="down")
    assert len(desk.work()) == 1
    for number, seconds in enumerate(LIVE_DELAYS):
        due = desk.delivery(event_id).next_attempt_at
        assert due is not None
        assert 0.9 * seconds <= (due - clock.now()).total_seconds() <= 1.1 * seconds, number
        clock.set(due - timedelta(milliseconds=1))
        assert desk.work() == []
        clock.set(due)
        assert [sent.event_id for sent in desk.work()] == [event_id]
    assert desk.delivery(event_id).status == "failed"
    clock.advance(days=30)
    assert desk.work() == []
    (entry,) = desk.log(merchant, webhook_id, "live")
    assert entry["status"] == "failed"
    assert [row["attempt"] for row in entry["attempts"]] == list(range(1, 11))
    assert {(row["response_status"], row["response_excerpt"]) for row in entry["attempts"]} == {(500, "down")}


@pytest.mark.rule("deliveries.6")
def test_delays_are_spread(desk: Desk, merchant: Merchant) -> None:
    desk.subscribe(merchant)
    events = [desk.publish(merchant) for _ in range(5)]
    desk.transport.always(status=500)
    desk.work()
    assert len({desk.delivery(event_id).next_attempt_at for event_id in events}) > 1


@pytest.mark.rule("deliveries.14")
def test_in_test_mode_three_tries_are_made(desk: Desk, merchant: Merchant, clock: SettableClock) -> None:
    desk.subscribe(merchant)
    event_id = desk.publish(merchant)
    desk.transport.always(status=None, error="The connection was not accepted")
    tries = 0
    for _ in range(6):
        tries += len(desk.work())
        clock.advance(hours=1)
    assert tries == 3
    assert desk.delivery(event_id).status == "failed"


@pytest.mark.rule("deliveries.8")
@pytest.mark.parametrize("status", [199, 301, 302, 304, 400, 404, 429, 500, 503])
def test_what_is_not_a_2xx_is_tried_again(desk: Desk, merchant: Merchant, clock: SettableClock, status: int) -> None:
    desk.subscribe(merchant)
    event_id = desk.publish(merchant)
    desk.transport.always(status=status)
    desk.work()
    assert desk.delivery(event_id).status == "pending"
    desk.transport.always(status=204)
    clock.advance(seconds=6)
    assert [sent.event_id for sent in desk.work()] == [event_id]
    assert desk.delivery(event_id).status == "delivered"


@pytest.mark.rule("deliveries.4")
def test_the_signature_is_fresh_at_each_try_and_the_id_stays(
    desk: Desk, merchant: Merchant, clock: SettableClock
) -> None:
    secret = desk.subscribe(merchant)["secret"]
    desk.publish(merchant)
    desk.transport.always(status=500)
    (first,) = desk.work()
    clock.advance(hours=1)
    (second,) = desk.work()
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    assert first.headers["webhook-timestamp"] != second.headers["webhook-timestamp"]
    assert verify(secret, second) == {"event": second.event}
    with pytest.raises(WebhookVerificationError, match="too old"):
        verify(secret, first)


@pytest.mark.rule("deliveries.10")
@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("120", 120),
        ("Sun, 01 Mar 2026 13:00:00 GMT", 3_600),
        ("999999999", 86_400),
        ("Fri, 01 Jan 2100 00:00:00 GMT", 86_400),
    ],
)
def test_retry_after_is_honoured(desk: Desk, merchant: Merchant, header: str, seconds: int) -> None:
    desk.subscribe(merchant)
    event_id = desk.publish(merchant)
    desk.transport.always(status=429, retry_after=header)
    desk.work()
    assert desk.delivery(event_id).next_attempt_at == START + timedelta(seconds=seconds)


@pytest.mark.parametrize("header", ["", "-5", "soon", "1", "٣", "Sat, 28 Feb 2026 00:00:00 GMT", "1e9", "0" * 400])
def test_a_retry_after_without_sense_leaves_the_schedule(desk: Desk, merchant: Merchant, header: str) -> None:
    desk.subscribe(merchant)
    event_id = desk.publish(merchant)
    desk.transport.always(status=429, retry_after=header)
    desk.work()
    due = desk.delivery(event_id).next_attempt_at
    assert due is not None
    assert timedelta(seconds=4.5) <= due - START <= timedelta(seconds=5.5)


def test_what_the_address_before_answers_ends_nothing_of_the_new_one(desk: Desk, merchant: Merchant) -> None:
    webhook_id = desk.subscribe(merchant, url="https://old.example/hook")["webhook_id"]
    event_id = desk.publish(merchant)

    def move(sent: Sent) -> HttpReply:
        if sent.url == HOOK:
            return HttpReply(status=200)
        body, path = {"webhook_url": HOOK}, f"{SUBSCRIPTIONS}/{webhook_id}"
        assert desk.client.patch(path, json=body, headers=merchant.headers()).status_code == 200
        return HttpReply(status=410)

    desk.transport.answer = move
    assert [sent.url for sent in desk.work()] == ["https://old.example/hook"]
    subscription = desk.subscription(webhook_id)
    assert (subscription.disabled_at, subscription.failing_since) == (None, None)
    assert [sent.url for sent in desk.work()] == [HOOK]
    assert desk.delivery(event_id).status == "delivered"


@pytest.mark.rule("deliveries.9", "deliveries.13")
def test_410_disables_the_subscription_and_gives_up_what_waits(desk: Desk, merchant: Merchant) -> None:
    webhook_id = desk.subscribe(merchant)["webhook_id"]
    desk.transport.always(status=500)
    waiting = desk.publish(merchant)
    desk.work()
    gone = desk.publish(merchant)
    desk.transport.always(status=410)
    desk.work()
    assert desk.delivery(gone).status == "failed"
    assert desk.delivery(waiting).status == "cancelled"
    listed = desk.client.get(SUBSCRIPTIONS, headers=merchant.headers()).get_json()["data"]
    assert [(row["status"], row["disabled_reason"]) for row in listed] == [("disabled", "gone")]
    desk.publish(merchant)
    assert desk.work() == []
    assert len(desk.log(merchant, webhook_id)) == 2


@pytest.mark.rule("deliveries.12", "deliveries.13")
def test_five_days_of_failure_disable_the_subscription(desk: Desk, merchant: Merchant, clock: SettableClock) -> None:
    webhook_id = desk.subscribe(merchant, "live")["webhook_id"]
    desk.transport.always(status=500)
    for _ in range(10):
        desk.publish(merchant, "live")
        desk.work()
        assert desk.subscription(webhook_id).disabled_at is None
        clock.advance(hours=11.9)
    clock.advance(hours=1)
    desk.publish(merchant, "live")
    desk.work()
    disabled = desk.subscription(webhook_id)
    assert (disabled.disabled_at, disabled.disabled_reason) == (clock.now(), "failing_for_5_days")
    assert len(desk.log(merchant, webhook_id, "live")) == 11
    assert {entry["status"] for entry in desk.log(merchant, webhook_id, "live")} <= {"failed", "cancelled"}


@pytest.mark.rule("deliveries.12")
def test_one_success_starts_the_five_days_anew(desk: Desk, merchant: Merchant, clock: SettableClock) -> None:
    webhook_id = desk.subscribe(merchant, "live")["webhook_id"]
    for day in range(12):
        desk.transport.always(status=200 if day == 4 else 500)
        desk.publish(merchant, "live")
        desk.work()
        clock.advance(hours=12)
    assert desk.subscription(webhook_id).disabled_at is None


@pytest.mark.rule("webhooks.12", "deliveries.16")
def test_after_a_rotation_both_secrets_verify_for_a_day(desk: Desk, merchant: Merchant, clock: SettableClock) -> None:
    made = desk.subscribe(merchant)
    path = f"{SUBSCRIPTIONS}/{made['webhook_id']}/rotate_secret"
    new = desk.client.post(path, headers=merchant.headers()).get_json()["data"]["secret"]
    assert new != made["secret"]
    clock.advance(hours=23, minutes=59)
    desk.publish(merchant)
    (sent,) = desk.work()
    assert verify(made["secret"], sent) == verify(new, sent)
    clock.advance(minutes=1)
    desk.publish(merchant)
    (sent,) = desk.work()
    verify(new, sent)
    with pytest.raises(WebhookVerificationError):
        verify(made["secret"], sent)


@pytest.mark.rule("deliveries.11")
def test_retry_after_of_an_outage_is_honoured(desk: Desk, merchant: Merchant) -> None:
    desk.subscribe(merchant)
    event_id = desk.publish(merchant)
    desk.transport.always(status=503, retry_after="120")
    desk.work()
    assert desk.delivery(event_id).next_attempt_at == START + timedelta(seconds=120)
