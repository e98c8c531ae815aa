"""A vendor's orders as CSV, row by row: what is in memory, and what is read at once, is one page.

No transaction is open while a client reads, so an export that is read slowly holds up nobody, and no lock on any
database. Each page shows its orders as they are at that moment; what is made after the beginning is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import Row, Select, func, select
from sqlalchemy.orm import Session

from api.domain.clock import format_time
from api.domain.env import EnvMode
from api.domain.order_filter import OrderFilter
from api.domain.transfers import TransferKind
from api.services.orders.csv_cells import make_safe, write_address, write_amount, write_cell, write_json, write_lines
from api.services.orders.money import NO_MONEY, Money, load_money
from api.services.orders.search import build_conditions, continue_after
from api.services.resources import Resources
from api.storage.tables import PaymentOrder

PAGE = 250
COLUMNS = (
    *("payment_order_id", "payment_order_status", "status_reason", "env_mode"),
    *("created_at", "updated_at", "expires_at"),
    *("price_currency", "price_amount", "price_amount_decimal"),
    *("settlement_chain_id", "settlement_token", "settlement_token_address", "settlement_address"),
    *("settlement_amount", "settlement_amount_decimal"),
    *("amount_due", "amount_due_decimal"),
    *("amount_received", "amount_received_decimal"),
    *("amount_refunded", "amount_refunded_decimal"),
    *("transaction_hash", "payers", "metadata", "payment_url"),
)
"""Amounts are in smallest units; the same in whole ones has ``_decimal`` behind its name."""

_READ = (
    *(PaymentOrder.id, PaymentOrder.status, PaymentOrder.status_reason, PaymentOrder.env_mode),
    *(PaymentOrder.created_at, PaymentOrder.updated_at, PaymentOrder.expires_at),
    *(PaymentOrder.price_currency, PaymentOrder.price_amount, PaymentOrder.price_decimals),
    *(PaymentOrder.settlement_chain_id, PaymentOrder.settlement_token_symbol, PaymentOrder.settlement_token_address),
    *(PaymentOrder.settlement_token_decimals, PaymentOrder.settlement_address, PaymentOrder.settlement_amount),
    *(PaymentOrder.amount_due, PaymentOrder.amount_received, PaymentOrder.transaction_hash),
    PaymentOrder.merchant_metadata,
)


def export_orders(resources: Resources, vendor_id: str, env_mode: EnvMode, wanted: OrderFilter) -> Iterator[str]:
    """Yield the header, and then the orders newest first, some lines at a time; each line ends with CR LF (RFC 4180).

    Raises
    ------
    OperationalError
        If the database goes away meanwhile: what was yielded is then not all.
    """
    yield write_lines([COLUMNS])
    conditions = build_conditions(vendor_id, env_mode, wanted)
    query = select(*_READ).order_by(PaymentOrder.id.desc()).limit(PAGE)
    with resources.database.read() as session:
        last = session.scalar(select(func.max(PaymentOrder.id)).where(*conditions[:2]))
    if last is None:
        return
    page = query.where(*conditions, PaymentOrder.id <= last)
    while rows := _read_page(resources, page):
        yield write_lines(rows)
        page = query.where(*conditions, *continue_after(str(rows[-1][0])))


def _read_page(resources: Resources, page: Select[Any]) -> list[list[str]]:
    with resources.database.read_one_state() as session:
        rows = session.execute(page).all()
        return _describe(resources, session, rows)


def _describe(resources: Resources, session: Session, rows: Sequence[Row[Any]]) -> list[list[str]]:
    money = load_money(session, [row.id for row in rows])
    return [_describe_order(resources.config.base_url, row, money.get(row.id, NO_MONEY)) for row in rows]


def _describe_order(base_url: str, order: Row[Any], money: Money) -> list[str]:
    decimals = order.settlement_token_decimals
    return [
        *(order.id, order.status, order.status_reason, order.env_mode),
        *map(format_time, (order.created_at, order.updated_at, order.expires_at)),
        make_safe(order.price_currency),
        *write_amount(order.price_amount, order.price_decimals),
        *map(write_cell, (order.settlement_chain_id, order.settlement_token_symbol)),
        *map(write_address, (order.settlement_token_address, order.settlement_address)),
        *write_amount(order.settlement_amount, decimals),
        *write_amount(order.amount_due, decimals),
        *write_amount(order.amount_received, decimals),
        *write_amount(_sum_refunded(order, money), decimals),
        order.transaction_hash,
        " ".join(map(write_address, _list_payers(money))),
        write_json(order.merchant_metadata),
        f"{base_url}/payment/{order.id}",
    ]


def _sum_refunded(order: Row[Any], money: Money) -> int:
    """Return how much of what was asked for went back for good, in the settlement token's smallest units."""
    wanted = (order.settlement_chain_id, order.settlement_token_address)
    return sum(money.sent_back(row.id) for row in money.received if (row.chain_id, row.token_address) == wanted)


def _list_payers(money: Money) -> list[str]:
    """Return whose money came, each once: of what a bridge delivered, whoever put it in."""
    rows = [row for row in money.payments if row.kind in (TransferKind.PAYMENT, TransferKind.DEPOSIT)]
    return list(dict.fromkeys(row.sender for row in rows if row.sender and not row.source_tx_hash))
