"""Every POST that changes something is carried out once for each `Idempotency-Key`, with its answer in one transaction.

`ACTS` has each of them; a new one fails `test_every_post_with_a_key_is_tried_here` until it is added.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import func, select

from api.blueprints import repeats
from api.domain.env import EnvMode
from api.domain.scopes import ALL_SCOPES, Scope
from api.services.vendors.key_management import create_key, revoke_key
from api.storage.tables import Base, IdempotencyKey
from api.web.security import SCOPE
from tests.api.conftest import Merchant
from tests.support.scene import Scene
from tests.support.shop import LINK, Shop
from tests.support.webhooks import HOOK, SUBSCRIPTIONS, Desk

Act = Callable[[Scene], tuple[str, dict[str, Any]]]


def cancel_refund(scene: Scene) -> tuple[str, dict[str, Any]]:
    """Return the request that cancels a refund."""
    path = f"/api/v1/payment/{scene.make_paid_order()}"
    (asked,) = scene.shop.post(f"{path}/refund", {"amount": "300000"}).get_json()["refunds"]
    return f"{path}/cancel_refund", {"refund": asked["id"]}


SEARCHES = ("/v1/routes", "/v1/routes/stream")
"""They change nothing: `test_idempotent_searches` has them."""
ACTS: dict[str, Act] = {
    "/api/v1/payment_link": lambda _: ("/api/v1/payment_link", LINK),
    "/api/v1/payment/{}/cancel": lambda scene: (f"/api/v1/payment/{scene.shop.create()}/cancel", {}),
    "/api/v1/payment/{}/refund": lambda scene: (
        f"/api/v1/payment/{scene.make_paid_order()}/refund",
        {"amount": "300000"},
    ),
    "/api/v1/payment/{}/cancel_refund": cancel_refund,
    "/api/v1/payment/{}/simulate": lambda scene: (
        f"/api/v1/payment/{scene.shop.create()}/simulate",
        {"action": "underpay"},
    ),
    SUBSCRIPTIONS: lambda _: (SUBSCRIPTIONS, {"webhook_url": HOOK, "env_mode": "test"}),
    "/api/v1/unmatched_transfer/{}/assign": lambda scene: (
        f"/api/v1/unmatched_transfer/{scene.send_stray()}/assign",
        {"payment_order_id": scene.shop.create()},
    ),
    f"{SUBSCRIPTIONS}/{{}}/test": lambda scene: (f"{SUBSCRIPTIONS}/{scene.webhook_id}/test", {}),
    f"{SUBSCRIPTIONS}/{{}}/rotate_secret": lambda scene: (f"{SUBSCRIPTIONS}/{scene.webhook_id}/rotate_secret", {}),
    f"{SUBSCRIPTIONS}/{{}}/enable": lambda scene: (f"{SUBSCRIPTIONS}/{scene.webhook_id}/enable", {}),
    f"{SUBSCRIPTIONS}/{{}}/redeliver_missed": lambda scene: (
        f"{SUBSCRIPTIONS}/{scene.make_lapsed_webhook()}/redeliver_missed",
        {"since": "2026-03-01T00:00:00Z"},
    ),
    "/api/v1/webhook_delivery/{}/redeliver": lambda scene: (
        f"/api/v1/webhook_delivery/{scene.make_failed_delivery()}/redeliver",
        {},
    ),
}
ALL = pytest.mark.parametrize("name", ACTS)


@pytest.fixture
def scene(shop: Shop, desk: Desk) -> Scene:
    """A shop with a webhook."""
    return Scene(shop=shop, desk=desk, webhook_id=desk.subscribe(shop.merchant)["webhook_id"])


def read_all(scene: Scene) -> dict[str, list[Any]]:
    """Return every row of the database; when a key was last used is written beside what the request does."""
    with scene.shop.resources.database.read() as session:
        return {
            name: sorted(session.execute(select(*[each for each in table.c if each.name != "last_used_at"])), key=repr)
            for name, table in Base.metadata.tables.items()
        }


@pytest.mark.rule("idempotency.1")
def test_every_post_with_a_key_is_tried_here(client: FlaskClient) -> None:
    paths = client.get("/openapi.json").get_json()["paths"]
    changing = {
        re.sub(r"\{\w+\}", "{}", path): operations["post"]
        for path, operations in paths.items()
        if "post" in operations and {} not in operations["post"]["security"]
    }
    assert set(changing) == set(ACTS)
    every = [operations["post"] for operations in paths.values() if "post" in operations]
    assert len(every) == len(ACTS) + len(SEARCHES)
    for operation in every:
        (header,) = (each for each in operation["parameters"] if each["in"] == "header")
        assert (header["name"], header["required"]) == ("Idempotency-Key", False)
        assert {"409", "422"} <= set(operation["responses"])


@pytest.mark.rule("idempotency.1", "idempotency.3")
@ALL
def test_the_same_request_is_carried_out_once(scene: Scene, name: str) -> None:
    path, body = ACTS[name](scene)
    first = scene.shop.post(path, body, Idempotency_Key="k")
    assert first.status_code == 200, first.get_json()
    before = read_all(scene)
    scene.shop.clock.advance(seconds=5)
    again = scene.shop.post(path, json.loads(json.dumps(body)), Idempotency_Key="k")
    assert (again.status_code, again.data, again.headers["Idempotent-Replayed"]) == (200, first.data, "true")
    assert read_all(scene) == before


@pytest.mark.in_turns
@pytest.mark.rule("idempotency.5")
@ALL
def test_another_request_with_the_key_changes_nothing(
    scene: Scene, name: str, assert_error: Callable[..., None]
) -> None:
    path, body = ACTS[name](scene)
    assert scene.shop.post(path, body, Idempotency_Key="k").status_code == 200
    before = read_all(scene)
    for other in ({**body, "nonsense": 1}, {"line_items": 7}):
        refused = scene.shop.post(path, other, Idempotency_Key="k")
        assert_error(refused, 422, {"Idempotency-Key": "Use a new key for a new request"})
    assert read_all(scene) == before


@pytest.mark.in_turns
@pytest.mark.rule("idempotency.8")
@ALL
def test_what_is_refused_leaves_the_key_free(scene: Scene, name: str) -> None:
    path, body = ACTS[name](scene)
    assert scene.shop.post(path, {**body, "nonsense": 1}, Idempotency_Key="k").status_code == 400
    with scene.shop.resources.database.read() as session:
        assert session.scalar(select(func.count()).select_from(IdempotencyKey)) == 0
    assert scene.shop.post(path, body, Idempotency_Key="k").status_code == 200


@ALL
def test_a_crash_leaves_neither_the_answer_nor_what_was_done(
    scene: Scene, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, body = ACTS[name](scene)
    before = read_all(scene)

    def crash(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr(repeats, "KeptAnswer", crash)
        with pytest.raises(KeyboardInterrupt):
            scene.shop.post(path, body, Idempotency_Key="k")
    assert read_all(scene) == before
    assert scene.shop.post(path, body, Idempotency_Key="k").status_code == 200


def test_a_refusal_by_the_state_leaves_the_key_free(scene: Scene) -> None:
    order_id = scene.shop.create()
    path = f"/api/v1/payment/{order_id}/refund"
    assert scene.shop.post(path, {}, Idempotency_Key="k").status_code == 409
    scene.shop.simulate(order_id, "pay")
    scene.shop.wait(60)
    assert scene.shop.post(path, {}, Idempotency_Key="k").status_code == 200


def test_two_refunds_of_one_amount_are_told_apart_by_their_keys(scene: Scene) -> None:
    path = f"/api/v1/payment/{scene.make_paid_order()}/refund"
    made = [scene.shop.post(path, {"amount": "300000"}, Idempotency_Key=key) for key in ("a", "a", "b")]
    assert [len(each.get_json()["refunds"]) for each in made] == [1, 1, 2]
    assert len(scene.shop.post(path, {"amount": "300000"}).get_json()["refunds"]) == 2  # like one that is under way
    assert scene.shop.post(path, {"amount": "500000"}, Idempotency_Key="c").status_code == 400


def test_a_key_without_an_api_key_is_refused_for_that(client: FlaskClient, merchant: Merchant) -> None:
    assert client.post("/api/v1/payment_link", json=LINK, headers={"Idempotency-Key": "k"}).status_code == 401


@pytest.mark.in_turns
@ALL
def test_no_answer_is_repeated_to_a_key_that_may_not_ask(scene: Scene, name: str) -> None:
    """Nor is a key told that the request was carried out, or that the body is another one."""
    path, body = ACTS[name](scene)
    first = scene.shop.post(path, body, Idempotency_Key="k")
    views = scene.shop.client.application
    rule = views.url_map.bind("").match(path, method="POST")[0]
    narrow, ended, live = issue_others(scene, getattr(views.view_functions[rule], SCOPE))
    before = read_all(scene)
    for text, status in ((narrow, 403), (ended, 401), (None, 401)):
        for sent in (body, {"line_items": 7}):
            headers = {"Idempotency-Key": "k"} | ({"X-Api-Key": text} if text else {})
            refused = scene.shop.client.post(path, json=sent, headers=headers)
            assert refused.status_code == status, refused.get_json()
            assert "Idempotent-Replayed" not in refused.headers
    assert read_all(scene) == before
    elsewhere = scene.shop.client.post(path, json=body, headers={"Idempotency-Key": "k", "X-Api-Key": live})
    assert "Idempotent-Replayed" not in elsewhere.headers
    assert elsewhere.data != first.data


def issue_others(scene: Scene, scope: Scope) -> tuple[str, str, str]:
    """Make a key of all scopes but one, one that was revoked, and one of the other environment."""
    merchant, now = scene.shop.merchant, scene.shop.clock.now()
    owner = (merchant.id, EnvMode.TEST)
    with scene.shop.resources.database.write() as session:
        narrow = create_key(session, owner, now, name="narrow", scopes=ALL_SCOPES - {scope})
        ended = create_key(session, owner, now, name="ended")
        revoke_key(session, merchant.id, ended.row.id, now)
    return narrow.text, ended.text, merchant.headers("live")["X-Api-Key"]
