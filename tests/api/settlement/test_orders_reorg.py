"""Blocks that are undone: a payment counts once, and not at all once its block is gone."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select

from api.app import build_app
from api.domain.env import EnvMode
from api.domain.ledger import Proof
from api.domain.transfers import get_key
from api.services.settlement.crediting.unmatched_transfers import list_unmatched
from api.services.simulator.ledger import SimulatedLedger
from api.storage.tables import Payment, PaymentOrder, SimulatedTransfer, WatchCursor
from tests.api.conftest import START
from tests.support.metrics import read_metrics
from tests.support.shop import Shop
from tests.support.simulated_payments import ETH_PRICE, read_order, send, undo_blocks


def test_looking_again_changes_nothing(shop: Shop) -> None:
    order_id = shop.create()
    send(shop, order_id, 10**6)
    shop.wait(5)
    before = (shop.order(order_id), shop.events(order_id))
    with shop.resources.database.write() as session:
        for cursor in session.scalars(select(WatchCursor)):
            cursor.block_number = cursor.final_number = 0
            cursor.block_hash = ""
    shop.wait(3)
    assert (shop.order(order_id), shop.events(order_id)) == before
    assert len(shop.payments()) == 1


@pytest.mark.rule("states.7")
def test_what_the_reorganisation_keeps_stays_credited(shop: Shop) -> None:
    lost, kept = shop.create(order_price=ETH_PRICE), shop.create(order_price=ETH_PRICE)
    send(shop, lost, 10**18)
    send(shop, kept, 10**18)
    shop.wait(1)
    block = shop.payments()[0].block_number or 0
    undo_blocks(shop, block, read_order(shop, lost).payment_reference)
    shop.wait(1)
    assert shop.history(lost) == ["created/", "processing/", "created/reorged"]
    assert shop.history(kept) == ["created/", "processing/"]
    shop.wait(4)
    assert shop.history(kept)[-1] == "success/"
    assert {row.state for row in shop.payments()} == {"final", "reorged"}
    assert len(shop.payments()) == 2


@pytest.mark.rule("confirmations.6")
def test_a_payment_lost_and_mined_again_is_credited_once(shop: Shop) -> None:
    order_id = shop.create(order_price=ETH_PRICE)
    tx_hash = send(shop, order_id, 10**18)
    shop.wait(1)
    first = shop.payments()[0]
    undo_blocks(shop, first.block_number or 0, read_order(shop, order_id).payment_reference)
    shop.wait(1)
    assert shop.order(order_id)["amount_received"] == "0"
    with shop.resources.database.write() as session:
        again = session.get_one(Payment, first.id)
        assert (again.state, again.block_number) == ("reorged", None)
    lost = [row for row in _all_transfers(shop) if row.tx_hash == tx_hash]
    _mine_again(shop, lost[0])
    shop.wait(5)
    assert shop.history(order_id) == ["created/", "processing/", "created/reorged", "processing/", "success/"]
    assert shop.order(order_id)["amount_received"] == str(10**18)
    assert len(shop.payments()) == 1


@pytest.mark.rule("closed.3", "closed.4")
@pytest.mark.parametrize("end", ["cancelled", "success", "expired"])
def test_what_is_mined_again_after_the_end_is_told_as_what_comes_anew(shop: Shop, end: str) -> None:
    order_id = shop.create()
    tx_hash = send(shop, order_id, 10**6)
    shop.wait(1)
    undo_blocks(shop, shop.payments()[0].block_number or 0, read_order(shop, order_id).payment_reference)
    shop.wait(1)
    assert shop.history(order_id)[-1] == "created/reorged"
    lost = next(row for row in _all_transfers(shop) if row.tx_hash == tx_hash)
    if end == "cancelled":
        shop.post(f"/api/v1/payment/{order_id}/cancel")
    elif end == "success":
        send(shop, order_id, 10**6)
        shop.wait(2)
    else:
        shop.clock.advance(hours=48, minutes=2)
        shop.wait(1)
    _mine_again(shop, lost)
    shop.wait(6)
    assert shop.history(order_id)[-1] == f"{end}/paid_after_close"
    told = [event for event in shop.events(order_id) if event["data"]["status_reason"] == "paid_after_close"]
    assert [(event["type"], event["data"]["transaction_hash"]) for event in told] == [("payment_failed", tx_hash)]


def test_what_endpoints_agree_on_only_after_the_end_is_told(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    order_id = shop.create()
    tx_hash = send(shop, order_id, 10**6)
    with monkeypatch.context() as patch:
        contradicted = Proof(is_contradicted=True)
        patch.setattr(
            SimulatedLedger, "prove", lambda ledger, chain, asked, _: dict.fromkeys(map(get_key, asked), contradicted)
        )
        shop.wait(2)
        assert [row.state for row in shop.payments()] == ["disputed"]
        assert shop.post(f"/api/v1/payment/{order_id}/cancel").status_code == 200
    shop.wait(3)
    assert shop.history(order_id)[-1] == "cancelled/paid_after_close"
    event = shop.events(order_id)[-1]
    assert (event["type"], event["data"]["transaction_hash"]) == ("payment_failed", tx_hash)
    shop.wait(3)
    assert shop.events(order_id)[-1] == event, "once"


def test_a_reorganisation_while_the_chain_is_read_loses_nothing(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """The block of the payment is replaced between the reading of the transfers and the writing of the cursor."""
    order_id = shop.create(order_price=ETH_PRICE)
    send(shop, order_id, 10**18)
    original, changed = SimulatedLedger.read, []

    def read_and_change(ledger: SimulatedLedger, chain_id: int, *args: Any) -> Any:
        reading = original(ledger, chain_id, *args)
        if reading.transfers and not changed:
            changed.append(undo_blocks(shop, reading.transfers[0].block.number))
        return reading

    monkeypatch.setattr(SimulatedLedger, "read", read_and_change)
    shop.wait(3)
    shop.wait(3)
    assert changed
    assert shop.history(order_id) == ["created/", "processing/", "success/"]
    assert shop.order(order_id)["amount_received"] == str(10**18)


def test_a_head_that_went_back_is_followed(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two nodes behind one address may not be equally far."""
    order_id = shop.create(order_price=ETH_PRICE)
    send(shop, order_id, 10**18)
    shop.wait(2)
    original = SimulatedLedger.read_head

    def behind(ledger: SimulatedLedger, chain_id: int) -> Any:
        now = original(ledger, chain_id)
        number = now.block.number - 6
        return replace(now, block=ledger.read_blocks(chain_id, [number])[number])

    with monkeypatch.context() as patch:
        patch.setattr(SimulatedLedger, "read_head", behind)
        shop.wait(1)
    assert shop.history(order_id)[-1] == "processing/"
    shop.wait(4)
    assert shop.history(order_id) == ["created/", "processing/", "success/"]
    assert len(shop.payments()) == 1


