"""A resource that exists in tests only: it takes one of everything and gives it back."""

from __future__ import annotations

from typing import Any

from flask import Flask

from api import blueprints
from api.app import build_app
from api.blueprints.base import Api, Blueprint
from api.context import get_resources
from api.counting.rate_limits import RateLimits
from api.domain.errors import Conflict, Forbidden, NotFound, RequestRefused, ServiceUnavailable, Unprocessable
from api.domain.ids import IdPrefix, make_id
from api.domain.scopes import Scope
from api.schemas import (
    Address,
    AmountField,
    BaseSchema,
    ChainIdField,
    EnvModeField,
    FreeObject,
    HttpsInLive,
    IntegerField,
    ListField,
    ObjectField,
    TextField,
    UrlField,
)
from api.services.resources import Resources
from api.storage.tables import Vendor
from api.web.security import find_caller_key, get_caller_key, key_optional, key_required

REFUSALS: dict[str, RequestRefused] = {
    "403": Forbidden("No"),
    "404": NotFound("No"),
    "409": Conflict("No"),
    "422": Unprocessable("No"),
    "503": ServiceUnavailable("No", retry_after_s=7),
}


URL = "/v1/probe/everything"


def body(**changes: Any) -> dict[str, Any]:
    valid: dict[str, Any] = {
        "env_mode": "test",
        "url": "http://localhost:3000?success=true",
        "price": {"currency": "USDC", "amount": 10**18},
        "items": [{"title": "Tea", "quantity": 2}],
    }
    return {name: value for name, value in (valid | changes).items() if value is not ...}


class Price(BaseSchema):
    currency = TextField(required=True, max_length=32)
    amount = AmountField(required=True)


class Item(BaseSchema):
    title = TextField(required=True, max_length=20)
    quantity = IntegerField(required=True, minimum=1, maximum=1000)


class Everything(HttpsInLive):
    https_in_live = ("url",)

    env_mode = EnvModeField(required=True)
    url = UrlField(required=True)
    price = ObjectField(Price, required=True)
    items = ListField(ObjectField(Item), required=True, min_length=1, max_length=3)
    chain = ChainIdField()
    token = Address()
    metadata = FreeObject()


class Filter(BaseSchema):
    chain = ChainIdField(required=True)
    search = TextField(max_length=10)


def probe_app(shared: Resources) -> Flask:
    """Build the application with the probe mounted beside the real resources."""

    def mount(app: Flask, api: Api, limits: RateLimits) -> None:
        blueprints.mount(app, api, limits)
        blueprint = _blueprint()
        api.register_blueprint(blueprint)
        limits.protect(blueprint, routing=True)

    return build_app(shared, mount=mount)


def _blueprint() -> Blueprint:
    blueprint = Blueprint("probe", __name__, url_prefix="/v1/probe", description="Of the tests")

    @blueprint.post("/everything", operation="sendEverything")
    @blueprint.body(Everything)
    @blueprint.answer(Everything)
    def everything(body: dict[str, Any]) -> dict[str, Any]:
        return body

    @blueprint.get("/filter", operation="filterThings")
    @blueprint.query(Filter)
    def filtered(query: dict[str, Any]) -> dict[str, Any]:
        return query

    @blueprint.post("/private", operation="sendPrivately")
    @key_required(Scope.READ)
    @blueprint.body(Everything)
    def private(_: dict[str, Any]) -> dict[str, Any]:
        return {"vendor": get_caller_key().vendor_name}

    @blueprint.get("/private", operation="getPrivately")
    @key_required(Scope.READ)
    def whoami() -> dict[str, Any]:
        key = get_caller_key()
        return {"vendor": key.vendor_name, "vendor_id": key.vendor_id, "env_mode": key.env_mode}

    @blueprint.get("/public", operation="getPublicly")
    @key_optional
    def public() -> dict[str, Any]:
        key = find_caller_key()
        return {"vendor": key.vendor_name if key else None}

    @blueprint.get("/refuse/<code>", operation="refuse")
    def refuse(code: str) -> dict[str, Any]:
        raise REFUSALS[code]

    @blueprint.post("/slow-write", operation="writeSlowly")
    def write() -> dict[str, Any]:
        shared = get_resources()
        now = shared.clock.now()
        with shared.database.write() as session:
            vendor_id = make_id(IdPrefix.VENDOR, now)
            session.add(Vendor(id=vendor_id, name=vendor_id, created_at=now))
        return {"vendor_id": vendor_id}

    return blueprint
