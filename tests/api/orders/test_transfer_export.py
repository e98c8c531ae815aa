"""Transfers as CSV: each one that reached a merchant or went back, once, with all that a month's books ask for."""

from __future__ import annotations

import csv
import io
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

from sqlalchemy import text

from api.domain.clock import format_time
from api.domain.env import EnvMode
from api.domain.transfer_filter import TransferFilter
from api.domain.transfers import TransferKind
from api.services.resources import Resources
from api.services.settlement.transfer_export import COLUMNS, PAGE, export_transfers, select_transfers
from api.services.simulator.wallet import PAYER
from routing_engine.reference import token_registry
from tests.api.conftest import Merchant
from tests.support.plans import explain_all
from tests.support.shop import Shop
from tests.support.simulated_payments import send, undo_blocks

Check = Callable[..., None]
PATH = "/api/v1/transfer.csv"
MANY = 20_000
STRETCH = 10
"""Pages over which memory is measured, twice."""
FINAL_S = 6


def read(shop: Shop, query: str = "") -> list[dict[str, str]]:
    answer = shop.get(PATH + query)
    assert answer.status_code == 200, answer.get_json()
    return list(csv.DictReader(io.StringIO(answer.get_data().decode("utf-8"), newline="")))


def multiply(resources: Resources, count: int) -> None:
    """Write many more transfers like the only one, each a second after the one before."""
    columns = (
        "kind, order_id, unmatched_reason, evidence, env_mode, token_address, amount, sender, recipient, bridge_id, "
    )
    columns += "is_built, is_overdue, is_rejected, is_inner, is_after_close, is_announced, has_receipt_proof, "
    columns += "has_second_opinion, block_number, block_hash, mined_at, confirmations, state, seen_at, updated_at"
    name = "'tr_0' || n.i" if resources.database.engine.dialect.name == "sqlite" else "'tr_0' || n.i::text"
    statement = f"""
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count})
        INSERT INTO payments (public_id, chain_id, tx_hash, log_index, {columns})
        SELECT {name}, chain_id, tx_hash, log_index + n.i, {columns} FROM payments, n
    """
    with resources.database.write() as session:
        session.execute(text(statement))
        session.execute(text("ANALYZE payments"))


def paid(shop: Shop, action: str = "pay") -> str:
    order_id = shop.create()
    shop.simulate(order_id, action)
    shop.wait(FINAL_S)
    return order_id


def test_every_transfer_is_a_line(shop: Shop) -> None:
    """An order that is paid twice and refunded in part, a wrong token, and what names no order."""
    first, wrong = paid(shop), paid(shop, "wrong_token")
    shop.wait(60)
    late, nameless = send(shop, first, 123_456), send(shop, first, 7_000_001, reference=None)
    shop.wait(FINAL_S)
    transfer = shop.order(first)["transfers"][0]
    shop.post(f"/api/v1/payment/{first}/refund", {"transfer": transfer["id"], "amount": "400000"})
    shop.wait(FINAL_S)
    rows = read(shop)
    assert list(rows[0]) == list(COLUMNS)
    named = [(row["kind"], row["payment_order_id"]) for row in rows]
    assert named[:2] == [("payment", first), ("payment", wrong)]
    assert sorted(named[2:4]) == [("payment", first), ("unmatched", "")], "they came in one block"
    assert named[4:] == [("refund", first)]
    paid_row, wrong_row, *_, refund_row = rows
    assert paid_row == {
        "moved_at": transfer["timestamp"],
        "kind": "payment",
        "status": "final",
        "payment_order_id": first,
        "transfer_id": transfer["id"],
        "refund_of": "",
        "env_mode": "test",
        "chain_id": "8453",
        "chain": "Base",
        "token_symbol": "USDC",
        "token_address": transfer["token"],
        "amount": "1000000",
        "amount_decimal": "1.000000",
        "is_settlement_token": "true",
        "is_after_close": "false",
        "payer": transfer["from"],
        "merchant_address": shop.order(first)["settlement"]["address"],
        "transaction_hash": transfer["hash"],
        "source_chain_id": "",
        "source_transaction_hash": "",
        "refund_note": "",
        "quoted_chain_id": "",
        "quoted_token_symbol": "",
        "quoted_token_address": "",
        "quoted_amount": "",
        "quoted_amount_decimal": "",
    }
    (other,) = shop.order(wrong)["transfers"]
    info = token_registry.info_of(8453, other["token"].lower())
    assert info is not None
    assert (wrong_row["token_symbol"], wrong_row["is_settlement_token"]) == (info.symbol, "false")
    assert (wrong_row["amount"], float(wrong_row["amount_decimal"])) == (other["amount"], 1.0)
    by_hash = {row["transaction_hash"]: row for row in rows}
    assert (by_hash[late]["amount_decimal"], by_hash[late]["is_after_close"]) == ("0.123456", "true")
    assert (by_hash[nameless]["amount_decimal"], by_hash[nameless]["is_settlement_token"]) == ("7.000001", "")
    (refund,) = shop.order(first)["refunds"]
    assert (refund_row["amount"], refund_row["transaction_hash"]) == ("400000", refund["hash"])
    assert (refund_row["refund_of"], refund_row["payer"]) == (transfer["id"], transfer["from"])
    assert refund_row["merchant_address"] == paid_row["merchant_address"]
    assert refund_row["moved_at"] == refund["timestamp"]


