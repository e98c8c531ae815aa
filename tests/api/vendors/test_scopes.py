"""What each key may do: every route of the application × two vendors × two environments × each scope and each end."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy.orm import Session
from werkzeug.routing import Rule

from api.context import attach_resources
from api.domain.env import EnvMode
from api.domain.ids import IdPrefix, make_id
from api.domain.payments import Unmatched
from api.domain.scopes import ALL_SCOPES, Scope
from api.services.resources import Resources
from api.services.vendors.key_management import create_key, revoke_key
from api.services.webhooks.outbox import NewEvent, publish
from api.storage.tables import OwnedAddress, Payment, StoredQuote, WebhookDelivery, WebhookSubscription
from api.web.security import API_PREFIXES, SCOPE
from tests.api.conftest import Merchant
from tests.api.storage.test_storage import order_of
from tests.support.receiver import StaticResolver
from tests.support.shop import LINK

KEYLESS = {"api-docs", "brand_files", "docs", "health", "payment_page", "static"}
"""Blueprints whose routes look at no key: for browsers and operators."""
Route = tuple[str, str]
ANY_KEY = {("GET", "/api/v1/api_key")}
BODIES: dict[str, dict[str, Any]] = {
    "/api/v1/payment_link": LINK,
    "/api/v1/payment/<order_id>": {"metadata": {"cart": "8"}},
    "/api/v1/payment/<order_id>/cancel_refund": {"refund": "rf_1"},
    "/api/v1/payment/<order_id>/simulate": {"action": "pay"},
    "/api/v1/webhook_subscription": {"webhook_url": "https://shop.example/hook"},
    "/api/v1/webhook_subscription/<subscription_id>/redeliver_missed": {"since": "2026-03-01T00:00:00Z"},
    "/api/v1/unmatched_transfer/<transfer_id>/assign": {"payment_order_id": "po_1"},
    "/api/v1/branding": {"display_name": "Tea House"},
}
"""By rule; an empty object elsewhere."""
DOCUMENT = Path(__file__).parents[3] / "docs" / "api-keys.md"


def list_rules(app: Flask) -> Iterator[tuple[str, Rule]]:
    for rule in app.url_map.iter_rules():
        for method in sorted((rule.methods or set()) - {"HEAD", "OPTIONS"}):
            yield method, rule


def list_keyed(app: Flask) -> dict[Route, Scope | None]:
    """The scope of every route that takes a key."""
    return {
        (method, rule.rule): getattr(app.view_functions[rule.endpoint], SCOPE)
        for method, rule in list_rules(app)
        if rule.rule.startswith(API_PREFIXES)
    }


@dataclass(frozen=True, kw_only=True)
class Owned:
    """What a vendor has in one environment: keys by their kind, and ids by their names in a rule."""

    merchant: Merchant
    env_mode: EnvMode
    keys: dict[str, str]
    ids: dict[str, str]

    def ask(self, client: FlaskClient, route: Route, kind: str, ids: dict[str, str] | None = None) -> Any:
        method, rule = route
        path = re.sub("<(?:[a-z]+:)?([a-z_]+)>", lambda found: (ids or self.ids).get(found[1], "nothing"), rule)
        body = BODIES.get(rule, {})
        if "env_mode" in body or rule == "/api/v1/webhook_subscription":
            body = {**body, "env_mode": self.env_mode}
        headers = {"X-Api-Key": self.keys[kind]}
        return client.open(path, method=method, headers=headers, json=None if method == "GET" else body)


def own(resources: Resources, merchant: Merchant, env_mode: EnvMode) -> Owned:
    now, owner = resources.clock.now(), (merchant.id, env_mode)
    order_id, hook_id = make_id(IdPrefix.ORDER, now), make_id(IdPrefix.SUBSCRIPTION, now)
    kinds = {f"only {scope}": frozenset({scope}) for scope in Scope}
    kinds |= {f"all but {scope}": ALL_SCOPES - {scope} for scope in Scope}
    with resources.database.write() as session:
        keys = {kind: create_key(session, owner, now, name=kind, scopes=scopes).text for kind, scopes in kinds.items()}
        keys["all"] = merchant.vendor.keys[env_mode]
        revoked = create_key(session, owner, now, name="revoked")
        revoke_key(session, merchant.id, revoked.row.id, now)
        ended = create_key(session, owner, now - timedelta(hours=2), name="ended", lifetime=timedelta(hours=1))
        keys |= {"revoked": revoked.text, "expired": ended.text}
        session.add(order_of(merchant, order_id, env_mode=env_mode))
        hook = {"id": hook_id, "url": "https://shop.example/hook", "created_at": now, "updated_at": now}
        session.add(WebhookSubscription(vendor_id=merchant.id, env_mode=env_mode, **hook))
        session.flush()
        data = {"payment_order_id": order_id}
        event = {"vendor_id": merchant.id, "env_mode": env_mode, "order_id": order_id, "data": data, "created_at": now}
        publish(session, NewEvent(type="payment_success", **event))  # type: ignore[arg-type]  # of several types
        delivery = session.query(WebhookDelivery).filter_by(subscription_id=hook_id).one()
        ids = {"order_id": order_id, "subscription_id": hook_id, "delivery_id": delivery.id}
        ids |= {"event_id": delivery.event_id, **own_what_was_seen(session, owner, now)}
    return Owned(merchant=merchant, env_mode=env_mode, keys=keys, ids=ids)


def own_what_was_seen(session: Session, owner: tuple[str, EnvMode], now: datetime) -> dict[str, str]:
    """Give a vendor a quote, and a transfer that names no order."""
    vendor_id, env_mode = owner
    transfer_id, quote_id = make_id(IdPrefix.TRANSFER, now), make_id(IdPrefix.QUOTE, now)
    address, hash_ = f"0x{secrets.token_hex(20)}", f"0x{secrets.token_hex(32)}"
    where = {"vendor_id": vendor_id, "env_mode": env_mode, "created_at": now}
    session.add(OwnedAddress(chain_id=8453, address=address, **where))
    moved = {"recipient": address, "sender": address, "token_address": address, "amount": 1, "state": "final"}
    moved["unmatched_reason"] = Unmatched.NO_ORDER
    seen = {"tx_hash": hash_, "log_index": 0, "kind": "payment", "mined_at": now, "seen_at": now, "updated_at": now}
    session.add(Payment(public_id=transfer_id, chain_id=8453, env_mode=env_mode, **moved, **seen))
    body = {"quote": {}, "rests_on": {}, "env_mode": env_mode}
    session.add(StoredQuote(id=quote_id, vendor_id=vendor_id, body=body, created_at=now, expires_at=now))
    return {"transfer_id": transfer_id, "quote_id": quote_id}


@pytest.fixture
def owners(resources: Resources, merchant: Merchant, other_merchant: Merchant) -> list[Owned]:
    return [own(resources, each, env_mode) for each in (merchant, other_merchant) for env_mode in EnvMode]


@pytest.fixture
def caller(resources: Resources, app: Flask) -> FlaskClient:
    """Talks to the application; names are looked up on no network."""
    attach_resources(app, replace(resources, resolver=StaticResolver(("93.184.216.34",))))
    return app.test_client()


def test_every_route_of_the_api_declares_its_scope(app: Flask) -> None:
    declared = [
        (method, rule.rule) for method, rule in list_rules(app) if hasattr(app.view_functions[rule.endpoint], SCOPE)
    ]
    wanted = [(method, rule.rule) for method, rule in list_rules(app) if rule.rule.startswith(API_PREFIXES)]
    assert declared == wanted, "decorate the view with key_required(Scope.…) or key_optional"
    assert len(wanted) > 20
    others = {rule.endpoint.partition(".")[0] for _, rule in list_rules(app) if not rule.rule.startswith(API_PREFIXES)}
    assert others <= KEYLESS, "a route outside the API looks at no key: is that right?"


def test_a_key_can_do_what_its_scopes_say_and_nothing_else(
    app: Flask, caller: FlaskClient, owners: list[Owned]
) -> None:
    for route, scope in list_keyed(app).items():
        for owned in owners:
            for kind in owned.keys:
                answer = owned.ask(caller, route, kind)
                seen = route, owned.env_mode, kind, answer.get_json()
                if kind in {"revoked", "expired"}:
                    assert answer.status_code == 401, seen
                elif scope is None or kind in {"all", f"only {scope}"} or (kind[:4] == "all " and scope not in kind):
                    assert answer.status_code not in {401, 403}, seen
                else:
                    assert answer.status_code == 403, seen
                    body = answer.get_json()
                    assert body["message"] == f"The API key lacks the scope {scope}"
                    (problem,) = body["error"]
                    assert problem["path"] == "X-Api-Key"
                    assert f"checkout keys create VENDOR --env {owned.env_mode} --scope {scope}" in problem["message"]


def describe(answer: Any, ids: dict[str, str]) -> tuple[object, ...]:
    """Return all of an answer that may tell its caller something; ids that he has sent himself tell nothing."""
    text = answer.get_data(as_text=True)
    for name, value in ids.items():
        text = text.replace(value, name)
    counted = ("X-Request-Id", "RateLimit-Remaining", "RateLimit-Reset", "Content-Length")
    headers = {name: value for name, value in answer.headers.items() if name not in counted}
    return answer.status_code, text, headers


@pytest.mark.rule("keys.14", "keys.15")
def test_no_scope_opens_what_is_anothers(
    app: Flask, caller: FlaskClient, owners: list[Owned], resources: Resources
) -> None:
    """Whatever an address names: what is another's is as what does not exist, in all that an answer tells."""
    routes = [route for route in list_keyed(app) if "<" in route[1]]
    assert {name for _, rule in routes for name in re.findall("<(?:[a-z]+:)?([a-z_]+)>", rule)} == owners[0].ids.keys()
    now = resources.clock.now()
    for asking in owners:
        for owning in owners:
            if asking is owning:
                continue
            invented = {name: make_id(IdPrefix(value.partition("_")[0]), now) for name, value in owning.ids.items()}
            for route in routes:
                answer = asking.ask(caller, route, "all", owning.ids)
                nothing = asking.ask(caller, route, "all", invented)
                assert answer.status_code == 404, (route, answer.get_json())
                assert describe(answer, owning.ids) == describe(nothing, invented), route
    lists = [route for route in list_keyed(app) if route[0] == "GET" and "<" not in route[1] and "/api/" in route[1]]
    for asking in owners:
        foreign = {each for owning in owners if owning is not asking for each in owning.ids.values()}
        for route in lists:
            text = asking.ask(caller, route, "all").get_data(as_text=True)
            assert not [each for each in foreign if each in text], route


