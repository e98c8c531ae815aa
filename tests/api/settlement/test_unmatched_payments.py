"""Payments without evidence: listed, and assigned to an order by their merchant or the operator, once."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner
from sqlalchemy import select

from api.cli.commands import main
from api.domain.errors import Conflict, NotFound
from api.services.settlement.crediting.unmatched_transfers import assign
from api.storage.tables import Payment
from tests.api.conftest import Merchant
from tests.support.shop import Shop
from tests.support.simulated_payments import ETH_PRICE, send

USDC_BASE = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"


def test_an_unmatched_payment_can_be_assigned_once(shop: Shop) -> None:
    first, second = shop.create(), shop.create()
    send(shop, first, 10**6, reference=None)
    shop.wait(5)
    (payment,) = shop.payments()
    with shop.resources.database.write() as session:
        assert assign(session, payment.public_id, first, shop.clock.now()).status == "processing"
    shop.wait(1)
    assert shop.history(first) == ["created/", "processing/", "success/"]
    for order_id in (first, second):
        with pytest.raises(Conflict, match="belongs to"), shop.resources.database.write() as session:
            assign(session, payment.public_id, order_id, shop.clock.now())


@pytest.mark.rule("evidence.13")
def test_a_payment_can_be_assigned_to_an_order_that_is_closed_or_waits_for_another_token(shop: Shop) -> None:
    closed, other = shop.create(), shop.create(order_price=ETH_PRICE)
    shop.post(f"/api/v1/payment/{closed}/cancel")
    for order_id in (closed, other):
        send(shop, order_id, 10**6, reference=None, token_address=USDC_BASE)
    shop.wait(5)
    now = shop.clock.now()
    with shop.resources.database.write() as session:
        first, second = (row.public_id for row in session.scalars(select(Payment).order_by(Payment.id)))
        assert assign(session, first, closed, now).status == "cancelled"
        assert assign(session, second, other, now).status == "processing"
    shop.wait(1)
    assert shop.history(closed)[-1] == "cancelled/paid_after_close"
    assert shop.history(other)[-1] == "processing/wrong_token"


def test_what_can_not_be_assigned(shop: Shop, other_merchant: Merchant) -> None:
    rival = Shop(client=shop.client, resources=shop.resources, clock=shop.clock, merchant=other_merchant)
    order_id, rivals = shop.create(), rival.create()
    send(shop, order_id, 10**6, reference=b"?" * 16)
    shop.wait(2)
    (payment,) = shop.payments()
    now = shop.clock.now()
    with shop.resources.database.write() as session:
        for missing in ((payment.public_id, "po_nothing"), ("tr_nothing", order_id)):
            with pytest.raises(NotFound):
                assign(session, *missing, now)
        with pytest.raises(Conflict, match="The transfer went to"):
            assign(session, payment.public_id, rivals, now)
    with shop.resources.database.write() as session:
        session.get_one(Payment, payment.id).state = "reorged"
        session.flush()
        with pytest.raises(Conflict, match="not on its chain"):
            assign(session, payment.public_id, order_id, now)


@pytest.mark.rule("evidence.12", "evidence.13")
def test_the_operator_lists_and_assigns(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", shop.resources.config.database_url)
    order_id = shop.create(expires_at="2026-03-31T12:00:00Z")
    tx_hash = send(shop, order_id, 10**6, reference=b"?" * 16)
    shop.wait(5)
    run = CliRunner().invoke
    listed = run(main, ["payments", "unmatched", "--env", "test", "--json"])
    row = json.loads(listed.stdout)
    assert (row["transaction_hash"], row["amount"], row["reason"]) == (tx_hash, "1000000", "no_order")
    assert row["vendor"] == "Tea & Co"
    assert (row["token_symbol"], row["token_decimals"]) == ("USDC", "6")
    header, shown = run(main, ["payments", "unmatched", "--env", "test"]).stdout.splitlines()
    assert shown.index(tx_hash) == header.index("transaction hash")
    assert shown.index("1.00 USDC") == header.index("whole")
    assert shown.index("Tea & Co") == header.index("vendor")
    done = run(main, ["payments", "assign", row["transfer_id"], order_id])
    assert done.exit_code == 0, done.output
    assert "processing" in done.stdout
    assert "Every payment belongs to an order" in run(main, ["payments", "unmatched", "--env", "test"]).stderr
    again = run(main, ["payments", "assign", row["transfer_id"], order_id])
    assert again.exit_code == 1
