"""Orders as CSV: complete, exact, harmless in spreadsheets, and no more in memory or locked than a page."""

from __future__ import annotations

import csv
import io
import json
import socket
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
import requests
from flask import Flask
from sqlalchemy import text

from api.blueprints import exports
from api.domain.env import EnvMode
from api.domain.order_filter import OrderFilter
from api.services.orders.csv_cells import make_safe
from api.services.orders.export import COLUMNS, PAGE, export_orders
from api.services.resources import Resources
from api.serving import asgi
from tests.api.conftest import Merchant
from tests.support.shop import Shop
from tests.support.simulated_payments import send
from tests.support.stream import served

Check = Callable[..., None]
PATH = "/api/v1/payment.csv"
MANY = 20_000
LONG = 20
"""Pages of a file of which more is left than both sides of a connection keep."""
STRETCH = 10
"""Pages over which memory is measured, twice."""


def read(shop: Shop, query: str = "") -> list[dict[str, str]]:
    answer = shop.get(PATH + query)
    assert answer.status_code == 200, answer.get_json()
    return list(csv.DictReader(io.StringIO(answer.get_data().decode("utf-8"), newline="")))


def multiply(resources: Resources, order_id: str, count: int) -> None:
    """Write many more orders like one, and count them, as a database of that size has done."""
    columns = "vendor_id, env_mode, status, status_reason, line_items, price_currency, price_amount, price_decimals, "
    columns += "success_callback_url, cancel_callback_url, failure_callback_url, metadata, amount_received, "
    columns += "price_rounded_up, start_heights, transaction_hash, expires_at, created_at, updated_at, version"
    if resources.database.engine.dialect.name == "sqlite":
        reference, name = "randomblob(16)", "printf('po_0%035d', n.i)"
    else:
        reference, name = "uuid_send(gen_random_uuid())", "'po_0' || lpad(n.i::text, 35, '0')"
    statement = f"""
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count})
        INSERT INTO payment_orders (id, payment_reference, {columns})
        SELECT {name}, {reference}, {columns} FROM payment_orders, n WHERE id = :order_id
    """
    with resources.database.write() as session:
        session.execute(text(statement), {"order_id": order_id})
        session.execute(text("ANALYZE payment_orders"))


def test_every_order_is_a_line_with_exact_amounts(shop: Shop) -> None:
    paid = shop.create(
        order_price={"currency": "USDC", "amount": 1_500_000_000_000_000_001, "decimals": 18}, metadata={"é": "ü;=1"}
    )
    shop.clock.advance(seconds=1)
    opened = shop.create(order_price={"currency": "ETH", "amount": 10**30 + 7, "decimals": 36})
    shop.simulate(paid, "overpay")
    shop.wait(6)
    transfer = shop.order(paid)["transfers"][0]
    shop.post(f"/api/v1/payment/{paid}/refund", {"amount": "500001"})
    shop.wait(6)
    second, first = read(shop)
    assert list(first) == list(COLUMNS)
    order = shop.order(paid)
    assert first == {
        "payment_order_id": paid,
        "payment_order_status": "success",
        "status_reason": "partially_refunded",
        "env_mode": "test",
        "created_at": order["created_at"],
        "updated_at": order["updated_at"],
        "expires_at": order["expires_at"],
        "price_currency": "USDC",
        "price_amount": "1500000000000000001",
        "price_amount_decimal": "1.500000000000000001",
        "settlement_chain_id": "8453",
        "settlement_token": "USDC",
        "settlement_token_address": order["settlement"]["token_address"],
        "settlement_address": order["settlement"]["address"],
        "settlement_amount": "1500001",
        "settlement_amount_decimal": "1.500001",
        "amount_due": order["amount_due"],
        "amount_due_decimal": "0.000000",
        "amount_received": transfer["amount"],
        "amount_received_decimal": f"{transfer['amount'][:-6]}.{transfer['amount'][-6:]}",
        "amount_refunded": "500001",
        "amount_refunded_decimal": "0.500001",
        "transaction_hash": order["transaction_hash"],
        "payers": transfer["from"],
        "metadata": '{"é":"ü\\u003b=1"}',
        "payment_url": order["payment_url"],
    }
    assert json.loads(first["metadata"]) == {"é": "ü;=1"}
    assert second["payment_order_id"] == opened
    assert second["price_amount"] == str(10**30 + 7)
    assert second["price_amount_decimal"] == "0.000001000000000000000000000000000007"


def test_it_is_a_file_of_quoted_lines(shop: Shop) -> None:
    shop.create(metadata={"note": 'a "b"\r\nc,\td'})
    answer = shop.get(PATH)
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert answer.headers["Content-Disposition"] == 'attachment; filename="payments.csv"'
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["RateLimit-Limit"]
    header, line, rest = answer.get_data(as_text=True).split("\r\n")
    assert header == ",".join(f'"{name}"' for name in COLUMNS)
    assert line.count('","') == len(COLUMNS) - 1
    assert rest == ""
    assert json.loads(read(shop)[0]["metadata"])["note"] == 'a "b"\r\nc,\td'


@pytest.mark.parametrize(
    "bad", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "  =1", " \t@x", "＝1", "＋1", "－1", "＠x"]
)
def test_no_cell_is_a_formula(bad: str) -> None:
    assert make_safe(bad) == f"'{bad}"


@pytest.mark.parametrize("good", ["", "7", "USDC", "a=b", "{}", "0x12", "é"])
def test_other_cells_stay_as_they_are(good: str) -> None:
    assert make_safe(good) == good


