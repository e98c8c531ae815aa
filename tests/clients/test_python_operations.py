"""The Python client has every operation, asks it as the document says, and reads the answers that it shows."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import anyio
import httpx
import pytest
from crosschain_checkout_client import AsyncCheckoutClient, CheckoutClient, OrderFilter, models
from crosschain_checkout_client.wire import NotAsDescribed, read_value
from jsonschema_rs import Draft202012Validator

from api.openapi.document import list_operations
from tests.clients.document_samples import list_samples
from tests.clients.generation.service_document import read_service_document

URL = "https://pay.example"
ONE, OTHER = "0x" + "12" * 20, "0x" + "ab" * 20
LINK: models.NewPaymentLink = {
    "line_items": [{"title": "Tea", "quantity": 1, "unit_price": {"amount": 10**18, "decimals": 18}}],
    "order_price": {"currency": "USDC", "amount": 10**18, "decimals": 18},
    "env_mode": "test",
    "success_callback_url": "https://shop.example/paid",
    "cancel_callback_url": "https://shop.example/cart",
    "failure_callback_url": "https://shop.example/failed",
    "metadata": {"amount": "12"},
    "expires_at": datetime(2026, 3, 2, tzinfo=UTC),
}
QUOTE = {
    "from_chain": 1,
    "to_chain": 10,
    "from_token": ONE,
    "to_token": OTHER,
    "from_amount": 10**30,
    "slippage_bps": 5,
}
ROUTE: models.RouteQuery = {
    "from_chain_id": 1, "to_chain_id": 10, "from_token": ONE, "to_token": OTHER, "input_amount": 10**30, "max_hops": 3,
    "deny_protocols": ["across"], "payer": ONE, "recipient": OTHER,
}  # fmt: skip
FILTER: OrderFilter = {
    "status": ["success", "refunded"],
    "status_reason": "",
    "env_mode": "test",
    "metadata": {"cart": "7", "gift": True, "size": 1.5, "note": None, "a b&c": "ü=1"},
    "payer": ONE,
    "transaction_hash": "0x" + "5f" * 32,
    "created_from": datetime(2026, 3, 1, tzinfo=timezone(timedelta(hours=1))),
    "created_to": datetime(2026, 4, 1, tzinfo=UTC),
    "updated_from": datetime(2026, 3, 1, tzinfo=UTC),
    "updated_to": datetime(2026, 4, 1, tzinfo=UTC),
}
CALLS: dict[str, tuple[Callable[[Any], Any], type]] = {
    "createPaymentLink": (lambda c: c.payment_links.create(**LINK), models.PaymentLink),
    "listPaymentOrders": (lambda c: c.orders.list(**FILTER, limit=5), models.PaymentOrder),
    "exportPaymentOrders": (lambda c: c.orders.export(**FILTER), str),
    "getPaymentOrder": (lambda c: c.orders.get("po_1"), models.PaymentOrder),
    "cancelPaymentOrder": (lambda c: c.orders.cancel("po_1"), models.PaymentOrder),
    "refundPaymentOrder": (lambda c: c.orders.refund("po_1", amount=5, to=ONE, note="RMA 7"), models.PaymentOrder),
    "cancelRefund": (lambda c: c.orders.cancel_refund("po_1", "rf_1"), models.PaymentOrder),
    "simulatePaymentOrder": (lambda c: c.orders.simulate("po_1", "pay"), models.PaymentOrder),
    "changePaymentOrder": (lambda c: c.orders.change_metadata("po_1", {"cart": "8"}), models.PaymentOrder),
    "listRefunds": (
        lambda c: c.refunds.list(
            status=["requested", "sent"],
            env_mode="test",
            payment_order_id="po_1",
            limit=5,
            cursor="rf_1",
            created_from=FILTER["created_from"],
            created_to=FILTER["created_to"],
        ),
        models.ListedRefund,
    ),
    "exportTransfers": (
        lambda c: c.transfers.export(moved_from=FILTER["created_from"], moved_to=FILTER["created_to"], env_mode="test"),
        str,
    ),
    "listUnmatchedTransfers": (lambda c: c.transfers.list(limit=5, cursor="tr_1"), models.UnmatchedTransfer),
    "assignUnmatchedTransfer": (lambda c: c.transfers.assign("tr_1", "po_1"), models.PaymentOrder),
    "getRoutes": (lambda c: c.routes.find(tokens="once", **ROUTE), models.Route),
    "getRouteStatus": (
        lambda c: c.routes.follow(chain_id=1, transaction_hash="0x" + "5f" * 32),
        models.FollowedTransaction,
    ),
    "getQuote": (lambda c: c.quotes.get(**QUOTE), models.Quote),
    "readQuote": (lambda c: c.quotes.read("qt_1"), models.Quote),
    "replayQuote": (lambda c: c.quotes.replay("qt_1"), models.Quote),
    "archiveQuote": (lambda c: c.quotes.archive("qt_1"), models.QuoteArchive),
    "listTokens": (lambda c: c.tokens.list(chain_id=1, search="usd", limit=5), models.Token),
    "createWebhookSubscription": (
        lambda c: c.webhooks.create(webhook_url=URL, env_mode="test"),
        models.SecretSubscription,
    ),
    "listWebhookSubscriptions": (lambda c: c.webhooks.list(env_mode="test"), list),
    "getWebhookSubscription": (lambda c: c.webhooks.get("ep_1"), models.Subscription),
    "changeWebhookSubscription": (
        lambda c: c.webhooks.change("ep_1", events=["payment_refunded"]),
        models.Subscription,
    ),
    "deleteWebhookSubscription": (lambda c: c.webhooks.delete("ep_1"), type(None)),
    "testWebhookSubscription": (lambda c: c.webhooks.send_test("ep_1", type="payment_failed"), str),
    "rotateWebhookSecret": (lambda c: c.webhooks.rotate_secret("ep_1"), models.SecretSubscription),
    "enableWebhookSubscription": (lambda c: c.webhooks.enable("ep_1"), models.Enabled),
    "redeliverMissedEvents": (lambda c: c.webhooks.redeliver_missed("ep_1", "evt_1", limit=5), models.RedeliveredPage),
    "listWebhookDeliveries": (
        lambda c: c.webhooks.list_deliveries(
            "ep_1", limit=5, status=["failed", "cancelled"], event_id="evt_1", payment_order_id="po_1"
        ),
        models.Delivery,
    ),
    "redeliverWebhookDelivery": (lambda c: c.webhooks.redeliver("dlv_1"), models.Delivery),
    "listEvents": (
        lambda c: c.events.list(
            since=datetime(2026, 3, 1, tzinfo=UTC), type="payment_refunded", payment_order_id="po_1", limit=5
        ),
        models.ListedEvent,
    ),
    "getEvent": (lambda c: c.events.get("evt_1"), models.ListedEvent),
    "getBranding": (lambda c: c.branding.get(), models.Brand),
    "updateBranding": (lambda c: c.branding.update(display_name="Tea & Co"), models.Brand),
    "getApiKey": (lambda c: c.api_keys.get(), models.ApiKey),
}
DOCUMENT = read_service_document()
SAMPLES = list_samples(DOCUMENT)


def test_every_operation_is_there() -> None:
    assert CALLS.keys() == SAMPLES.keys(), "give new operations to both clients, or name them in LEFT_OUT"


LISTS = {"status", "status_reason"}


def fold_query(params: httpx.QueryParams) -> dict[str, str | list[str] | dict[str, str]]:
    """Return a query, with `name[key]` gathered as `name`, which is OpenAPI's style `deepObject`, and lists as such."""
    folded: dict[str, Any] = {}
    for name, value in params.multi_items():
        if (found := re.fullmatch(r"(\w+)\[(.+)\]", name)) is not None:
            folded.setdefault(found[1], {})[found[2]] = value
        elif name in LISTS:
            folded.setdefault(name, []).append(value)
        else:
            folded[name] = value
    return folded


