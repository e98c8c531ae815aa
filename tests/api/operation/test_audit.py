"""What operators and merchants change is written down with the change: by whom, when, from what to what, no secret."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import select

from api.cli.audit import ACTIONS
from api.cli.commands import main
from api.domain.audit import AuditAction
from api.domain.clock import format_time
from api.domain.env import EnvMode
from api.services import audit
from api.services.settlement.watching import rescans
from api.services.vendors.key_management import list_keys
from api.storage.tables import AuditEntry
from tests.api.conftest import Merchant, Run
from tests.support.refunds import paid, refund
from tests.support.shop import Shop
from tests.support.simulated_payments import send
from tests.support.webhooks import SUBSCRIPTIONS

ADDRESS = "0x" + "ab" * 20


@pytest.fixture
def run(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> Run:
    config = shop.resources.config
    monkeypatch.setenv("DATABASE_URL", config.database_url)
    monkeypatch.setenv("DATA_DIR", str(config.data_dir))
    monkeypatch.setenv("SECRET_KEYS", config.secret_keys[0] if config.secret_keys else "")

    def invoke(*words: str) -> Result:
        done = CliRunner().invoke(main, words)
        assert done.exit_code == 0, done.output
        return done

    return invoke


def list_all(run: Run, *options: str) -> list[dict[str, Any]]:
    """Return the entries, oldest first."""
    lines = run("audit", "list", "--limit", "1000", "--json", *options).stdout.splitlines()
    return [json.loads(line) for line in reversed(lines)]


def key_id(shop: Shop, env_mode: EnvMode = EnvMode.TEST) -> str:
    with shop.resources.database.read() as session:
        return list_keys(session, shop.merchant.id, env_mode)[0].id


def test_the_operators_changes_are_listed_with_what_was_before(shop: Shop, run: Run) -> None:
    name = "Coffee & Co"
    made = json.loads(run("vendors", "create", name, "--json").stdout)
    account = ("settlement", "set", name, "--env", "live", "--currency", "USDC", "--chain", "1", "--token", "USDC")
    for address in (ADDRESS, ADDRESS, "0x" + "cd" * 20):  # the second changes nothing
        run(*account, "--address", address)
    run("settlement", "remove", name, "--env", "live", "--currency", "USDC")
    books = json.loads(
        run("keys", "create", name, "--env", "test", "--name", "books", "--scope", "read", "--json").stdout
    )
    rotated = json.loads(
        run("keys", "rotate", name, "--env", "test", "--revoke-all", "--name", "books", "--json").stdout
    )
    for _ in range(2):
        run("keys", "revoke", name, rotated["key_id"])
    run("vendors", "brand", name, "--env", "test", "--accent", "#3346d3")

    rows = list_all(run, "--vendor", name)
    assert [row["action"] for row in rows] == [
        "vendor_created",
        "key_created",
        "key_created",
        "settlement_set",
        "settlement_set",
        "settlement_removed",
        "key_created",
        "key_rotated",
        "key_revoked",
        "brand_changed",
    ]
    assert {row["actor"] for row in rows} == {audit.name_operator()}
    assert {row["vendor_id"] for row in rows} == {made["vendor_id"]}
    first, second, removed = rows[3:6]
    assert (first["before"], first["after"]["address"], first["env_mode"]) == ({}, ADDRESS, "live")
    assert (second["before"]["address"], second["after"]["address"]) == (ADDRESS, "0x" + "cd" * 20)
    assert (removed["before"], removed["after"]) == (second["after"], {})
    assert (rows[6]["subject"], rows[6]["after"]["scopes"]) == (books["key_id"], "read")
    assert (rows[7]["subject"], rows[7]["after"]["revoked"]) == (rotated["key_id"], [books["key_id"]])
    assert (rows[8]["subject"], rows[8]["before"]["name"]) == (rotated["key_id"], "books")
    assert (rows[9]["before"], rows[9]["after"]) == ({"accent_color": ""}, {"accent_color": "#3346d3"})
    text = json.dumps(rows)
    for secret in (made["test_key"], made["live_key"], books["key"], rotated["key"]):
        assert secret[:-4] not in text


def test_what_a_merchant_does_is_by_its_key(shop: Shop, run: Run) -> None:
    url = "https://shop.example/hook/s3cret"
    body = {"webhook_url": url, "env_mode": "test"}
    hook = shop.post(SUBSCRIPTIONS, body, Idempotency_Key="once").get_json()["data"]
    assert shop.post(SUBSCRIPTIONS, body, Idempotency_Key="once").get_json()["data"] == hook
    one = f"{SUBSCRIPTIONS}/{hook['webhook_id']}"
    renewed = shop.post(f"{one}/rotate_secret").get_json()["data"]["secret"]
    headers = shop.merchant.headers()
    for change in ({"events": ["payment_success"]}, {"events": ["payment_success"]}, {"webhook_url": f"{url}2"}):
        assert shop.client.patch(one, json=change, headers=headers).status_code == 200
    assert shop.client.delete(one, headers=headers).status_code == 200
    look = shop.client.patch("/api/v1/branding", json={"display_name": "Tea"}, headers=headers)
    assert look.status_code == 200
    order_id = paid(shop)
    asked = refund(shop, order_id).get_json()["refunds"][0]
    assert refund(shop, order_id).get_json()["refunds"][0] == asked, "a repetition, which is no change"
    cancelled = shop.post(f"/api/v1/payment/{order_id}/cancel_refund", {"refund": asked["id"]})
    assert cancelled.status_code == 200
    for metadata in ({"ship_to": "s3cret lane"}, {"ship_to": "s3cret lane"}):
        changed = shop.client.patch(f"/api/v1/payment/{order_id}", json={"metadata": metadata}, headers=headers)
        assert changed.status_code == 200

    rows = list_all(run, "--vendor", shop.merchant.vendor.name)
    assert {row["actor"] for row in rows} == {key_id(shop)}
    assert [row["action"] for row in rows] == [
        "webhook_created",
        "webhook_secret_rotated",
        "webhook_changed",
        "webhook_changed",
        "webhook_deleted",
        "brand_changed",
        "refund_requested",
        "refund_cancelled",
        "metadata_changed",
    ]
    moved = rows[3]
    assert moved["before"]["host"] == moved["after"]["host"] == "shop.example"
    assert moved["before"]["url_sha256"] != moved["after"]["url_sha256"]
    assert rows[6]["subject"] == rows[7]["subject"] == asked["id"]
    assert (rows[6]["after"]["order_id"], rows[6]["after"]["amount"]) == (order_id, asked["amount"])
    assert (rows[8]["subject"], rows[8]["after"]["names"]) == (order_id, ["ship_to"])
    assert rows[8]["before"]["sha256"] != rows[8]["after"]["sha256"]
    text = json.dumps(rows)
    for secret in (hook["secret"], renewed, "s3cret"):
        assert secret not in text


def test_an_enabled_webhook_and_an_assignment_are_by_the_key_too(shop: Shop, run: Run) -> None:
    from api.storage.tables import WebhookSubscription

    hook = shop.post(SUBSCRIPTIONS, {"webhook_url": "https://shop.example/hook", "env_mode": "test"}).get_json()["data"]
    with shop.resources.database.write() as session:
        row = session.get_one(WebhookSubscription, hook["webhook_id"])
        row.disabled_at, row.disabled_reason = shop.clock.now(), "gone"
    for _ in range(2):
        assert shop.post(f"{SUBSCRIPTIONS}/{hook['webhook_id']}/enable").status_code == 200
    order_id = shop.create()
    send(shop, order_id, 10**6, reference=None)
    shop.wait(5)
    (payment,) = shop.payments()
    assign = f"/api/v1/unmatched_transfer/{payment.public_id}/assign"
    assert shop.post(assign, {"payment_order_id": order_id}).status_code == 200
    assert shop.post(assign, {"payment_order_id": order_id}).status_code == 409
    created, enabled, assigned = list_all(run)
    assert {row["actor"] for row in (created, enabled, assigned)} == {key_id(shop)}
    assert (enabled["action"], enabled["before"]) == ("webhook_enabled", {"disabled_reason": "gone"})
    assert (assigned["action"], assigned["subject"]) == ("payment_assigned", payment.public_id)
    assert (assigned["before"]["claimed_order_id"], assigned["after"]) == (None, {"order_id": order_id})


def test_rescans_and_the_keys_of_secrets_are_the_whole_services(shop: Shop, run: Run) -> None:
    order_id = shop.create()
    tx_hash = send(shop, order_id, 10**6)
    shop.wait(3)
    rescans.rescan_transaction(shop.resources, EnvMode.TEST, 8453, tx_hash)
    run("secrets", "rotate")
    run("secrets", "reset", "--yes")
    rescanned, rotated, reset = list_all(run)
    assert (rescanned["action"], rescanned["subject"]) == ("blocks_rescanned", "chain 8453")
    assert rescanned["after"]["transaction_hash"] == tx_hash
    assert (rotated["action"], reset["action"]) == ("secrets_rotated", "secrets_reset")
    assert {row["vendor_id"] for row in (rescanned, rotated, reset)} == {None}


def test_a_change_that_is_undone_leaves_no_entry(shop: Shop, merchant: Merchant) -> None:
    from api.services.vendors.vendors import remove_account

    database, now = shop.resources.database, shop.clock.now()

    def remove_and_break() -> None:
        with database.write() as session:
            remove_account(session, merchant.id, EnvMode.TEST, "USDC", now)
            assert session.scalar(select(AuditEntry.action)) == "settlement_removed"
            raise RuntimeError

    with pytest.raises(RuntimeError):
        remove_and_break()
    with database.read() as session:
        assert session.scalars(select(AuditEntry)).all() == []


def test_entries_are_filtered_and_shown_for_people(shop: Shop, run: Run) -> None:
    headers = shop.merchant.headers()
    shop.client.patch("/api/v1/branding", json={"display_name": "Tea"}, headers=headers)
    shop.clock.advance(seconds=timedelta(days=1).total_seconds())
    noon = format_time(shop.clock.now()).replace(".000", "")
    shop.client.patch("/api/v1/branding", json={"display_name": "Tea"}, headers=headers)
    shop.client.patch("/api/v1/branding", json={"display_name": "Green tea"}, headers=headers)
    shop.post(SUBSCRIPTIONS, {"webhook_url": "https://shop.example/hook", "env_mode": "test"})
    assert len(list_all(run)) == 3
    assert [row["after"] for row in list_all(run, "--since", noon, "--action", "brand_changed")] == [
        {"display_name": "Green tea"}
    ]
    assert len(list_all(run, "--action", "brand_changed", "--action", "webhook_created")) == 3
    assert list_all(run, "--since", "2030-01-01") == []
    shown = run("audit", "list", "--action", "brand_changed", "--limit", "1")
    header, line = shown.stdout.splitlines()
    assert line.index("display_name: Tea → Green tea") == header.index("change")
    assert "There are older ones" in shown.stderr


def test_the_command_knows_every_action() -> None:
    assert list(ACTIONS.choices) == list(AuditAction)


def test_who_logged_in_is_told_beside_the_account(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setattr(audit.os, "getuid", lambda: 4_000_000_001)
    monkeypatch.setattr(audit, "LOGIN_UID", tmp_path / "loginuid")
    monkeypatch.setenv("SUDO_USER", "mallory")
    assert audit.name_operator.__wrapped__() == "os:4000000001"
    (tmp_path / "loginuid").write_text(str(audit.NOBODY))
    assert audit.name_operator.__wrapped__() == "os:4000000001"
    (tmp_path / "loginuid").write_text("0")
    assert audit.name_operator.__wrapped__() == "os:4000000001 login:root"
    monkeypatch.setattr(audit.os, "getuid", lambda: 0)
    assert audit.name_operator.__wrapped__() == "os:root"
