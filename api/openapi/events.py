"""What webhooks get, for each type of event."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from api.domain.events import EventType

SUMMARIES: Mapping[EventType, str] = {
    EventType.PROCESSING: "An order was created, or a payment for it was seen",
    EventType.SUCCESS: "An order is paid: the money is with the merchant, and final for its amount",
    EventType.FAILED: "An order failed, expired or was cancelled, or money came that has to be sent back",
    EventType.REFUNDED: "Money of an order went back to a customer; only for subscriptions that name this type",
    EventType.UNMATCHED: "Money came that belongs to no order; only for subscriptions that name this type",
}
HEADERS = {
    "webhook-id": (
        "Id of the event, the same in every attempt: handle each once",
        "evt_01kjmr9w2c7g5v0n3b6x8y4z1d9s7k5m2ht",
    ),
    "webhook-timestamp": ("Seconds since 1970 of this attempt", "1772366400"),
    "webhook-signature": (
        "`v1,` and the base64 of HMAC-SHA256 over `webhook-id.webhook-timestamp.body`, by the subscription's secret; "
        "several with spaces between them while a secret is being replaced",
        "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
    ),
}
DESCRIPTION = (
    "Sent to the subscriptions of the order's environment, signed as Standard Webhooks 1.0.0 says. Answer with any "
    "status of 2xx within 15 seconds. Anything else is tried again after 5 seconds, 5 and 30 minutes, 2, 5, 10, 14, 20 "
    "and 24 hours; 410 ends the subscription."
)


def describe_webhooks(example: Mapping[str, Any]) -> dict[str, Any]:
    """Describe a request to a merchant for each type of event.

    Parameters
    ----------
    example : mapping
        Body of some event.
    """
    return {str(kind): {"post": _describe_event(kind, example)} for kind in EventType}


def _describe_event(kind: EventType, example: Mapping[str, Any]) -> dict[str, Any]:
    body = {"event": {**example["event"], "type": str(kind)}}
    words = "".join(part.capitalize() for part in kind.split("_"))
    return {
        "operationId": f"on{words}",
        "tags": ["webhooks"],
        "summary": SUMMARIES[kind],
        "description": DESCRIPTION,
        "security": [],
        "parameters": [
            {
                "in": "header",
                "name": name,
                "required": True,
                "description": text,
                "schema": {"type": "string"},
                "example": shown,
            }
            for name, (text, shown) in HEADERS.items()
        ],
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/WebhookBody"}, "example": body}},
        },
        "responses": {
            "2XX": {"description": "The event was received"},
            "410": {"description": "No more events are wanted; the subscription is disabled"},
        },
    }