def test_what_a_merchant_or_customer_wrote_begins_no_cell(shop: Shop) -> None:
    """Neither where commas divide cells nor where semicolons do."""
    evil = {"=cmd|' /C calc'!A0": "=1", "a": 'x";=2', "b": "x;=3", "c": "\t=4", "-5": '";"@6'}
    shop.create(metadata=evil)
    written = shop.get(PATH).get_data(as_text=True)
    for divider in (",", ";"):
        for row in csv.reader(io.StringIO(written, newline=""), delimiter=divider):
            for cell in row:
                assert not cell.strip('" \t').startswith(("=", "+", "-", "@", "\t")), cell
    assert json.loads(read(shop)[0]["metadata"]) == evil


def test_the_filters_are_those_of_the_list(shop: Shop, other_merchant: Merchant, assert_error: Check) -> None:
    first = shop.create(metadata={"cart": "1"})
    shop.clock.advance(hours=1)
    second = shop.create(metadata={"cart": "2"})
    send(shop, second, 10**6)
    shop.wait(6)
    for query in (
        *(
            "?status=success",
            "?metadata[cart]=2",
            "?created_from=2026-03-01T12:30:00Z",
            "?env_mode=test&status=success",
        ),
        f"?transaction_hash={shop.order(second)['transaction_hash']}",
    ):
        assert [row["payment_order_id"] for row in read(shop, query)] == [second]
    assert [row["payment_order_id"] for row in read(shop)] == [second, first]
    rival = Shop(client=shop.client, resources=shop.resources, clock=shop.clock, merchant=other_merchant)
    assert read(rival) == []
    assert_error(shop.get(f"{PATH}?env_mode=live"), 403)
    assert_error(shop.get(f"{PATH}?limit=5"), 400)
    assert_error(shop.get(f"{PATH}?payer=7"), 400)
    assert_error(shop.client.get(PATH), 401)


def test_nothing_is_locked_or_open_while_it_is_read(shop: Shop) -> None:
    """A client that reads slowly holds up no writer; what is made meanwhile is not in the file."""
    multiply(shop.resources, shop.create(), 3 * PAGE)
    lines = export_orders(shop.resources, shop.merchant.id, EnvMode.TEST, OrderFilter())
    pages = [next(lines), next(lines)]
    pool: Any = shop.resources.database.engine.pool
    assert pool.checkedout() == 0
    began = time.monotonic()
    made = shop.create()
    assert time.monotonic() - began < 4  # a writer that waits for a lock does so for five seconds
    rows = list(csv.reader(io.StringIO("".join([*pages, *lines]), newline="")))
    ids = [row[0] for row in rows[1:]]
    assert len(ids) == len(set(ids)) == 3 * PAGE + 1
    assert ids == sorted(ids, reverse=True)
    assert made not in ids


def test_many_orders_take_the_memory_of_a_page(shop: Shop) -> None:
    multiply(shop.resources, shop.create(), MANY)
    lines = export_orders(shop.resources, shop.merchant.id, EnvMode.TEST, OrderFilter())
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


def test_columns_that_are_no_properties_of_an_order_are_described(shop: Shop) -> None:
    order = shop.order(shop.create())
    properties = {*order, *(f"settlement_{name}" for name in order["settlement"])}
    others = {column.removesuffix("_decimal") for column in COLUMNS} - properties
    described = str(exports.export.__doc__)
    assert {name for name in others if f"`{name}`" not in described} == set()


def test_one_export_of_a_vendor_at_a_time(shop: Shop, other_merchant: Merchant, assert_error: Check) -> None:
    shop.create()
    open_ = shop.client.get(PATH, headers=shop.merchant.headers(), buffered=False)
    assert_error(shop.get(PATH), 429, {})
    assert shop.get(PATH).headers["Retry-After"]
    rival = Shop(client=shop.client, resources=shop.resources, clock=shop.clock, merchant=other_merchant)
    assert read(rival) == []
    open_.close()
    assert len(read(shop)) == len(read(shop)) == 1
    assert shop.client.head(PATH, headers=shop.merchant.headers(), buffered=True).status_code == 200
    assert len(read(shop)) == 1


@pytest.mark.parametrize("database", ["sqlite"], indirect=True, scope="session")
def test_who_reads_slowly_keeps_nobody_else_waiting(
    shop: Shop, other_merchant: Merchant, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Found: two vendors, or four customers' slow lines, kept all others from their files for as long as they liked."""
    monkeypatch.setattr(asgi, "EXPORT_THREADS", 1)
    multiply(shop.resources, shop.create(metadata={"note": "x" * 1000}), LONG * PAGE)
    with served(shop.client.application) as address, socket.socket() as line:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        host, _, port = address.partition(":")
        line.connect((host, int(port)))
        key = shop.merchant.headers()["X-Api-Key"]
        line.sendall(f"GET {PATH} HTTP/1.1\r\nHost: x\r\nX-Api-Key: {key}\r\n\r\n".encode())
        assert line.recv(12) == b"HTTP/1.1 200"
        assert requests.get(f"http://{address}{PATH}", headers=shop.merchant.headers(), timeout=20).status_code == 429
        answer = requests.get(f"http://{address}{PATH}", headers=other_merchant.headers(), timeout=20)
        assert answer.text.count("\r\n") == 1


def test_exports_have_a_rate_limit_of_their_own(make_app: Callable[..., Flask], merchant: Merchant) -> None:
    client = make_app(rate_limit_routing=10).test_client()
    answers = [client.get(PATH, headers=merchant.headers(), buffered=True) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert answers[-1].get_json()["code"] == "429"
    assert answers[-1].headers["Retry-After"]
    assert client.get("/api/v1/payment", headers=merchant.headers()).status_code == 200
