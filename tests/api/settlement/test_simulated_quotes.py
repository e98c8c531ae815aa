"""Paying simulated with a quote: over a bridge, by a swap, and only with a quote of this order."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from api.services.checkout.quotes import quote_order
from api.services.simulator.order_state import NOT_ITS_QUOTE
from tests.support.shop import Shop

USDC_BASE = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"
NATIVE = "0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee"


@pytest.mark.rule("orders.6", "events.17")
def test_paying_from_another_chain_carries_both_transactions(shop: Shop) -> None:
    order_id = shop.create()
    quote = quote_order(shop.resources, order_id, 10, NATIVE)
    shop.simulate(order_id, "pay", quote_id=quote.quote_id)
    shop.wait(5)
    order = shop.order(order_id)
    deposit, fill = shop.transfers()
    assert (deposit.chain_id, deposit.token_address, deposit.amount) == (10, NATIVE, quote.amount_in)
    assert (fill.chain_id, fill.amount, fill.source_tx_hash) == (8453, 10**6, deposit.tx_hash)
    assert order["payment_order_status"] == "success"
    assert order["transaction_hash"] == deposit.tx_hash
    assert [(row["chain_id"], row["hash"]) for row in order["transactions"]] == [
        (10, deposit.tx_hash),
        (8453, fill.tx_hash),
    ]


def test_paying_with_a_quote_on_the_same_chain_is_one_transaction(shop: Shop) -> None:
    order_id = shop.create()
    quote = quote_order(shop.resources, order_id, 8453, NATIVE)
    shop.simulate(order_id, "pay", quote_id=quote.quote_id)
    shop.wait(3)
    assert [row["chain_id"] for row in shop.order(order_id)["transactions"]] == [8453]
    assert shop.order(order_id)["payment_order_status"] == "success"


def test_underpaying_with_a_quote_deposits_its_share(shop: Shop) -> None:
    order_id = shop.create()
    quote = quote_order(shop.resources, order_id, 10, NATIVE)
    shop.simulate(order_id, "underpay", quote_id=quote.quote_id)
    deposit, fill = shop.transfers()
    assert fill.amount == 500_000
    assert deposit.amount == (quote.amount_in + 1) // 2


def test_a_quote_must_be_this_orders_and_fresh(shop: Shop, assert_error: Callable[..., None]) -> None:
    order_id, other_id = shop.create(), shop.create()
    quote = quote_order(shop.resources, other_id, 10, NATIVE)
    assert_error(shop.act(order_id, "pay", quote_id=quote.quote_id), 404, {"quote_id": NOT_ITS_QUOTE})
    assert_error(shop.act(order_id, "pay", quote_id="qt_0"), 404)
    shop.clock.set(quote.expires_at)
    assert_error(shop.act(other_id, "pay", quote_id=quote.quote_id), 409, {"quote_id": "Ask for a new quote"})


def test_a_bridge_needs_two_chains(shop: Shop, assert_error: Callable[..., None]) -> None:
    order_id = shop.create()
    quote = quote_order(shop.resources, order_id, 8453, USDC_BASE)
    assert_error(shop.act(order_id, "bridge_delay", quote_id=quote.quote_id), 409)
    single = shop.create(order_price={"currency": "BRETT", "amount": 1, "decimals": 0})
    refused = shop.act(single, "bridge_fail")
    assert_error(refused, 409)
    assert "quote_id" in refused.get_json()["message"]