def test_what_a_bridge_delivered_has_its_deposit_and_who_made_it(shop: Shop) -> None:
    order_id = shop.create()
    shop.simulate(order_id, "bridge_delay")
    shop.wait(25)
    (row,) = read(shop)
    (deposit,) = (each for each in shop.payments() if each.kind == TransferKind.DEPOSIT)
    assert row["payer"].lower() == PAYER
    assert (row["source_chain_id"], row["source_transaction_hash"]) == (str(deposit.chain_id), deposit.tx_hash)


def test_a_transfer_is_in_the_range_in_which_it_moved(shop: Shop, assert_error: Check) -> None:
    """Ranges side by side have each transfer once: a refund in the month in which it went back."""
    order_id = paid(shop)
    (first,) = read(shop)
    shop.clock.advance(hours=30 * 24)
    shop.post(f"/api/v1/payment/{order_id}/refund", {})
    shop.wait(FINAL_S)
    _, second = read(shop)
    assert [row["kind"] for row in read(shop, f"?moved_from={second['moved_at']}")] == ["refund"]
    assert [row["kind"] for row in read(shop, f"?moved_to={second['moved_at']}")] == ["payment"]
    assert read(shop, f"?moved_from={first['moved_at']}&moved_to={second['moved_at']}&env_mode=test") == [first]
    assert_error(shop.get(f"{PATH}?moved_from={second['moved_at']}&moved_to={first['moved_at']}"), 400)
    assert_error(shop.get(f"{PATH}?created_from={first['moved_at']}"), 400)
    assert_error(shop.get(f"{PATH}?moved_from=2026-03-01"), 400)


def test_it_is_the_vendors_own(shop: Shop, other_merchant: Merchant, assert_error: Check) -> None:
    order_id = paid(shop)
    send(shop, order_id, 5, reference=None)
    shop.wait(FINAL_S)
    rival = Shop(client=shop.client, resources=shop.resources, clock=shop.clock, merchant=other_merchant)
    assert len(read(shop)) == 2
    assert read(rival) == []
    assert len(read(rival)) == 0
    theirs = paid(rival)
    assert [row["payment_order_id"] for row in read(rival)] == [theirs]
    assert len(read(shop)) == 2
    live = shop.get(PATH, env_mode="live")
    assert live.get_data(as_text=True).count("\r\n") == 1, "a key of the other environment sees that one"
    assert_error(shop.get(f"{PATH}?env_mode=live"), 403)
    assert_error(shop.client.get(PATH), 401)


