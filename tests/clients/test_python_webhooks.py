"""What is a delivery of the service and what is not, against the library that receivers use elsewhere."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime
from typing import Any

import pytest
from crosschain_checkout_client import WebhookRefused, verify_webhook
from crosschain_checkout_client.errors import WebhookUnreadable
from standardwebhooks import Webhook

from tests.clients.document_samples import make_sample
from tests.clients.generation.service_document import read_service_document

SECRET, OTHER = (f"whsec_{base64.b64encode(bytes([n]) * 32).decode()}" for n in (1, 2))
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
SCHEMAS = read_service_document()["components"]["schemas"]
BODY = json.dumps(make_sample({"$ref": "#/components/schemas/WebhookBody"}, SCHEMAS), indent=1)


def sign(body: str = BODY, secret: str = SECRET, event_id: str = "evt_1", at: datetime = NOW) -> dict[str, str]:
    signature = Webhook(secret).sign(event_id, at, body)
    return {"Webhook-Id": event_id, "WEBHOOK-TIMESTAMP": f"{at.timestamp():.0f}", "webhook-signature": signature}


def verify(headers: dict[str, str], body: bytes | str = BODY, *secrets: str, **options: Any) -> str:
    return verify_webhook(body, headers, *(secrets or (SECRET,)), **{"now_s": NOW.timestamp()} | options).id


def test_a_delivery_is_read() -> None:
    received = verify_webhook(BODY.encode(), sign(), SECRET, now_s=NOW.timestamp())
    assert received.id == "evt_1"
    assert received.event.data.transactions[0].timestamp.tzinfo is not None


def test_one_right_signature_is_enough_with_either_secret() -> None:
    old, new = sign(secret=OTHER)["webhook-signature"], sign()["webhook-signature"]
    both = sign() | {"webhook-signature": f"v1a,abcd {old} {new}"}
    assert verify(both) == verify(both, BODY, OTHER) == verify(sign(), BODY, OTHER, SECRET) == "evt_1"
    given = verify_webhook(BODY, sign(), [OTHER, SECRET], now_s=NOW.timestamp())
    assert given.id == verify_webhook(BODY, sign(), OTHER, (SECRET,), now_s=NOW.timestamp()).id == "evt_1"


@pytest.mark.parametrize("seconds", [-300, 300])
def test_five_minutes_are_tolerated(seconds: int) -> None:
    assert verify(sign(), now_s=NOW.timestamp() + seconds) == "evt_1"


@pytest.mark.parametrize("seconds", [-301, 301, 10**9])
def test_more_is_not(seconds: int) -> None:
    with pytest.raises(WebhookRefused, match="is the clock right"):
        verify(sign(), now_s=NOW.timestamp() + seconds)


@pytest.mark.parametrize(
    "change",
    [
        {"Webhook-Id": "evt_2"}, {"WEBHOOK-TIMESTAMP": "1772366401"}, {"WEBHOOK-TIMESTAMP": "nan"}, {"Webhook-Id": ""},
        {"webhook-signature": ""}, {"webhook-signature": "v1,"}, {"webhook-signature": "v1,é\udc80"},
        {"webhook-signature": sign(secret=OTHER)["webhook-signature"]}, {"Webhook-Id": "\udc80"},
        {"webhook-signature": sign()["webhook-signature"].replace("v1,", "v2,")},
        {"webhook-signature": sign()["webhook-signature"].replace("v1,", "")},
    ],
)  # fmt: skip
def test_what_was_changed_is_refused(change: dict[str, str]) -> None:
    with pytest.raises(WebhookRefused):
        verify(sign() | change)


def test_a_body_that_was_written_again_is_refused() -> None:
    with pytest.raises(WebhookRefused, match="the body untouched"):
        verify(sign(), json.dumps(json.loads(BODY)))


@pytest.mark.parametrize("missing", sign())
def test_a_header_that_is_missing_is_named(missing: str) -> None:
    with pytest.raises(WebhookRefused, match="missing"):
        verify({name: value for name, value in sign().items() if name != missing})


@pytest.mark.parametrize("secret", ["", "whsec_", "whsec_AAAA", "whsec_é", "sk_test_abc", "whsec_" + "*" * 44])
def test_a_secret_that_is_none_is_refused(secret: str) -> None:
    with pytest.raises(ValueError, match="no webhook's secret"):
        verify(sign(), BODY, secret)


def test_some_secret_has_to_be_given() -> None:
    with pytest.raises(ValueError, match="give the subscription's secret"):
        verify_webhook(BODY, sign(), [])
    with pytest.raises(ValueError, match="give the subscription's secret"):
        verify_webhook(BODY, sign())


@pytest.mark.parametrize("body", ["[]", "{}", "no json", '{"event": {"type": "new"}}'])
def test_what_is_signed_but_unknown_is_told_apart(body: str) -> None:
    with pytest.raises(WebhookUnreadable):
        verify(sign(body), body)


@pytest.mark.parametrize(("name", "value"), [("body", {"event": {}}), ("body", None), ("headers", None)])
def test_what_is_no_body_or_no_headers_is_named(name: str, value: object) -> None:
    given: dict[str, Any] = {"body": BODY, "headers": sign(), name: value}
    with pytest.raises(TypeError, match=f"{name} is the"):
        verify_webhook(given["body"], given["headers"], SECRET)