def test_a_reorganisation_after_expiry_ends_the_order(shop: Shop) -> None:
    order_id = shop.create(order_price=ETH_PRICE)
    shop.clock.set(START + timedelta(hours=24, seconds=-2))
    send(shop, order_id, 10**18)
    shop.wait(2)
    assert shop.history(order_id)[-1] == "processing/"
    undo_blocks(shop, shop.payments()[0].block_number or 0, read_order(shop, order_id).payment_reference)
    shop.wait(12)  # until every chain is known to have been read
    assert shop.history(order_id)[-2:] == ["created/reorged", "expired/expired"]


@pytest.mark.rule("confirmations.6")
def test_a_block_is_checked_until_the_payment_is_final_and_not_after(shop: Shop) -> None:
    order_id = shop.create()
    send(shop, order_id, 10**6)
    shop.wait(5)
    assert shop.history(order_id)[-1] == "success/"
    undo_blocks(shop, shop.payments()[0].block_number or 0, read_order(shop, order_id).payment_reference)
    shop.wait(5)
    assert shop.history(order_id)[-1] == "success/"


def lose(shop: Shop, order_id: str) -> Payment:
    """Let the chain lose the payment of an order that has just succeeded."""
    send(shop, order_id, 10**6)
    shop.wait(2)
    assert shop.history(order_id)[-1] == "success/"
    payment = shop.payments()[0]
    undo_blocks(shop, payment.block_number or 0, read_order(shop, order_id).payment_reference)
    shop.wait(1)
    return payment


def test_a_payment_lost_after_success_is_told_to_vendor_and_operator(shop: Shop) -> None:
    order_id = shop.create()
    payment = lose(shop, order_id)
    order, event = shop.order(order_id), shop.events(order_id)[-1]
    assert (order["payment_order_status"], order["status_reason"]) == ("success", "reorged")
    assert (order["amount_due"], order["amount_received"]) == ("1000000", "0")
    assert (event["type"], event["data"]["payment_order_status"]) == ("payment_failed", "success")
    with shop.resources.database.read() as session:
        (listed,) = list_unmatched(session, EnvMode.TEST)
    assert (listed["reason"], listed["claimed_order_id"]) == ("lost", order_id)
    metrics = read_metrics(build_app(shop.resources))
    assert 'checkout_payments_lost{env_mode="test"} 1.0' in metrics
    assert listed["transaction_hash"] == payment.tx_hash


def test_an_order_whose_payment_was_lost_takes_another(shop: Shop) -> None:
    order_id = shop.create()
    lose(shop, order_id)
    send(shop, order_id, 10**6)
    shop.wait(2)
    assert shop.history(order_id)[-3:] == ["success/", "success/reorged", "success/"]
    assert [event["type"] for event in shop.events(order_id)][-3:] == [
        "payment_success",
        "payment_failed",
        "payment_success",
    ]


def _all_transfers(shop: Shop) -> list[Any]:
    with shop.resources.database.read() as session:
        return list(session.scalars(select(SimulatedTransfer)))


def _mine_again(shop: Shop, lost: Any) -> None:
    tx_hash = send(shop, row_of_reference(shop, lost.reference), lost.amount)
    with shop.resources.database.write() as session:
        row = session.scalars(select(SimulatedTransfer).where(SimulatedTransfer.tx_hash == tx_hash)).one()
        row.tx_hash = lost.tx_hash


def row_of_reference(shop: Shop, reference: bytes) -> str:
    with shop.resources.database.read() as session:
        return session.scalars(select(PaymentOrder.id).where(PaymentOrder.payment_reference == reference)).one()
