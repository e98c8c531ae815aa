"""Within v1 callers lose nothing: what is there stays, no more is asked for, and an end is told half a year before."""

from __future__ import annotations

from copy import deepcopy
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from api.app import build_app
from api.blueprints.base import Api, Blueprint
from api.counting.rate_limits import RateLimits
from api.domain.scopes import Scope
from api.services.resources import Resources
from api.web.deprecation import Ending, ending
from api.web.security import key_required
from tests.api.conftest import Merchant
from tests.support.contract import read_document
from tests.support.v1_surface import GIVES, REQUIRES, TAKES, list_surface, read_record

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True, scope="session")
"""Nothing here depends on the database."""

INTERFACE = {
    ("post", "/api/v1/payment_link"),
    ("get", "/api/v1/payment/{order_id}"),
    ("post", "/v1/routes"),
    ("get", "/api/v1/quote"),
    ("post", "/api/v1/webhook_subscription"),
    ("get", "/api/v1/webhook_subscription"),
    ("delete", "/api/v1/webhook_subscription/{subscription_id}"),
    ("get", "/v1/tokens"),
}
ANNOUNCED = datetime(2030, 1, 1, tzinfo=UTC)


@pytest.fixture
def document(app: Flask) -> dict[str, Any]:
    return read_document(app)


def find_losses(document: dict[str, Any]) -> list[str]:
    """Return what callers of the recorded interface would lose, or be asked for in addition."""
    found, recorded = list_surface(document), read_record()
    lost = {line for line in recorded - found if not line.startswith(REQUIRES)}
    known = {" ".join(line.split()[1:3]) for line in recorded}
    asked = {line for line in found - recorded if line.startswith(REQUIRES)}
    return sorted(
        lost | {line for line in asked if " ".join(line.split()[1:3]) in known and not _is_new(line, recorded)}
    )


def _is_new(line: str, recorded: set[str]) -> bool:
    """Whether what is required lies in an object that callers of the recorded interface do not send."""
    holder = line.removeprefix(f"{REQUIRES} ").rpartition(".")[0]
    return bool(holder) and f"{TAKES} {holder}: object" not in recorded


@pytest.mark.rule("operation.7")
def test_the_interface_is_served_where_it_says(document: dict[str, Any]) -> None:
    served = {(method, path) for path, item in document["paths"].items() for method in item}
    assert served >= INTERFACE
    assert all(path.startswith(("/api/v1/", "/v1/")) for _, path in served)
    below = {path.split("/")[2] for _, path in served if path.startswith("/v1/")}
    assert not [name for name in below if name.startswith(("payment", "quote", "webhook"))]


@pytest.mark.rule("operation.8")
def test_v1_only_grows(document: dict[str, Any]) -> None:
    assert find_losses(document) == [], "keep it: v1 takes nothing away, and asks for nothing more"


def test_each_kind_of_loss_is_found(document: dict[str, Any]) -> None:
    link = "/api/v1/payment_link"
    gone, mute, strict, other = (deepcopy(document) for _ in range(4))
    del gone["paths"]["/v1/tokens"]
    del mute["components"]["schemas"]["PaymentOrder"]["properties"]["metadata"]
    strict["components"]["schemas"]["NewPaymentLink"]["required"].append("metadata")
    other["components"]["schemas"]["OrderPrice"]["properties"]["amount"]["type"] = "string"
    assert f"{GIVES} GET /v1/tokens 200 application/json.tokens: array" in find_losses(gone)
    assert any(line.endswith("200 application/json.metadata: object") for line in find_losses(mute))
    assert find_losses(strict) == [f"{REQUIRES} POST {link} body.metadata"]
    assert any(line.endswith("order_price.amount: integer") for line in find_losses(other))


@pytest.mark.rule("operation.9", "operation.10")
def test_a_deprecated_operation_says_when_it_ends(resources: Resources, merchant: Merchant) -> None:
    def mount(app: Flask, api: Api, limits: RateLimits) -> None:
        blueprint = Blueprint("old", __name__, url_prefix="/v1/probe/old", description="Of the test")

        @blueprint.get("", operation="getOld")
        @ending(announced=ANNOUNCED, ends=ANNOUNCED + timedelta(days=200))
        @key_required(Scope.READ)
        def old() -> dict[str, Any]:
            return {}

        @blueprint.get("/new", operation="getNew")
        @key_required(Scope.READ)
        def new() -> dict[str, Any]:
            return {}

        api.register_blueprint(blueprint)
        limits.protect(blueprint)

    app = build_app(resources, mount=mount)
    client = app.test_client()
    for headers, status in ((merchant.headers(), 200), ({}, 401)):
        answer = client.get("/v1/probe/old", headers=headers)
        assert answer.status_code == status
        assert answer.headers["Deprecation"] == f"@{int(ANNOUNCED.timestamp())}"
        assert parsedate_to_datetime(answer.headers["Sunset"]) == ANNOUNCED + timedelta(days=200)
    assert not {"Deprecation", "Sunset"} & set(
        client.get("/v1/probe/old/new", headers=merchant.headers()).headers.keys()
    )
    paths = read_document(app)["paths"]
    assert paths["/v1/probe/old"]["get"]["deprecated"] is True
    assert "deprecated" not in paths["/v1/probe/old/new"]["get"]


@pytest.mark.rule("operation.10")
def test_nothing_ends_sooner(client: FlaskClient) -> None:
    assert Ending(announced=ANNOUNCED, ends=ANNOUNCED + timedelta(days=180))
    with pytest.raises(ValueError, match="180 days"):
        Ending(announced=ANNOUNCED, ends=ANNOUNCED + timedelta(days=180, seconds=-1))
    told = {"Deprecation", "Sunset"} & set(client.get("/v1/tokens").headers.keys())
    assert not told, "nothing of the interface ends"
