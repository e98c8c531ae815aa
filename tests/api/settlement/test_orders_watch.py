"""What the watcher makes of a transfer: which order it pays, by its reference alone, and for how much."""

from __future__ import annotations

import pytest

from api.domain.transfers import TransferKind
from tests.api.conftest import Merchant
from tests.support.shop import Shop
from tests.support.simulated_payments import list_unmatched_reasons, read_order, send

USDC_OPTIMISM = "0x0b2c639c533813f4aa9d7837caf62653d097ff85"


@pytest.mark.rule("evidence.1")
def test_two_orders_and_two_payments_are_told_apart_by_their_references(shop: Shop) -> None:
    first, second = shop.create(), shop.create()
    send(shop, second, 10**6)
    send(shop, first, 10**6 + 7)
    shop.wait(2)
    assert [shop.order(order_id)["amount_received"] for order_id in (first, second)] == ["1000007", "1000000"]


@pytest.mark.rule("states.5")
def test_one_order_and_two_payments_add_up(shop: Shop) -> None:
    order_id = shop.create()
    send(shop, order_id, 400_000)
    send(shop, order_id, 600_000)
    shop.wait(2)
    order = shop.order(order_id)
    assert (order["payment_order_status"], order["amount_received"]) == ("success", "1000000")


@pytest.mark.rule("evidence.10")
def test_an_amount_proves_nothing(shop: Shop) -> None:
    """A payment without a reference is nobody's, also where only one order waits for just as much."""
    order_id = shop.create()
    send(shop, order_id, 10**6, reference=None)
    shop.wait(2)
    assert list_unmatched_reasons(shop) == [("no_order", None)]
    assert shop.history(order_id) == ["created/"]


@pytest.mark.rule("evidence.11")
@pytest.mark.parametrize("reference", [b"\x00" * 16, b"\xff" * 16])
def test_an_unknown_reference_is_kept_as_unmatched(shop: Shop, reference: bytes) -> None:
    send(shop, shop.create(), 10**6, reference=reference)
    shop.wait(2)
    assert list_unmatched_reasons(shop) == [("no_order", None)]


@pytest.mark.rule("states.19")
def test_a_reference_does_not_credit_what_another_vendor_received(shop: Shop, other_merchant: Merchant) -> None:
    rival = Shop(client=shop.client, resources=shop.resources, clock=shop.clock, merchant=other_merchant)
    order_id, rivals = shop.create(), rival.create()
    send(shop, order_id, 10**6, recipient=read_order(shop, rivals).settlement_address)
    shop.wait(2)
    assert list_unmatched_reasons(shop) == [("other_recipient", order_id)]
    assert shop.history(order_id) == ["created/"]


@pytest.mark.rule("states.19")
def test_what_nobody_receives_is_not_looked_at(shop: Shop) -> None:
    send(shop, shop.create(), 10**6, recipient="0x" + "77" * 20)
    shop.wait(2)
    assert shop.payments() == []


@pytest.mark.rule("states.20")
def test_the_right_token_on_the_wrong_chain_leaves_the_order_payable(shop: Shop) -> None:
    order_id = shop.create()
    send(shop, order_id, 10**6, chain_id=10, token_address=USDC_OPTIMISM)
    shop.wait(6)
    assert shop.history(order_id) == ["created/", "processing/wrong_token"]
    send(shop, order_id, 10**6)
    shop.wait(2)
    assert shop.history(order_id)[-1] == "success/"


@pytest.mark.rule("states.21")
def test_the_wrong_token_fails_the_order_at_its_expiry(shop: Shop) -> None:
    order_id = shop.create()
    send(shop, order_id, 10**6, chain_id=10, token_address=USDC_OPTIMISM)
    shop.wait(2)
    shop.clock.advance(hours=24)
    shop.wait(1)
    assert shop.history(order_id)[-1] == "failed/wrong_token"


@pytest.mark.rule("states.18")
def test_a_token_that_means_nothing_changes_nothing(shop: Shop) -> None:
    order_id = shop.create()
    send(shop, order_id, 10**30, token_address="0x" + "99" * 20)
    shop.wait(2)
    assert (shop.history(order_id), shop.payments()) == (["created/"], [])


def test_less_than_a_hundredth_changes_no_status_and_can_be_seen(shop: Shop) -> None:
    order_id = shop.create()
    send(shop, order_id, 9_999)
    send(shop, order_id, 9_999, chain_id=10, token_address=USDC_OPTIMISM)
    shop.wait(2)
    order = shop.order(order_id)
    assert shop.history(order_id) == ["created/"]
    assert [event["type"] for event in shop.events(order_id)] == ["payment_processing"]
    assert (order["amount_received"], order["amount_due"]) == ("9999", "990001")
    assert len(order["transfers"]) == len(order["transactions"]) == 2
    assert order["transaction_hash"] == ""


@pytest.mark.rule("orders.5")
def test_the_hash_is_the_transaction_that_paid_and_not_the_dust_before_it(shop: Shop) -> None:
    order_id = shop.create()
    send(shop, order_id, 1)
    tx_hash = send(shop, order_id, 10**6)
    shop.wait(2)
    assert shop.order(order_id)["transaction_hash"] == tx_hash


def test_a_deposit_for_nobodys_order_is_nobodys_business(shop: Shop) -> None:
    send(shop, shop.create(), 5, kind=TransferKind.DEPOSIT, reference=b"?" * 16)
    shop.wait(2)
    assert shop.payments() == []