def test_what_has_no_scope_is_known(app: Flask) -> None:
    """Any key will do for these; all others but routes, quotes and tokens need a scope."""
    free = {route for route, scope in list_keyed(app).items() if scope is None and route[1].startswith("/api/")}
    assert {route for route in free if not route[1].startswith("/api/v1/quote")} == ANY_KEY


def test_the_document_lists_the_scope_of_every_route(app: Flask) -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    listed = dict(re.findall(r"^\| `([A-Z]+ /api/[^`]+)` \| (?:`(\w+)`|any) \|$", text, re.MULTILINE))
    keyed = {f"{method} {rule}": str(scope or "") for (method, rule), scope in list_keyed(app).items()}
    assert listed == {route: scope for route, scope in keyed.items() if "/api/" in route and "quote" not in route}


def test_a_scope_is_described_in_the_openapi_document(client: FlaskClient, app: Flask) -> None:
    paths = client.get("/openapi.json").get_json()["paths"]
    shown = {
        (method.upper(), re.sub(r"\{(\w+)\}", r"<\1>", path)): operation.get("security")
        for path, operations in paths.items()
        for method, operation in operations.items()
        if method in {"get", "post", "patch", "put", "delete"}
    }
    for route, scope in list_keyed(app).items():
        assert shown[route] in ([{"ApiKey": [scope] if scope else []}], [{"ApiKey": []}, {}]), route
