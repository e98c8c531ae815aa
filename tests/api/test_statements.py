"""Statements that are asked directly: the rows, values and errors are SQLAlchemy's own, on both databases."""

from __future__ import annotations

from typing import Any, cast

import pytest
from sqlalchemy import Insert, Table, bindparam, event, inspect, insert, select, text
from sqlalchemy.exc import IntegrityError, OperationalError, StatementError

from api.domain.simulation import Action
from api.services.checkout import money_seen
from api.services.operations import duty_health
from api.services.orders import creation, reading
from api.services.resources import Resources
from api.services.vendors import vendors
from api.storage.rows import insert_row
from api.storage.statements import Statement
from api.storage.tables import Payment, PaymentOrder, SimulatedTransfer
from tests.api.conftest import START
from tests.support.shop import Shop

QUERIES = {
    "an order for its vendor": reading._OWN,
    "an order for its payer": reading._PUBLIC,
    "transfers": reading._TRANSFERS,
    "refunds": reading._REFUNDS,
    "accounts": vendors._ALL,
    "two accounts": vendors._choose(2),
    "heights": creation._HEIGHTS,
    "cursors": money_seen._CURSORS,
    "leases": duty_health._LEASES,
}


def pay(shop: Shop) -> dict[str, Any]:
    """Let an order be paid; return what the queries are asked with."""
    order_id = shop.create()
    shop.simulate(order_id, Action.PAY)
    currencies = {"currency_0": "USDC", "currency_1": "ETH"}
    return {"order_id": order_id, "vendor_id": shop.merchant.id, "env_mode": "test", **currencies}


@pytest.mark.parametrize("name", QUERIES)
def test_rows_are_those_that_sqlalchemy_reads(shop: Shop, name: str) -> None:
    statement, values = QUERIES[name], pay(shop)
    with shop.resources.database.read() as session:
        theirs = session.execute(cast("Any", statement._clause), values)
        names, rows = tuple(theirs.keys()), theirs.all()
        ours = statement.fetch(session, values)
    with shop.resources.database.look() as place:
        assert statement.fetch(place, values) == ours
    assert [tuple(row) for row in ours] == [tuple(row) for row in rows]
    assert [[type(value) for value in row] for row in ours] == [[type(value) for value in row] for row in rows]
    assert all(row._fields == names for row in ours)
    assert rows or name in ("refunds", "leases")