class Service:
    """Answers as the document shows, and holds each request to it."""

    def __init__(self, name: str) -> None:
        self.sample = SAMPLES[name]
        (self.operation,) = (each for _, _, each in list_operations(DOCUMENT) if each["operationId"] == name)
        self.asked = 0

    def answer(self, request: httpx.Request) -> httpx.Response:
        self.asked += 1
        path = re.sub(r"\{\w+\}", "[^/]+", self.sample["path"])
        assert request.method == self.sample["method"]
        assert re.fullmatch(path, request.url.path), request.url
        assert request.headers["X-Api-Key"] == "sk_test_1"
        assert ("Idempotency-Key" in request.headers) == (request.method == "POST")
        parameters = {each["name"]: each for each in self.operation["parameters"] if each["in"] == "query"}
        for key, value in fold_query(request.url.params).items():
            schema = parameters[key]["schema"] | {"components": DOCUMENT["components"]}
            given = int(str(value)) if schema.get("type") == "integer" else value
            assert Draft202012Validator(schema).is_valid(given), (key, value)
        body = self.operation.get("requestBody", {}).get("content", {}).get("application/json")
        if body is not None:
            schema = body["schema"] | {"components": DOCUMENT["components"]}
            Draft202012Validator(schema).validate(json.loads(request.content))
        answer = self.sample["answer"]
        if isinstance(answer, str):
            assert request.headers["Accept"] == "text/csv"
            return httpx.Response(200, text=answer)
        # The last page, or a list would go on with the same one.
        last = {"next_cursor": None} if request.method == "GET" else {}
        return httpx.Response(200, json=answer | last)


