"""Webhook subscriptions over HTTP: the interface, two vendors, two environments, and URLs that must not be."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from api.app import build_app
from api.domain.env import EnvMode
from api.domain.errors import Conflict
from api.logs import configure_logging
from api.services.resources import Resources
from api.services.vendors.api_keys import find_key
from api.services.webhooks.subscriptions import register
from tests.api.conftest import Merchant
from tests.support.webhooks import HOOK, SUBSCRIPTIONS, Desk

Check = Callable[..., None]


def create(desk: Desk, merchant: Merchant, key: str = "test", **body: Any) -> Any:
    return desk.client.post(SUBSCRIPTIONS, json=body, headers=merchant.headers(key))


def with_local_targets(desk: Desk) -> Desk:
    resources = replace(desk.resources, config=replace(desk.resources.config, allow_local_webhooks=True))
    return Desk.of(resources, build_app(resources).test_client())


@pytest.mark.rule("money.4", "webhooks.1", "webhooks.3", "webhooks.4", "webhooks.5")
@pytest.mark.parametrize("env_mode", ["test", "live"])
def test_registering(desk: Desk, merchant: Merchant, env_mode: str) -> None:
    answer = create(desk, merchant, env_mode, webhook_url=HOOK, env_mode=env_mode)
    assert answer.status_code == 200
    body = answer.get_json()
    assert body["message"] == f"Successfully registered webhook endpoint in {env_mode} mode for Tea & Co."
    data = body["data"]
    assert data["webhook_id"].startswith("ep_")
    assert (data["webhook_url"], data["env_mode"]) == (HOOK, env_mode)
    assert data["created_at"] == data["updated_at"] == "2026-03-01T12:00:00.000Z"
    assert data["secret"].startswith("whsec_")


def test_an_address_that_has_a_webhook_already_is_told(desk: Desk, merchant: Merchant) -> None:
    """It is taken: one may be for other types. But whoever runs a set-up twice gets every event twice."""
    first = create(desk, merchant, "test", webhook_url=HOOK, env_mode="test").get_json()
    second = create(desk, merchant, "test", webhook_url=HOOK, env_mode="test", events=["payment_refunded"]).get_json()
    assert "has this address" not in first["message"]
    assert second["message"].startswith("Successfully registered webhook endpoint in test mode for Tea & Co. ")
    assert f"{first['data']['webhook_id']} has this address too" in second["message"]
    desk.client.delete(f"{SUBSCRIPTIONS}/{first['data']['webhook_id']}", headers=merchant.headers("test"))
    third = create(desk, merchant, "test", webhook_url=HOOK, env_mode="test").get_json()
    assert first["data"]["webhook_id"] not in third["message"], "it is deleted"


@pytest.mark.rule("webhooks.2")
def test_the_environment_is_live_unless_given(desk: Desk, merchant: Merchant, assert_error: Check) -> None:
    assert create(desk, merchant, "live", webhook_url=HOOK).get_json()["data"]["env_mode"] == "live"
    refused = create(desk, merchant, "test", webhook_url=HOOK)
    assert_error(refused, 403)
    (problem,) = refused.get_json()["error"]
    assert problem["path"] == "env_mode"
    assert '"env_mode": "test"' in problem["message"]


@pytest.mark.rule("keys.11", "keys.15", "keys.16")
@pytest.mark.parametrize(("key", "env_mode"), [("test", "live"), ("live", "test")])
def test_a_key_acts_in_its_own_environment_only(
    desk: Desk, merchant: Merchant, assert_error: Check, key: str, env_mode: str
) -> None:
    remedy = {"env_mode": f"This is a {key} key; use the vendor's {env_mode} key"}
    assert_error(create(desk, merchant, key, webhook_url="http://shop.example", env_mode=env_mode), 403, remedy)
    webhook_id = desk.subscribe(merchant, env_mode)["webhook_id"]
    headers = merchant.headers(key)
    one = f"{SUBSCRIPTIONS}/{webhook_id}"
    assert_error(desk.client.get(f"{SUBSCRIPTIONS}?env_mode={env_mode}", headers=headers), 403, remedy)
    assert_error(desk.client.get(f"/api/v1/events?env_mode={env_mode}", headers=headers), 403, remedy)
    assert_error(desk.client.delete(one, headers=headers), 404, {})
    assert_error(desk.client.get(f"{one}/deliveries", headers=headers), 404, {})
    for action in ("test", "rotate_secret", "enable"):
        assert_error(desk.client.post(f"{one}/{action}", headers=headers), 404, {})
    since = {"since": "2026-03-01T00:00:00Z"}
    assert_error(desk.client.post(f"{one}/redeliver_missed", json=since, headers=headers), 404, {})
    delivery_id = desk.delivery(desk.publish(merchant, env_mode)).id
    assert_error(desk.client.post(f"/api/v1/webhook_delivery/{delivery_id}/redeliver", headers=headers), 404, {})
    assert len(desk.client.get(SUBSCRIPTIONS, headers=merchant.headers(env_mode)).get_json()["data"]) == 1


@pytest.mark.rule("webhooks.6", "webhooks.7", "webhooks.8")
def test_the_list_is_of_one_environment_and_without_secrets(desk: Desk, merchant: Merchant) -> None:
    made = {env_mode: desk.subscribe(merchant, env_mode) for env_mode in ("test", "live")}
    for env_mode, subscription in made.items():
        for query in ("", f"?env_mode={env_mode}"):
            answer = desk.client.get(SUBSCRIPTIONS + query, headers=merchant.headers(env_mode))
            (row,) = answer.get_json()["data"]
            assert row == {name: value for name, value in subscription.items() if name != "secret"}
            assert "whsec_" not in answer.get_data(as_text=True)


@pytest.mark.rule("webhooks.9")
def test_deleting(desk: Desk, merchant: Merchant, assert_error: Check) -> None:
    one = f"{SUBSCRIPTIONS}/{desk.subscribe(merchant)['webhook_id']}"
    desk.publish(merchant)
    answer = desk.client.delete(one, headers=merchant.headers())
    assert answer.status_code == 200
    assert answer.get_json() == {"message": "Successfully deleted webhook endpoint in test mode for Tea & Co."}
    assert desk.work() == []
    desk.publish(merchant)
    assert desk.work() == []
    assert desk.client.get(SUBSCRIPTIONS, headers=merchant.headers()).get_json() == {"data": []}
    assert_error(desk.client.delete(one, headers=merchant.headers()), 404, {})


@pytest.mark.rule("webhooks.10", "keys.14")
def test_another_vendors_webhook_does_not_exist(
    desk: Desk, merchant: Merchant, other_merchant: Merchant, assert_error: Check
) -> None:
    webhook_id = desk.subscribe(merchant)["webhook_id"]
    event_id = desk.publish(merchant)
    delivery_id = desk.delivery(event_id).id
    one, theirs = f"{SUBSCRIPTIONS}/{webhook_id}", other_merchant.headers()
    answers = [desk.client.delete(one, headers=theirs), desk.client.get(f"{one}/deliveries", headers=theirs)]
    answers += [desk.client.post(f"{one}/{action}", headers=theirs) for action in ("test", "rotate_secret", "enable")]
    answers.append(desk.client.post(f"/api/v1/webhook_delivery/{delivery_id}/redeliver", headers=theirs))
    unknown = desk.client.delete(f"{SUBSCRIPTIONS}/ep_unknown", headers=theirs)
    for answer in answers:
        assert_error(answer, 404, {})
    assert answers[0].get_json() == unknown.get_json()
    assert desk.client.get(SUBSCRIPTIONS, headers=theirs).get_json() == {"data": []}
    assert_error(
        desk.client.get(f"/api/v1/events?since={event_id}", headers=theirs),
        400,
        {"since": "There is no event with this id"},
    )


@pytest.mark.rule("keys.4")
def test_without_a_key_nothing_is_shown(desk: Desk, assert_error: Check) -> None:
    calls = [("GET", SUBSCRIPTIONS), ("POST", SUBSCRIPTIONS), ("GET", "/api/v1/events")]
    calls += [("DELETE", f"{SUBSCRIPTIONS}/ep_1"), ("GET", f"{SUBSCRIPTIONS}/ep_1/deliveries")]
    calls += [("POST", f"{SUBSCRIPTIONS}/ep_1/{action}") for action in ("test", "rotate_secret", "enable")]
    calls += [("POST", "/api/v1/webhook_delivery/dlv_1/redeliver")]
    for method, path in calls:
        assert_error(desk.client.open(path, method=method), 401, {"X-Api-Key": "Required"})


@pytest.mark.rule("input.11", "webhooks.1")
@pytest.mark.parametrize(
    ("body", "problems"),
    [
        ({}, {"webhook_url": "Required"}),
        ({"webhook_url": None}, {"webhook_url": "Expected string, received null"}),
        ({"webhook_url": HOOK, "env_mode": None}, {"env_mode": "Expected 'test' or 'live', received null"}),
        ({"webhook_url": HOOK, "env_mode": "prod"}, {"env_mode": "Expected 'test' or 'live'"}),
        ({"webhook_url": 7, "env_mode": 7}, {"webhook_url": None, "env_mode": None}),
        ({"webhook_url": "https://a.example/" + "x" * 2048}, {"webhook_url": None}),
        ({"webhook_url": "https://a.example/\x00"}, {"webhook_url": None}),
        ({"webhook_url": "https://me:pw@a.example/"}, {"webhook_url": None}),
        ({"webhook_url": "javascript:alert(1)"}, {"webhook_url": None}),
    ],
)
def test_a_malformed_registration(
    desk: Desk, merchant: Merchant, assert_error: Check, body: dict[str, Any], problems: dict[str, str | None]
) -> None:
    answer = desk.client.post(SUBSCRIPTIONS, json=body, headers=merchant.headers())
    assert_error(answer, 400)
    found = {row["path"]: row["message"] for row in answer.get_json()["error"]}
    assert found.keys() == problems.keys()
    assert all(wanted in {None, found[path]} for path, wanted in problems.items())


@pytest.mark.rule("input.13")
@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:3000/hook",
        "http://127.0.0.1/hook",
        "http://[::1]/hook",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://10.0.0.1/",
        "http://169.254.169.254/latest/meta-data/",
        "https://shop.example:6379/",
    ],
)
def test_local_and_odd_targets_are_refused(desk: Desk, merchant: Merchant, assert_error: Check, url: str) -> None:
    answer = create(desk, merchant, webhook_url=url, env_mode="test")
    assert_error(answer, 400)
    assert [row["path"] for row in answer.get_json()["error"]] == ["webhook_url"]


@pytest.mark.rule("input.13")
def test_a_name_that_leads_inside_is_refused(desk: Desk, merchant: Merchant, assert_error: Check) -> None:
    desk.resources.resolver.answers = [("93.184.216.34", "192.168.1.1")]
    answer = create(desk, merchant, webhook_url=HOOK, env_mode="test")
    assert_error(answer, 400, {"webhook_url": "192.168.1.1 is not a public address; webhooks go to public addresses"})


def test_a_name_that_nobody_knows_yet_is_taken(desk: Desk, merchant: Merchant) -> None:
    desk.resources.resolver.answers = [None]
    assert create(desk, merchant, webhook_url=HOOK, env_mode="test").status_code == 200


@pytest.mark.rule("input.15")
def test_local_targets_where_the_operator_allows_them(desk: Desk, merchant: Merchant, assert_error: Check) -> None:
    local = with_local_targets(desk)
    local.resources.resolver.answers = [("127.0.0.1",)]
    for url in ("http://127.0.0.1:5001/hook", "http://localhost:3000", "http://192.168.0.7:8000/"):
        assert create(local, merchant, webhook_url=url, env_mode="test").status_code == 200
        assert_error(create(local, merchant, "live", webhook_url=url.replace("http", "https")), 400)
    assert_error(create(local, merchant, webhook_url="http://169.254.169.254/", env_mode="test"), 400)


@pytest.mark.rule("input.12")
def test_plain_http_is_for_the_test_environment(desk: Desk, merchant: Merchant, assert_error: Check) -> None:
    assert create(desk, merchant, webhook_url="http://shop.example/", env_mode="test").status_code == 200
    refused = create(desk, merchant, "live", webhook_url="HTTP://shop.example/", env_mode="live")
    assert_error(refused, 400, {"webhook_url": "Plain http is for env_mode test only; use https"})


def test_the_number_of_subscriptions_has_a_limit(
    desk: Desk, merchant: Merchant, assert_error: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.services.webhooks.subscriptions.MAX_SUBSCRIPTIONS", 2)
    made = [desk.subscribe(merchant) for _ in range(2)]
    assert_error(create(desk, merchant, webhook_url=HOOK, env_mode="test"), 409)
    desk.client.delete(f"{SUBSCRIPTIONS}/{made[0]['webhook_id']}", headers=merchant.headers())
    assert create(desk, merchant, webhook_url=HOOK, env_mode="test").status_code == 200


def test_nobody_gets_more_subscriptions_by_asking_at_once(
    resources: Resources, merchant: Merchant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.services.webhooks.subscriptions.MAX_SUBSCRIPTIONS", 2)
    with resources.database.read() as session:
        key = find_key(session, merchant.headers()["X-Api-Key"], resources.clock.now())
    assert key is not None
    start = threading.Barrier(8)

    def ask(_: int) -> bool:
        start.wait()
        try:
            register(resources, key, HOOK, EnvMode.TEST)
        except Conflict:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(ask, range(8))) == 2


@pytest.mark.rule("webhooks.6")
def test_no_secret_reaches_the_log_or_another_answer(
    desk: Desk, merchant: Merchant, capfd: pytest.CaptureFixture[str], restore_logging: None
) -> None:
    configure_logging("DEBUG")
    secret = desk.subscribe(merchant)["secret"]
    desk.transport.always(status=500, excerpt="no")
    desk.publish(merchant)
    desk.work()
    one = (
        f"{SUBSCRIPTIONS}/"
        + desk.client.get(SUBSCRIPTIONS, headers=merchant.headers()).get_json()["data"][0]["webhook_id"]
    )
    new = desk.client.post(f"{one}/rotate_secret", headers=merchant.headers()).get_json()["data"]["secret"]
    answers = [desk.client.get(path, headers=merchant.headers()) for path in (SUBSCRIPTIONS, f"{one}/deliveries")]
    answers.append(desk.client.post(f"{one}/test", json={"type": secret}, headers=merchant.headers()))
    answers.append(desk.client.get("/api/v1/events", headers=merchant.headers()))
    written = capfd.readouterr().err + "".join(answer.get_data(as_text=True) for answer in answers)
    assert "webhook_attempt" in written
    for text in (secret, new):
        assert text.removeprefix("whsec_") not in written
