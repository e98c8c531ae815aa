"""Which answer's ids which operations take, as links of OpenAPI: so that sequences are about things that exist."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from api.openapi.document import list_operations

ORDER, SUBSCRIPTION = "payment_order_id", "data/webhook_id"
SOURCES: dict[str, dict[str, str]] = {
    "order_id": {
        "createPaymentLink": ORDER,
        "getPaymentOrder": ORDER,
        "cancelPaymentOrder": ORDER,
        "simulatePaymentOrder": ORDER,
        "refundPaymentOrder": ORDER,
        "cancelRefund": ORDER,
        "changePaymentOrder": ORDER,
        "listPaymentOrders": f"data/0/{ORDER}",
        "listRefunds": f"data/0/{ORDER}",
    },
    "subscription_id": {
        "createWebhookSubscription": SUBSCRIPTION,
        "getWebhookSubscription": SUBSCRIPTION,
        "changeWebhookSubscription": SUBSCRIPTION,
        "rotateWebhookSecret": SUBSCRIPTION,
        "enableWebhookSubscription": SUBSCRIPTION,
        "listWebhookSubscriptions": "data/0/webhook_id",
    },
    "quote_id": {"getQuote": "quoteId", "readQuote": "quoteId", "replayQuote": "quoteId"},
    "event_id": {"listEvents": "data/0/id"},
    "delivery_id": {"listWebhookDeliveries": "data/0/delivery_id"},
    "transfer_id": {"listUnmatchedTransfers": "data/0/transfer_id"},
}
"""By the name of a parameter in a path, where its values come from: an operation, and where in its answer."""


def add_links(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document with a link from each source of an id to each operation that takes it."""
    operations = {each["operationId"]: each for _, _, each in list_operations(document)}
    for parameter, sources in SOURCES.items():
        for target in _find_takers(operations, parameter):
            for source, pointer in sources.items():
                links = operations[source]["responses"]["200"].setdefault("links", {})
                links[f"{target}By{parameter}"] = {
                    "operationId": target,
                    "parameters": {f"path.{parameter}": f"$response.body#/{pointer}"},
                }
    return document


def _find_takers(operations: dict[str, Any], parameter: str) -> Iterator[str]:
    for name, operation in operations.items():
        if any(each["name"] == parameter and each["in"] == "path" for each in operation["parameters"]):
            yield name
