"""Names, ends and uses of API keys, and what the operator does with them."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select

from api.context import replace_database
from api.domain.env import EnvMode
from api.domain.errors import Conflict, InvalidData
from api.domain.scopes import Scope, parse_scopes
from api.services.resources import Resources
from api.services.vendors.key_management import MAX_NAMES, create_key, rotate_key
from api.services.vendors.key_uses import EVERY
from api.storage.db import Database
from api.storage.tables import ApiKeyRow
from tests.api.conftest import Merchant, Run
from tests.support.clock import SettableClock

OWN = "/api/v1/api_key"


def make(run: Run, *words: str) -> dict[str, str]:
    result = run("keys", *words, "--json")
    assert result.exit_code == 0, result.output
    made: dict[str, str] = json.loads(result.stdout)
    return made


def list_all(run: Run, *words: str) -> list[dict[str, str]]:
    return [json.loads(line) for line in run("keys", "list", "Tea & Co", "--json", *words).stdout.splitlines()]


def ask(client: FlaskClient, text: str, path: str = OWN) -> Any:
    return client.get(path, headers={"X-Api-Key": text})


def settle_uses() -> None:
    """Wait until every use that was noted is written."""
    for thread in threading.enumerate():
        if thread.name == "key-uses":
            thread.join()


def read_last_use(resources: Resources, text: str) -> Any:
    settle_uses()
    with resources.database.read() as session:
        return session.scalar(select(ApiKeyRow.last_used_at).where(ApiKeyRow.last4 == text[-4:]))


@pytest.mark.rule("keys.10")
def test_a_key_sees_itself_and_no_secret(client: FlaskClient, run: Run, merchant: Merchant) -> None:
    words = ("--env", "live", "--name", "books", "--scope", "read", "--expires-in", "90d")
    made = make(run, "create", "Tea & Co", *words)
    answer = ask(client, made["key"])
    shown = answer.get_json()
    assert datetime.fromisoformat(shown["expires_at"]) - datetime.fromisoformat(shown["created_at"]) == timedelta(90)
    assert shown == {
        "key_id": made["key_id"],
        "name": "books",
        "vendor_id": merchant.id,
        "vendor_name": "Tea & Co",
        "env_mode": "live",
        "scopes": ["read"],
        "last4": made["key"][-4:],
        "created_at": made["created_at"],
        "expires_at": made["expires_at"],
        "last_used_at": shown["last_used_at"],
    }
    assert made["key"] not in answer.get_data(as_text=True)
    assert "key_hash" not in answer.get_data(as_text=True)


def test_first_keys_have_every_scope_and_no_end(client: FlaskClient, merchant: Merchant) -> None:
    for env_mode in EnvMode:
        shown = client.get(OWN, headers=merchant.headers(env_mode)).get_json()
        assert shown["scopes"] == [str(scope) for scope in Scope]
        assert (shown["name"], shown["expires_at"]) == ("default", None)


@pytest.mark.rule("keys.10")
def test_keys_are_listed_and_their_texts_are_not(run: Run, merchant: Merchant) -> None:
    made = make(run, "create", "Tea & Co", "--env", "test", "--name", "shop", "--scope", "orders", "--scope", "read")
    rows = list_all(run, "--env", "test")
    assert [(row["name"], row["scopes"], row["state"]) for row in rows] == [
        ("default", "read orders refunds webhooks", "live"),
        ("shop", "read orders", "live"),
    ]
    shown = run("keys", "list", merchant.id).output
    assert "sk_test_…" + made["key"][-4:] in shown
    assert made["key"] not in shown
    table = shown.splitlines()
    assert len(table) == 4
    column = table[0].index("scopes")
    assert [line[column:].startswith("read") for line in table[1:]] == [True, True, True]


def test_a_revoked_key_stops_at_once_in_every_process(
    run: Run, resources: Resources, make_app: Callable[..., Flask], merchant: Merchant
) -> None:
    other = replace_database(resources, Database(resources.config.database_url))
    from api.app import build_app

    clients = [make_app().test_client(), build_app(other).test_client()]
    first, second = make(run, "create", "Tea & Co", "--env", "test", "--name", "a"), merchant.vendor.keys[EnvMode.TEST]
    assert [ask(client, first["key"]).status_code for client in clients] == [200, 200]
    assert run("keys", "revoke", "Rival", first["key_id"]).exit_code == 1
    assert "is revoked since" in run("keys", "revoke", "Tea & Co", first["key_id"]).output
    answers = [ask(client, first["key"]) for client in clients]
    assert [answer.status_code for answer in answers] == [401, 401]
    assert answers[0].get_json()["error"] == [{"path": "X-Api-Key", "message": "Unknown or revoked key"}]
    assert [ask(client, second).status_code for client in clients] == [200, 200]
    assert {row["key_id"]: row["state"] for row in list_all(run, "--all")}[first["key_id"]] == "revoked"
    assert first["key_id"] not in {row["key_id"] for row in list_all(run)}
    settle_uses()
    other.database.close()


def test_no_vendor_revokes_anothers_key(run: Run, merchant: Merchant, other_merchant: Merchant) -> None:
    (key_id,) = [row["key_id"] for row in list_all(run, "--env", "live")]
    refused = run("keys", "revoke", "Rival Ltd", key_id)
    assert refused.exit_code == 1
    assert "The vendor has no key" in refused.output
    assert len(list_all(run, "--env", "live")) == 1


def test_a_key_ends_to_the_moment_and_says_when(
    run: Run, client: FlaskClient, clock: SettableClock, merchant: Merchant
) -> None:
    text = make(run, "create", "Tea & Co", "--env", "test", "--name", "audit")["key"]
    short = make_ending(client, merchant, clock)
    clock.advance(seconds=3599)
    assert [ask(client, each).status_code for each in (text, short)] == [200, 200]
    clock.advance(seconds=1)
    refused = ask(client, short)
    assert refused.status_code == 401
    assert refused.get_json()["error"][0]["message"] == (
        "This key expired at 2026-03-01T13:00:00.000Z; the operator makes the next one with `checkout keys rotate`"
    )
    assert ask(client, short, "/v1/tokens").status_code == 401
    assert ask(client, text).status_code == 200


def make_ending(client: FlaskClient, merchant: Merchant, clock: SettableClock) -> str:
    from api.context import get_resources_of

    resources = get_resources_of(client.application)
    with resources.database.write() as session:
        owner = merchant.id, EnvMode.TEST
        return create_key(session, owner, clock.now(), name="short", lifetime=timedelta(hours=1)).text


@pytest.mark.rule("keys.12")
def test_a_name_has_two_keys_while_it_is_rotated(run: Run, client: FlaskClient, merchant: Merchant) -> None:
    words = ("Tea & Co", "--env", "test", "--name", "books")
    first = make(run, "create", *words, "--scope", "read", "--expires-in", "12h")
    second = make(run, "rotate", *words)
    assert [ask(client, each["key"]).status_code for each in (first, second)] == [200, 200]
    shown = ask(client, second["key"]).get_json()
    assert (shown["scopes"], shown["name"]) == (["read"], "books")
    assert shown["expires_at"] is not None, "the lifetime stays"
    third = make(run, "rotate", *words)
    assert [ask(client, each["key"]).status_code for each in (first, second, third)] == [401, 200, 200]
    fourth = make(run, "rotate", *words, "--revoke-all")
    assert [ask(client, each["key"]).status_code for each in (second, third, fourth)] == [401, 401, 200]
    assert ask(client, merchant.vendor.keys[EnvMode.TEST]).status_code == 200, "another name's key is left alone"
    unknown = run("keys", "rotate", "Tea & Co", "--env", "test", "--name", "nobody")
    assert "There is no key named 'nobody' in test mode" in unknown.output


def test_a_leak_is_not_ended_while_keys_of_other_names_are_left_out(
    run: Run, client: FlaskClient, merchant: Merchant
) -> None:
    words = ("rotate", "Tea & Co", "--env", "test", "--revoke-all")
    shop = make(run, "create", "Tea & Co", "--env", "test", "--name", "a shop")
    make(run, "create", "Tea & Co", "--env", "live", "--name", "elsewhere")
    texts = [shop["key"], merchant.vendor.keys[EnvMode.TEST]]
    refused = run("keys", *words)
    assert refused.exit_code == 1
    said = " ".join(refused.output.split())
    assert "Nothing was revoked: keys of several names are live in test mode" in said
    assert "--name 'a shop'" in said
    assert "--name default" in said
    assert "elsewhere" not in said
    assert [ask(client, text).status_code for text in texts] == [200, 200]
    ended = run("keys", *words, "--name", "a shop")
    assert ended.exit_code == 0
    assert "Still live in test mode: default. If those leaked too" in " ".join(ended.stderr.split())
    assert [ask(client, text).status_code for text in texts] == [401, 200]
    again = list_all(run, "--env", "test")
    assert run("keys", "revoke", "Tea & Co", next(each["key_id"] for each in again if each["name"] == "a shop"))
    alone = run("keys", *words)
    assert alone.exit_code == 0, "only one name is live"
    assert "Still live" not in alone.stderr
    assert ask(client, texts[1]).status_code == 401


def test_a_name_is_given_to_one_use(run: Run, merchant: Merchant) -> None:
    words = ("create", "Tea & Co", "--env", "test", "--name", "shop")
    made = make(run, *words)
    again = run("keys", *words)
    assert again.exit_code == 1
    assert "There is a live key named 'shop' already; `checkout keys rotate`" in again.output
    assert run("keys", "revoke", "Tea & Co", made["key_id"]).exit_code == 0
    assert make(run, *words)["key"] != made["key"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"--name": " "}, "name: Must be 1 to 100 printable characters"),
        ({"--name": "x" * 101}, "name: Must be 1 to 100 printable characters"),
        ({"--scope": "everything"}, "'everything' is not one of 'read', 'orders', 'refunds', 'webhooks'"),
        ({"--expires-in": "0d"}, "such as 12h or 90d"),
        ({"--expires-in": "99999d"}, "up to 3660d"),
        ({"--expires-in": "-1h"}, "such as 12h or 90d"),
        ({"--env": "prod"}, "'prod' is not one of"),
    ],
)
def test_a_bad_key_is_refused(run: Run, merchant: Merchant, options: dict[str, str], message: str) -> None:
    words = [word for pair in ({"--env": "test", "--name": "x"} | options).items() for word in pair]
    result = run("keys", "create", "Tea & Co", *words)
    assert result.exit_code != 0
    assert message in " ".join(result.output.split())


def test_a_vendor_has_so_many_names(resources: Resources, merchant: Merchant) -> None:
    owner, now = (merchant.id, EnvMode.LIVE), resources.clock.now()
    with resources.database.write() as session:
        for number in range(MAX_NAMES - 1):
            create_key(session, owner, now, name=str(number))
        with pytest.raises(Conflict, match="revoke one first"):
            create_key(session, owner, now, name="one more")
        with pytest.raises(InvalidData):
            create_key(session, owner, now, name="x", scopes=frozenset())
        rotate_key(session, owner, now)


def test_words_that_are_no_scope_give_no_right() -> None:
    assert parse_scopes("read everything") == {Scope.READ}
    assert parse_scopes("") == frozenset()


def test_the_last_use_is_written_once_a_minute_by_all_processes_together(
    resources: Resources, clock: SettableClock, make_app: Callable[..., Flask], merchant: Merchant
) -> None:
    clients, text = [make_app().test_client() for _ in range(2)], merchant.vendor.keys[EnvMode.TEST]
    begun, seen = clock.now(), []
    for seconds in (0, 20, 20, 20, 59, 1):
        clock.advance(seconds=seconds)
        for client in clients:
            ask(client, text)
            settle_uses()
        seen.append((read_last_use(resources, text) - begun).total_seconds())
    assert seen == [0, 0, 0, 60, 60, 120]
    assert timedelta(seconds=60) == EVERY
    assert read_last_use(resources, merchant.vendor.keys[EnvMode.LIVE]) is None


def test_a_request_does_not_wait_until_its_use_is_written(
    resources: Resources, client: FlaskClient, merchant: Merchant
) -> None:
    text = merchant.vendor.keys[EnvMode.TEST]
    with resources.database.write() as session:
        session.execute(select(ApiKeyRow.id).with_for_update()).all()  # on SQLite the whole database is held anyway
        assert ask(client, text).status_code == 200
        assert any(thread.name == "key-uses" for thread in threading.enumerate()), "it waits, and nobody with it"
    assert read_last_use(resources, text) == resources.clock.now()


def test_a_use_that_can_not_be_written_harms_no_request(
    resources: Resources, make_app: Callable[..., Flask], clock: SettableClock, merchant: Merchant
) -> None:
    text, app = merchant.vendor.keys[EnvMode.TEST], make_app()
    impatient = Database(resources.config.database_url, lock_wait_ms=1)
    app.extensions["checkout"] = replace(replace_database(resources, impatient))
    with resources.database.write() as session:
        session.execute(select(ApiKeyRow.id).with_for_update()).all()
        assert ask(app.test_client(), text).status_code == 200
        settle_uses()
    assert read_last_use(resources, text) is None
    clock.advance(seconds=60)
    assert ask(app.test_client(), text).status_code == 200
    assert read_last_use(resources, text) == clock.now()
    impatient.close()


def test_a_refused_key_is_not_noted(resources: Resources, client: FlaskClient, merchant: Merchant, run: Run) -> None:
    made = make(run, "create", "Tea & Co", "--env", "test", "--name", "gone")
    run("keys", "revoke", "Tea & Co", made["key_id"])
    assert ask(client, made["key"]).status_code == 401
    assert read_last_use(resources, made["key"]) is None