@pytest.mark.parametrize("name", CALLS)
def test_it_asks_and_reads_as_the_document_says(name: str) -> None:
    act, kind = CALLS[name]
    service = Service(name)
    with CheckoutClient(URL, "sk_test_1", transport=httpx.MockTransport(service.answer)) as client:
        found = act(client)
        for each in list(found) if isinstance(found, Iterator) else [found]:
            assert isinstance(each, kind)
    assert service.asked == 1


@pytest.mark.parametrize("name", CALLS)
def test_it_does_so_awaited(name: str) -> None:
    act, kind = CALLS[name]
    service = Service(name)

    async def ask() -> None:
        transport = httpx.MockTransport(service.answer)
        async with AsyncCheckoutClient(URL, "sk_test_1", transport=transport) as client:
            found = act(client)
            read = [each async for each in found] if hasattr(found, "__aiter__") else [await found]
            assert all(isinstance(each, kind) for each in read)

    anyio.run(ask)
    assert service.asked == 1


def test_lists_go_on_with_the_next_page_until_the_last() -> None:
    order = SAMPLES["getPaymentOrder"]["answer"]
    asked = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(dict(request.url.params))
        number = len(asked)
        data = [order | {"payment_order_id": f"po_{number}{letter}"} for letter in "ab"]
        return httpx.Response(200, json={"data": data, "next_cursor": f"po_{number}b" if number < 3 else None})

    with CheckoutClient(URL, transport=httpx.MockTransport(answer)) as client:
        orders = client.orders.list(limit=2)
        assert next(orders).payment_order_id == "po_1a"
        assert asked == [{"limit": "2"}]
        assert [each.payment_order_id for each in orders] == ["po_1b", "po_2a", "po_2b", "po_3a", "po_3b"]
    assert asked[1:] == [{"limit": "2", "cursor": "po_1b"}, {"limit": "2", "cursor": "po_2b"}]


def test_filters_are_written_as_the_document_says() -> None:
    asked = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(fold_query(request.url.params))
        return httpx.Response(200, json={"data": [], "next_cursor": None})

    with CheckoutClient(URL, transport=httpx.MockTransport(answer)) as client:
        client.orders.get_page(**FILTER, limit=5)
        client.orders.get_page(status=None, metadata=None)
        with pytest.raises(ValueError, match="no time zone"):
            client.orders.get_page(created_from=datetime(2026, 3, 1))
    metadata = {"cart": "7", "gift": "true", "size": "1.5", "note": "null", "a b&c": "ü=1"}
    assert asked[0] == {
        "status": ["success", "refunded"], "status_reason": [""], "env_mode": "test", "limit": "5",
        "metadata": metadata, "payer": ONE, "transaction_hash": "0x" + "5f" * 32,
        "created_from": "2026-03-01T00:00:00+01:00", "created_to": "2026-04-01T00:00:00+00:00",
        "updated_from": "2026-03-01T00:00:00+00:00", "updated_to": "2026-04-01T00:00:00+00:00",
    }  # fmt: skip
    assert asked[1:] == [{}]


def test_answers_have_integers_moments_and_what_is_new_is_left_out() -> None:
    order = json.loads(json.dumps(SAMPLES["getPaymentOrder"]["answer"]))
    order["order_price"] |= {"amount": 2**255 + 1, "amount_string": str(2**255 + 1)}
    order |= {"amount_due": str(2**256 - 1), "metadata": {"amount": "12"}, "new_property": 1, "status_reason": "new"}
    read = read_value(models.PaymentOrder, order)
    assert (read.order_price.amount, read.amount_due) == (2**255 + 1, 2**256 - 1)
    assert read.metadata == {"amount": "12"}
    assert read.created_at.tzinfo is not None
    assert read.status_reason == "new"


@pytest.mark.parametrize("wrong", [{"amount_due": "1.5"}, {"amount_due": "-1"}, {"created_at": "soon"}, {"payable": 1}])
def test_what_is_not_as_described_is_named(wrong: dict[str, object]) -> None:
    with pytest.raises(NotAsDescribed, match=f"^{next(iter(wrong))} is"):
        read_value(models.PaymentOrder, SAMPLES["getPaymentOrder"]["answer"] | wrong)


def test_what_would_lead_elsewhere_is_refused() -> None:
    client = CheckoutClient(URL, "sk_test_1", transport=httpx.MockTransport(lambda _: httpx.Response(500)))
    for order_id in ("", "..", "a/b", "po_1?x=1", "po_1\n"):
        with pytest.raises(ValueError, match="is no id"):
            client.orders.get(order_id)
    with pytest.raises(ValueError, match="no time zone"):
        client.payment_links.create(**LINK | {"expires_at": datetime(2026, 3, 2)})
    for address in ("", "pay.example", "ftp://pay.example"):
        with pytest.raises(ValueError, match="no address"):
            CheckoutClient(address)
    assert "sk_test_1" not in repr(client)
    client.close()
