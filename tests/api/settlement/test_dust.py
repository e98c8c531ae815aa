"""A stranger sends one order thousands of transfers of one unit each: nobody else waits for that."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import event, insert, select

from api.context import replace_database
from api.domain.duties import Duty
from api.domain.transfers import TransferKind
from api.services.orders.main_transactions import MOST, choose_main
from api.services.resources import Resources
from api.services.settlement.watching.watcher import watch
from api.storage.fencing import Fence
from api.storage.tables import Payment, PaymentOrder
from api.worker.leases import Leases
from routing_engine.reference import token_registry
from tests.api.conftest import Merchant
from tests.support.shop import LINK, Shop
from tests.support.simulated_payments import send

SPECKS = 6_000
LATEST = datetime(2026, 3, 1, 12, tzinfo=UTC)


def add_specks(resources: Resources, order_id: str, count: int) -> None:
    """Let an order that has one transfer have so many more like it, each in a transaction of its own."""
    with resources.database.write() as session:
        row = session.scalars(select(Payment).where(Payment.order_id == order_id)).one()
        columns = (each.key for each in Payment.__mapper__.column_attrs)
        values = {name: getattr(row, name) for name in columns if name not in ("id", "public_id")}
        specks = [{**values, "tx_hash": f"0x{number:064x}", "log_index": number % 200} for number in range(count)]
        session.execute(insert(Payment), specks)


@pytest.mark.parametrize("database", ["postgresql"], indirect=True, scope="session")
def test_dust_for_one_order_keeps_no_other_from_being_credited(
    shop: Shop, resources: Resources, app: Flask, other_merchant: Merchant
) -> None:
    """Each look took 16 seconds, and a worker's transaction is ended after four that it stands still."""
    order_id = shop.create()
    send(shop, order_id, 1)
    shop.wait(5)
    add_specks(resources, order_id, SPECKS)
    other, headers = app.test_client(), other_merchant.headers()
    made = other.post("/api/v1/payment_link", json=LINK, headers=headers).get_json()["payment_order_id"]
    other.post(f"/api/v1/payment/{made}/simulate", json={"action": "pay"}, headers=headers)
    send(shop, order_id, 1)
    leases = Leases(resources.database, lease_s=3600)
    fence = Fence(duty=Duty.CHAINS, token=leases.keep([Duty.CHAINS])[Duty.CHAINS])
    for _ in range(3):
        shop.clock.set(shop.clock.now() + timedelta(seconds=5))
        watch(replace_database(resources, resources.database.fenced(fence)))
    leases.close()
    answer = other.get(f"/api/v1/payment/{made}", headers=headers).get_json()
    assert answer["payment_order_status"] == "success"


@pytest.mark.parametrize("database", ["sqlite"], indirect=True, scope="session")
def test_thousands_of_specks_make_no_event_and_no_page_large(
    shop: Shop, resources: Resources, client: FlaskClient
) -> None:
    """Five thousand made each event 696 kB and the page 2.5 MB."""
    order_id = shop.create()
    send(shop, order_id, 1)
    shop.wait(5)
    few = len(client.get(f"/payment/{order_id}").data)
    add_specks(resources, order_id, SPECKS)
    shop.simulate(order_id, "pay")
    shop.wait(5)
    order, newest = shop.order(order_id), shop.events(order_id)[-1]
    assert order["payment_order_status"] == "success"
    assert int(order["amount_received"]) == int(order["settlement"]["amount"]) + SPECKS
    assert len(order["transactions"]) == len(order["transfers"]) == SPECKS + 2
    told = newest["data"]
    assert len(told["transactions"]) == MOST
    assert told["transactions_left_out"] == SPECKS + 2 - MOST
    assert told["transaction_hash"] in [each["hash"] for each in told["transactions"]]
    assert len(json.dumps(newest)) < 20_000
    page = client.get(f"/payment/{order_id}").data
    assert len(page) < few + 1_000 * MOST
    assert b"5,902 more transactions" in page
    asked: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        asked.append(statement)

    event.listen(resources.database.engine, "before_cursor_execute", note)
    try:
        state = client.get(f"/payment/{order_id}/status").get_json()
    finally:
        event.remove(resources.database.engine, "before_cursor_execute", note)
    assert len(asked) < MOST + 20  # one for each speck took seconds at each look
    assert len(state["transactions"]) == MOST
    assert told["transaction_hash"] in [each["hash"] for each in state["transactions"]]


def test_what_is_notable_is_told_however_many_specks_there_are() -> None:
    usdc, dai = token_registry.token("USDC", 8453), token_registry.token("DAI", 8453)
    order = PaymentOrder(
        settlement_chain_id=8453,
        settlement_token_address=usdc.address,
        settlement_token_symbol="USDC",
        settlement_token_decimals=6,
        settlement_amount=25_000_000,
    )

    def make(number: int, amount: int, **changes: Any) -> Payment:
        values = {"kind": TransferKind.PAYMENT, "chain_id": 8453, "token_address": usdc.address, "is_built": False}
        mined_at = LATEST - timedelta(seconds=number)
        return Payment(**(values | {"amount": amount, "tx_hash": f"0x{number:064x}", "mined_at": mined_at} | changes))

    deposit = {"chain_id": 10, "kind": TransferKind.DEPOSIT}
    main = [
        make(9_001, 250_000),
        make(9_002, 5 * 10**18, token_address=dai.address),
        make(9_003, 25_000_000, source_tx_hash="0xde0"),
        make(9_004, 25_000_000, tx_hash="0xde0", **deposit),
        make(9_005, 1, is_built=True, **deposit),
        make(9_006, 1, kind=TransferKind.REFUND),
        make(9_007, 1_000),  # a crumb, and still more than a speck
    ]
    junk = [make(5_000 + number, 10**60, token_address="0x" + "77" * 20) for number in range(2 * MOST)]
    stray = [make(7_000 + number, 10**9, **deposit) for number in range(2 * MOST)]
    specks = [make(number, 1) for number in range(2 * MOST)]
    chosen = choose_main(order, [*main, *specks, *stray, *junk])
    assert len(chosen) == MOST
    newest = [(row.chain_id, row.tx_hash) for row in specks[: MOST - len(main)]]
    assert chosen == {*((row.chain_id, row.tx_hash) for row in main), *newest}
