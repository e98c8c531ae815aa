"""The operator's commands for webhooks, beside the database and without a vendor's key."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

from click.testing import Result

from api.services.webhooks.outcomes import FAILING, disable
from api.storage.tables import WebhookSubscription
from tests.api.conftest import Merchant, Run
from tests.support.clock import SettableClock
from tests.support.webhooks import Desk

ADDRESS = "https://shop.example/hook/s3cret-path?token=s3cret"


def rows(result: Result) -> list[dict[str, object]]:
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_a_night_with_a_dead_receiver(
    run: Run, desk: Desk, merchant: Merchant, other_merchant: Merchant, clock: SettableClock
) -> None:
    webhook = desk.subscribe(merchant, url=ADDRESS)["webhook_id"]
    desk.subscribe(other_merchant)
    desk.publish(merchant)
    desk.transport.always(status=502, excerpt="s3cret stack trace")
    for seconds in (0, 60, 3600):  # in test mode three attempts
        clock.advance(seconds=seconds)
        desk.work()
    (listed,) = rows(run("webhooks", "list", "Tea & Co", "--env", "test", "--json"))
    assert (listed["webhook_id"], listed["host"], listed["state"]) == (webhook, "shop.example", "failing")
    assert listed["since"] == "2026-03-01T12:00:00.000Z"
    assert rows(run("webhooks", "list", "Tea & Co", "--env", "live", "--json")) == []
    (sent,) = rows(run("webhooks", "deliveries", webhook, "--json"))
    assert (sent["status"], sent["attempts"], sent["last_answer"], sent["next_attempt_at"]) == (
        "failed",
        3,
        "502",
        None,
    )
    assert rows(run("webhooks", "deliveries", webhook, "--status", "delivered", "--json")) == []
    shown = run("webhooks", "list", "Tea & Co", "--env", "test").stdout + run("webhooks", "deliveries", webhook).stdout
    assert "shop.example" in shown
    assert str(sent["delivery_id"]) in shown
    assert "s3cret" not in shown + json.dumps([listed, sent])
    desk.transport.always(status=200)
    assert run("webhooks", "redeliver", "--failed", webhook).stdout == "1 deliveries are on their way again.\n"
    assert run("webhooks", "redeliver", "--failed", webhook).stdout == "0 deliveries are on their way again.\n"
    clock.set(datetime.now(UTC) + timedelta(hours=1))  # commands go by the machine's clock
    (again,) = desk.work()
    assert again.url == ADDRESS
    (sent,) = rows(run("webhooks", "deliveries", webhook, "--json"))
    assert (sent["status"], sent["attempts"], sent["last_answer"]) == ("delivered", 1, "200")
    assert (
        run("webhooks", "redeliver", str(sent["delivery_id"])).stdout == f"{sent['delivery_id']} is on its way again.\n"
    )
    assert len(desk.work()) == 1


def test_what_waits_for_its_next_attempt_says_when(run: Run, desk: Desk, merchant: Merchant) -> None:
    webhook = desk.subscribe(merchant)["webhook_id"]
    desk.publish(merchant)
    desk.transport.always(status=None, error="connection refused")
    desk.work()
    (sent,) = rows(run("webhooks", "deliveries", webhook, "--status", "pending", "--json"))
    assert (sent["attempts"], sent["last_answer"]) == (1, "connection refused")
    assert str(sent["next_attempt_at"]) > "2026-03-01T12:00:0"


def test_what_can_not_be_sent_again_says_why(run: Run, desk: Desk, merchant: Merchant, clock: SettableClock) -> None:
    webhook = desk.subscribe(merchant)["webhook_id"]
    with desk.resources.database.write() as session:
        disable(session, session.get_one(WebhookSubscription, webhook), FAILING, clock.now())
    for words, said in (
        (("redeliver",), "Give either a delivery or --failed."),
        (("redeliver", "dlv_1", "--failed", webhook), "Give either a delivery or --failed."),
        (("redeliver", "dlv_1"), "There is no delivery 'dlv_1'"),
        (("redeliver", "--failed", "ep_1"), "There is no webhook 'ep_1'"),
        (("redeliver", "--failed", webhook), "This webhook is disabled because nothing could be delivered"),
        (("deliveries", "ep_1"), "There is no webhook 'ep_1'"),
        (("list", "Nobody", "--env", "test"), "There is no vendor 'Nobody'"),
    ):
        result = run("webhooks", *words)
        assert result.exit_code != 0
        assert said in result.output
    (listed,) = rows(run("webhooks", "list", merchant.id, "--env", "test", "--json"))
    assert listed["state"] == "disabled: failing_for_5_days"
