"""Each search reads by an index, also where a database knows how many rows there are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import insert, inspect, select, update
from sqlalchemy import text as sql
from sqlalchemy.orm import Session

from api.domain.env import EnvMode
from api.domain.errors import NotFound
from api.domain.order_filter import OrderFilter
from api.services.orders.search import build_conditions
from api.services.orders.store import find_order
from api.services.settlement.crediting.unmatched_transfers import list_own
from api.services.simulator.wallet import PAYER
from api.storage.db import Database
from api.storage.tables import Base, OrderMetadata, Payment, PaymentOrder
from tests.api.conftest import START
from tests.support.databases import DIALECTS, Databases
from tests.support.plans import explain_all
from tests.support.shop import Shop
from tests.support.simulated_payments import send

CROWD = 2000


@pytest.fixture(scope="module", params=DIALECTS)
def database(request: pytest.FixtureRequest, databases: Databases) -> Iterator[Database]:
    """A database that nobody else uses: what ANALYZE counts here would decide plans of other tests."""
    with databases.lend(request.param) as own:
        yield own


def crowd(shop: Shop) -> None:
    """Write as many orders and payments, all different, as make a database think twice; let it count them."""
    order_id = shop.create()
    send(shop, order_id, 1)
    shop.wait(2)
    with shop.resources.database.write() as session:
        order, payment = session.get_one(PaymentOrder, order_id), session.scalars(select(Payment)).one()
        orders, payments = [], []
        for number in range(CROWD):
            changes = {
                "id": f"po_0{number:035d}",
                "payment_reference": number.to_bytes(16, "big"),
                "updated_at": START - timedelta(hours=number),
            }
            orders.append(copy_row(order) | changes)
            told = {"public_id": f"tr_{number}", "order_id": changes["id"], "claimed_order_id": None}
            hashes = {"tx_hash": f"0x{number:064x}", "sender": f"0x{number:040x}"}
            payments.append(copy_row(payment, "id") | told | hashes)
        session.execute(insert(PaymentOrder), orders)
        session.execute(insert(Payment), payments)
        entries = [{"digest": number.to_bytes(32, "big"), "order_id": order_id} for number in range(CROWD)]
        session.execute(insert(OrderMetadata), entries)
    with shop.resources.database.write() as session:
        session.execute(sql("ANALYZE"))


def copy_row(row: Base, *without: str) -> dict[str, Any]:
    """Return the attributes of a row by name."""
    names = [each.key for each in inspect(type(row)).column_attrs if each.key not in without]
    return {name: getattr(row, name) for name in names}


@pytest.mark.parametrize(
    ("wanted", "index"),
    [
        (OrderFilter(transaction_hash="0x" + "1" * 64), "ix_payments_tx_hash"),
        (OrderFilter(payer=PAYER), "ix_payments_sender"),
        (OrderFilter(metadata={"cart": "7"}), "pk_order_metadata|sqlite_autoindex_order_metadata"),
        (
            OrderFilter(created_from=START, created_to=START + timedelta(1)),
            "ix_payment_orders_vendor_id_env_mode_id|pk_payment_orders",
        ),
        (
            OrderFilter(updated_from=START - timedelta(hours=9)),
            "ix_payment_orders_vendor_id_env_mode_updated_at|ix_payment_orders_vendor_id_env_mode_id",
        ),
        (
            OrderFilter(status=["failed"]),
            "ix_payment_orders_vendor_id_env_mode_status_id|ix_payment_orders_status_expires_at",
        ),
        (
            OrderFilter(status=["failed", "expired"]),
            "ix_payment_orders_vendor_id_env_mode_id|ix_payment_orders_status_expires_at",
        ),
    ],
    ids=["hash", "payer", "metadata", "created", "updated", "status", "statuses"],
)
def test_every_search_reads_by_an_index(shop: Shop, wanted: OrderFilter, index: str) -> None:
    crowd(shop)
    conditions = build_conditions(shop.merchant.id, EnvMode.TEST, wanted)
    query = select(PaymentOrder).where(*conditions).order_by(PaymentOrder.id.desc()).limit(21)
    (plan,) = explain_all(shop.resources.database, lambda session: session.scalars(query).all())
    assert any(name in plan for name in index.split("|")), plan
    assert "SCAN payment" not in plan, plan
    assert "Seq Scan" not in plan, plan
    if wanted.created_from is not None:
        assert "id>" in plan or "id)::text >=" in plan, plan


@pytest.mark.parametrize("dialect", DIALECTS)
def test_one_order_is_read_by_its_id_also_before_rows_were_ever_counted(dialect: str, databases: Databases) -> None:
    """By `=` for its vendor too, PostgreSQL went through all orders of the vendor until the first ANALYZE."""

    def look(session: Session) -> None:
        with pytest.raises(NotFound):
            find_order(session, "ven_1", EnvMode.TEST, "po_1")

    with databases.lend(dialect) as own:
        (plan,) = explain_all(own, look)
    (line,) = (each for each in plan.splitlines() if "payment_orders" in each)
    assert re.search("pk_payment_orders|sqlite_autoindex_payment_orders", line), plan


def test_the_list_of_unmatched_transfers_reads_by_an_index(shop: Shop) -> None:
    crowd(shop)
    with shop.resources.database.write() as session:  # nobody's, and at addresses of others
        session.execute(update(Payment).values(order_id=None, recipient=Payment.sender))
    with shop.resources.database.write() as session:
        session.execute(sql("ANALYZE"))
    owner, is_sqlite = (shop.merchant.id, EnvMode.TEST), shop.resources.database.engine.dialect.name == "sqlite"
    plans = explain_all(shop.resources.database, lambda session: list_own(session, owner, limit=20))
    # SQLite counts no NULLs, and takes an index of what may be NULL for a good one.
    assert any("ix_payments_unmatched" in plan or (is_sqlite and "ix_payments_order_id" in plan) for plan in plans)
