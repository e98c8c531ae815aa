"""The Python client against the service as `checkout up` starts it."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from time import monotonic, sleep

import anyio
import pytest
from crosschain_checkout_client import AsyncCheckoutClient, CheckoutClient, OrderFilter, errors, models, verify_webhook

from tests.clients.conftest import PATIENCE_S, Inbox
from tests.support.running import RunningService

pytestmark = [pytest.mark.xdist_group("clients"), pytest.mark.timeout(240)]
SHOP = "http://localhost:3000"
USDC, USDC_THERE = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", "0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85"
LINK: models.NewPaymentLink = {
    "line_items": [{"title": "Tea", "quantity": 2}],
    "order_price": {"currency": "USDC", "amount": 12_500_000, "decimals": 6},
    "env_mode": "test",
    "success_callback_url": SHOP,
    "cancel_callback_url": SHOP,
    "failure_callback_url": SHOP,
}


@pytest.fixture
def checkout(service: RunningService) -> Iterator[CheckoutClient]:
    with CheckoutClient(service.url, service.key) as client:
        yield client


def wait_until_final(checkout: CheckoutClient, order_id: str) -> models.PaymentOrder:
    end = monotonic() + PATIENCE_S
    while True:
        order = checkout.orders.get(order_id)
        if {each.status for each in order.transfers} == {"final"}:
            return order
        assert monotonic() < end, order
        sleep(0.1)


@pytest.mark.rule("input.16")
def test_an_order_is_paid_told_of_and_given_back(checkout: CheckoutClient, inbox: Inbox) -> None:
    hook = checkout.webhooks.create(webhook_url=inbox.url, env_mode="test")
    made = checkout.payment_links.create(**LINK, metadata={"cart": "7"})
    assert checkout.orders.get(made.payment_order_id).amount_due == 12_500_000
    checkout.orders.simulate(made.payment_order_id, "pay")
    types: list[str] = []
    while "payment_success" not in types:
        received = verify_webhook(*inbox.take(), hook.secret)
        assert received.event.data.metadata == {"cart": "7"}
        types.append(received.event.type)
    order = wait_until_final(checkout, made.payment_order_id)
    assert order.amount_received == sum(each.amount for each in order.transfers) >= 12_500_000
    given_back = checkout.orders.refund(made.payment_order_id, amount=2_500_000, idempotency_key="refund-7")
    assert checkout.orders.refund(made.payment_order_id, amount=2_500_000, idempotency_key="refund-7") == given_back
    assert [each.amount for each in given_back.refunds] == [2_500_000]
    with pytest.raises(errors.KeyReused):
        checkout.orders.refund(made.payment_order_id, amount=1, idempotency_key="refund-7")
    heard = [each.event.type for each in checkout.events.list(limit=2)]
    assert heard.count("payment_success") >= 1
    (first,) = checkout.events.get_page(type="payment_success", limit=1).data
    assert checkout.events.get(first.id) == first
    assert checkout.webhooks.change(hook.webhook_id, events=["payment_refunded"]).events == ["payment_refunded"]
    assert checkout.webhooks.get(hook.webhook_id).events == ["payment_refunded"]
    checkout.webhooks.delete(hook.webhook_id)


def test_deliveries_are_signed_with_both_secrets_while_one_is_replaced(checkout: CheckoutClient, inbox: Inbox) -> None:
    old = checkout.webhooks.create(webhook_url=inbox.url, env_mode="test")
    new = checkout.webhooks.rotate_secret(old.webhook_id)
    event_id = checkout.webhooks.send_test(old.webhook_id, type="payment_failed")
    body, headers = inbox.take()
    for secrets in ([old.secret], [new.secret], [new.secret, old.secret]):
        received = verify_webhook(body, headers, *secrets)
        assert (received.id, received.event.type) == (event_id, "payment_failed")
    with pytest.raises(errors.WebhookRefused):
        verify_webhook(body.replace(b"payment_failed", b"payment_success"), headers, new.secret)
    end = monotonic() + PATIENCE_S
    while (delivery := next(checkout.webhooks.list_deliveries(old.webhook_id))).status != "delivered":
        assert monotonic() < end, delivery
        sleep(0.1)
    assert checkout.webhooks.redeliver(delivery.delivery_id).event_id == event_id
    assert verify_webhook(*inbox.take(), new.secret).id == event_id
    assert checkout.webhooks.enable(old.webhook_id).missed_since is None
    assert old.webhook_id in [each.webhook_id for each in checkout.webhooks.list()]
    checkout.webhooks.delete(old.webhook_id)
    with pytest.raises(errors.NotFound):
        checkout.webhooks.delete(old.webhook_id)


@pytest.mark.rule("money.12")
def test_amounts_of_any_size_come_back(checkout: CheckoutClient) -> None:
    price: models.NewOrderPrice = {"currency": "USDC", "amount": 2**70 + 1, "decimals": 21}
    made = checkout.payment_links.create(**LINK | {"order_price": price})
    assert checkout.orders.get(made.payment_order_id).order_price.amount == 2**70 + 1
    assert checkout.orders.cancel(made.payment_order_id).payment_order_status == "cancelled"


def test_the_same_key_makes_one_order_and_lists_go_over_pages(checkout: CheckoutClient) -> None:
    ids = [checkout.payment_links.create(**LINK, idempotency_key=f"list-{n % 4}").payment_order_id for n in range(8)]
    assert ids[:4] == ids[4:]
    assert len(set(ids)) == 4
    listed = [order.payment_order_id for order in checkout.orders.list(limit=3)]
    assert [each for each in listed if each in ids] == ids[3::-1]
    assert len(set(listed)) == len(listed)


def test_orders_are_found_by_what_they_have_and_exported(checkout: CheckoutClient) -> None:
    entries = {"cart": "ü&=[1]", "size": 1.5, "gift": True, "note": None}
    made = checkout.payment_links.create(**LINK, metadata=entries)
    since = datetime.now(UTC) - timedelta(hours=1)
    wanted: OrderFilter = {"metadata": entries, "status": "created", "created_from": since, "updated_from": since}
    assert [each.payment_order_id for each in checkout.orders.list(**wanted)] == [made.payment_order_id]
    others: list[OrderFilter] = [
        {"metadata": entries | {"gift": False}},
        {"created_from": since - timedelta(hours=1), "created_to": since},
        {"payer": USDC},
        {"transaction_hash": f"0x{1:064x}"},
    ]
    for other in others:
        assert not list(checkout.orders.list(**wanted | other))
    (exported,) = csv.DictReader(checkout.orders.export(**wanted))
    assert (exported["payment_order_id"], exported["price_amount"]) == (made.payment_order_id, "12500000")
    assert json.loads(exported["metadata"]) == entries
    with pytest.raises(errors.InvalidRequest):
        next(checkout.orders.export(payer="nobody"))


def test_transfers_that_belong_to_no_order(checkout: CheckoutClient) -> None:
    assert all(each.env_mode == "test" for each in checkout.transfers.list(limit=5))
    with pytest.raises(errors.NotFound):
        checkout.transfers.assign("tr_1", "po_1")


@pytest.mark.rule("keys.5")
def test_routes_quotes_and_tokens_need_no_key(service: RunningService) -> None:
    with CheckoutClient(service.url) as client:
        quote = client.quotes.get(from_chain=1, to_chain=10, from_token=USDC, to_token=USDC_THERE, from_amount=10**9)
        assert 99 * 10**7 < quote.to_amount_min <= quote.to_amount < 10**9
        assert client.quotes.read(quote.quote_id or "") == quote
        route = client.routes.find(
            from_chain_id=1, to_chain_id=10, from_token=USDC, to_token=USDC_THERE, output_amount=10**9, alternatives=1
        )
        assert route.output_amount >= 10**9
        assert route.steps[0].from_token.symbol == "USDC"
        assert "USDC" in [token.symbol for token in client.tokens.list(chain_id=1, limit=5)]
        with pytest.raises(errors.NoRoute) as refused:
            client.quotes.get(from_chain=1, to_chain=10, from_token=USDC, to_token=USDC_THERE, from_amount=10**40)
        assert refused.value.problems
        with pytest.raises(errors.Unauthorized):
            client.api_keys.get()


def test_a_refusal_names_the_property_and_the_request(checkout: CheckoutClient) -> None:
    with pytest.raises(errors.InvalidRequest) as refused:
        checkout.payment_links.create(**LINK | {"line_items": [{"title": "", "quantity": 0}]})
    assert {each.path for each in refused.value.problems} == {"line_items.0.title", "line_items.0.quantity"}
    assert refused.value.request_id
    with pytest.raises(errors.Forbidden):
        checkout.payment_links.create(**LINK | {"env_mode": "live"} | dict.fromkeys(
            ("success_callback_url", "cancel_callback_url", "failure_callback_url"), "https://shop.example"
        ))  # type: ignore[typeddict-item]  # fmt: skip


def test_it_can_be_awaited(service: RunningService) -> None:
    async def sell() -> None:
        async with AsyncCheckoutClient(service.url, service.key) as client:
            made = [await client.payment_links.create(**LINK) for _ in range(3)]
            listed = [order.payment_order_id async for order in client.orders.list(limit=2)]
            assert {each.payment_order_id for each in made} <= set(listed)
            lines = [line async for line in client.orders.export()]
            assert len(lines) > len(made)
            assert (await client.api_keys.get()).env_mode == "test"
            with pytest.raises(errors.NotFound):
                await client.orders.get("po_1")

    anyio.run(sell)