def test_what_a_chain_has_taken_back_is_no_line(shop: Shop) -> None:
    order_id = shop.create()
    send(shop, order_id, 10**6)
    shop.wait(1)
    (row,) = read(shop)
    assert row["status"] in {"seen", "confirmed"}
    (payment,) = shop.payments()
    assert payment.block_number is not None
    lost = [each.reference for each in shop.transfers() if each.reference]
    undo_blocks(shop, payment.block_number, *lost)
    shop.wait(2)
    assert read(shop) == []


def test_it_is_a_file_of_its_own_name(shop: Shop) -> None:
    answer = shop.get(PATH)
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert answer.headers["Content-Disposition"] == 'attachment; filename="transfers.csv"'
    assert answer.headers["RateLimit-Limit"]
    assert answer.get_data(as_text=True) == ",".join(f'"{name}"' for name in COLUMNS) + "\r\n"


def test_one_export_of_a_vendor_at_a_time_whatever_is_in_it(shop: Shop, assert_error: Check) -> None:
    open_ = shop.client.get("/api/v1/payment.csv", headers=shop.merchant.headers(), buffered=False)
    assert_error(shop.get(PATH), 429, {})
    open_.close()
    assert read(shop) == []


def test_nothing_is_locked_or_open_while_it_is_read(shop: Shop) -> None:
    """A client that reads slowly holds up no writer; all have the same moment, and each is there once."""
    paid(shop)
    multiply(shop.resources, 3 * PAGE)
    lines = export_transfers(shop.resources, (shop.merchant.id, EnvMode.TEST), TransferFilter())
    pages = [next(lines), next(lines)]
    pool: Any = shop.resources.database.engine.pool
    assert pool.checkedout() == 0
    began = time.monotonic()
    paid(shop)
    assert time.monotonic() - began < 20
    rows = list(csv.DictReader(io.StringIO("".join([*pages, *lines]), newline="")))
    ids = [row["transfer_id"] for row in rows]
    assert len(ids) == len(set(ids)) == 3 * PAGE + 1, "what came meanwhile is not in it"


def test_many_transfers_take_the_memory_of_a_page(shop: Shop) -> None:
    paid(shop)
    multiply(shop.resources, MANY)
    lines = export_transfers(shop.resources, (shop.merchant.id, EnvMode.TEST), TransferFilter())
    peaks, count = [], 0
    for _ in range(9):
        next(lines)
    tracemalloc.start()
    try:
        for _ in range(2):  # two stretches, measured apart: what stays is twice as much after the second
            tracemalloc.reset_peak()
            for _ in range(STRETCH):
                next(lines)
            peaks.append(tracemalloc.get_traced_memory()[1])
    finally:
        tracemalloc.stop()
    for page in lines:
        count += page.count("\r\n")
    assert count == MANY + 1 - PAGE * (8 + 2 * STRETCH)
    assert max(peaks) < 16 * 2**20
    assert peaks[1] < 1.25 * peaks[0]


def test_a_month_is_read_by_its_time(shop: Shop) -> None:
    """What moved in other months is not read, however much that is."""
    paid(shop)
    multiply(shop.resources, 2000)
    owner, wanted = (shop.merchant.id, EnvMode.TEST), TransferFilter(moved_from=shop.clock.now())
    plans = explain_all(
        shop.resources.database, lambda session: session.execute(select_transfers(session, owner, wanted))
    )
    assert "ix_payments_env_mode_mined_at_id" in plans[-1], plans


def test_transfers_and_refunds_of_an_order_say_when_they_moved(shop: Shop) -> None:
    order_id = paid(shop)
    (came,) = shop.payments()
    asked = shop.post(f"/api/v1/payment/{order_id}/refund", {}).get_json()
    assert asked["transfers"][0]["timestamp"] == format_time(came.mined_at)
    assert asked["refunds"][0]["timestamp"] is None
    shop.wait(FINAL_S)
    (refund,) = shop.order(order_id)["refunds"]
    assert refund["timestamp"] == format_time(shop.payments()[-1].mined_at)
