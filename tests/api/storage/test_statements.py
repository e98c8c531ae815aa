"""Statements that are asked directly: the rows, values and errors are SQLAlchemy's own, on both databases."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack
from typing import Any, cast

import pytest
from sqlalchemy import bindparam, event, select, text
from sqlalchemy.exc import DBAPIError, IntegrityError

from api.domain.simulation import Action
from api.services.checkout import money_seen
from api.services.operations import duty_health
from api.services.orders import reading, vendor_facts
from api.services.resources import Resources
from api.services.vendors import vendors
from api.storage.db import Database
from api.storage.rows import NewRow, insert_row
from api.storage.statements import Statement
from api.storage.tables import Base, Payment, PaymentOrder, TimelineEntry, Vendor, WebhookEvent
from tests.api.conftest import START
from tests.support.shop import LINK, Shop

QUERIES = {
    "an order for its vendor": reading._OWN,
    "an order for its payer": reading._PUBLIC,
    "transfers": reading._TRANSFERS,
    "refunds": reading._REFUNDS,
    "accounts": vendors._ALL,
    "what an order rests on": vendor_facts._prepare(2),
    "cursors": money_seen._CURSORS,
    "leases": duty_health._LEASES,
}


MADE = {"created_at": START, "updated_at": START}
ORDER = {
    "id": "po_1",
    "env_mode": "test",
    "status": "created",
    "line_items": [{"title": "Tea ✓", "quantity": 1}],
    "price_currency": "USDC",
    "price_amount": 2**255,
    "price_decimals": 18,
    **{f"{name}_callback_url": "https://shop.example/" for name in ("success", "cancel", "failure")},
    "merchant_metadata": {"cart": None},
    "payment_reference": bytes(range(16)),
    "expires_at": START,
    **MADE,
}
TRANSFER = {
    "public_id": "tr_1",
    "chain_id": 10,
    "tx_hash": "0xab",
    "log_index": 0,
    "kind": "payment",
    "env_mode": "test",
    **dict.fromkeys(("token_address", "sender", "recipient"), "0x1"),
    "amount": 0,
    **dict.fromkeys(("mined_at", "seen_at", "updated_at"), START),
    "state": "final",
}
EVENT = {"id": "evt_1", "type": "x", "env_mode": "test", "payload": "{}", "created_at": START}
COUNTED = {(TimelineEntry, "id"), (Payment, "id"), (WebhookEvent, "seq")}
COUNTED_TABLES = (TimelineEntry, WebhookEvent)
OFTEN = 8
"""Times after which a driver has a statement prepared."""
EVERYBODY = Statement(select(Vendor.id))
ROWS: dict[type[Base], dict[str, Any]] = {
    PaymentOrder: ORDER,
    TimelineEntry: {"order_id": "po_1", "status": "created", "at": START},
    Payment: TRANSFER,
    WebhookEvent: EVENT,
}


def pay(shop: Shop) -> dict[str, Any]:
    """Let an order be paid; return what the queries are asked with."""
    order_id = shop.create()
    shop.simulate(order_id, Action.PAY)
    shop.wait(60)
    currencies = {"currency_0": "USDC", "currency_1": "ETH"}
    return {"order_id": order_id, "vendor_id": shop.merchant.id, "env_mode": "test", **currencies}


@pytest.mark.parametrize("name", QUERIES)
def test_rows_are_those_that_sqlalchemy_reads(shop: Shop, name: str) -> None:
    statement, given = QUERIES[name], pay(shop)
    with shop.resources.database.read() as session:
        clause = cast("Any", statement._clause)
        values = {name: value for name, value in given.items() if name in clause.compile().params}
        theirs = session.execute(clause, values)
        names, rows = tuple(theirs.keys()), theirs.all()
        ours = statement.fetch(session, values)
    with shop.resources.database.look() as place:
        assert statement.fetch(place, values) == ours
    assert [tuple(row) for row in ours] == [tuple(row) for row in rows]
    assert [[type(value) for value in row] for row in ours] == [[type(value) for value in row] for row in rows]
    assert all(row._fields == names for row in ours)
    assert rows or name in ("refunds", "leases")


@pytest.mark.parametrize("table", ROWS, ids=lambda table: table.__name__)
def test_a_row_is_stored_as_sqlalchemy_stores_it(resources: Resources, table: type[Base]) -> None:
    database, stored = resources.database, []
    for is_direct in (False, True):
        with database.write() as session:
            session.add(Vendor(id="ven_1", name="Tea", created_at=START))
            session.flush()
            owner = {"vendor_id": "ven_1"} if hasattr(table, "vendor_id") else {}
            if table is TimelineEntry:
                session.add(PaymentOrder(**ORDER, vendor_id="ven_1"))
                session.flush()
            if is_direct:
                insert_row(session, table, **ROWS[table], **owner)
            else:
                session.add(table(**ROWS[table], **owner))
                session.flush()
            found = session.execute(select(table.__table__)).one()._asdict()
            stored.append({name: value for name, value in found.items() if (table, name) not in COUNTED})
            session.rollback()
    assert stored[0] == stored[1]


def insert_all(database: Database, *vendors: dict[str, Any]) -> None:
    """Insert rows in one transaction."""
    with database.write_directly() as place:
        for vendor in vendors:
            insert_row(place, Vendor, **vendor)


def test_what_is_written_directly_is_kept_if_all_of_it_is(resources: Resources) -> None:
    database, vendor = resources.database, dict[str, Any](id="ven_1", name="Tea", created_at=START)
    with pytest.raises(IntegrityError) as raised:
        insert_all(database, vendor, vendor)
    assert "Tea" not in str(raised.value)
    with database.look_at_one_state() as place:
        assert EVERYBODY.fetch(place) == []
        insert_all(database, vendor)
        assert EVERYBODY.fetch(place) == [], "the state is that of the first query"
    with database.look() as place:
        assert [row.id for row in EVERYBODY.fetch(place)] == ["ven_1"]


def make_history(lock: int | None = None) -> list[NewRow]:
    """Make a vendor, its order, and what happened to it."""
    return [
        NewRow(table=Vendor, given={"id": "ven_1", "name": "Tea", "created_at": START}),
        NewRow(table=PaymentOrder, given={**ORDER, "vendor_id": "ven_1"}),
        NewRow(table=TimelineEntry, given={"order_id": "po_1", "status": "created", "at": START}),
        NewRow(table=WebhookEvent, given={**EVENT, "vendor_id": "ven_1", "order_id": "po_1"}, lock=lock),
    ]


def test_rows_are_written_together_or_not_at_all(resources: Resources) -> None:
    database = resources.database
    with pytest.raises(IntegrityError):
        database.write_rows([*make_history(), make_history()[0]])
    with database.look() as place:
        assert EVERYBODY.fetch(place) == []
    database.write_rows(make_history())
    with database.read() as session:
        found = [len(session.scalars(select(table)).all()) for table in (Vendor, PaymentOrder, *COUNTED_TABLES)]
    assert found == [1, 1, 1, 1]
    with pytest.raises(KeyError, match="nmae"):
        database.write_rows([NewRow(table=Vendor, given={"id": "ven_2", "nmae": "Tea", "created_at": START})])


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_a_row_gets_its_number_behind_who_reads_them(resources: Resources) -> None:
    """Whoever reads up to a number must not miss a lower one that is committed later."""
    database = resources.database
    waits = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
    last = "SELECT last_value, is_called FROM events_seq_seq"
    with ThreadPoolExecutor(1) as pool, database.write() as session:
        before = session.execute(text(last)).one()
        session.execute(text("SELECT pg_advisory_xact_lock(7)"))
        written = pool.submit(database.write_rows, make_history(lock=7))
        while not session.scalar(text(waits)):
            assert not wait([written], timeout=0.01).done
        assert session.execute(text(last)).one() == before
        session.rollback()
        written.result()


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
@pytest.mark.parametrize(
    ("headers", "questions"), [({}, 2), ({"Idempotency_Key": "cart-7"}, 3)], ids=["once", "to be repeated"]
)
def test_an_order_is_one_statement(shop: Shop, headers: dict[str, str], questions: int) -> None:
    """After whose the key is, whether the request is known, and what the order rests on."""
    shop.create()
    asked: list[str] = []
    engine = shop.resources.database.engine

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        asked.append(statement)

    event.listen(engine, "before_cursor_execute", note)
    try:
        shop.post("/api/v1/payment_link", LINK | {"metadata": {"cart": "7", "shelf": 2}}, **headers)
    finally:
        event.remove(engine, "before_cursor_execute", note)
    assert [statement.split()[0] for statement in asked] == ["SELECT"] * questions + ["WITH"]


def test_a_list_of_unknown_length_is_refused(resources: Resources) -> None:
    several = Statement(select(Vendor.id).where(Vendor.id.in_(bindparam("ids", expanding=True))))
    with resources.database.look() as place, pytest.raises(ValueError, match="length"):
        several.fetch(place, {"ids": ["ven_1"]})


def list_pooled(database: Database) -> list[Any]:
    """Return the driver's connections behind all that the pool keeps."""
    engine = database.engine
    with ExitStack() as held:  # in no order: a pool may give the oldest first
        kept = [held.enter_context(engine.connect()) for _ in range(max(1, engine.pool.checkedin()))]
        return [each.connection.driver_connection for each in kept]


def ask_after_end(database: Database) -> None:
    """Ask over a connection that has just ended."""
    with database.look() as place:
        if place.dialect.name == "sqlite":
            place._driver.close()
        else:
            (pid,) = place.execute("SELECT pg_backend_pid()", ()).fetchone()
            with database.engine.connect() as other:
                other.execute(text("SELECT pg_terminate_backend(:pid)"), {"pid": pid})
        EVERYBODY.fetch(place)


def test_a_connection_that_is_gone_is_told_as_sqlalchemy_tells_it_and_the_next_is_new(resources: Resources) -> None:
    before = list_pooled(resources.database)
    with pytest.raises(DBAPIError) as raised:
        ask_after_end(resources.database)
    assert raised.value.connection_invalidated
    after = list_pooled(resources.database)
    assert not {*map(id, before)} & {*map(id, after)}, "the others may be gone too"
    with resources.database.look() as place:
        assert EVERYBODY.fetch(place) == []


def test_a_server_that_goes_after_the_last_answer_spoils_nothing(resources: Resources) -> None:
    """It was told as the driver's own error, which nobody knows, so callers got 500 for what they had been answered."""
    with resources.database.look_at_one_state() as place:
        found = EVERYBODY.fetch(place)
        if place.dialect.name == "postgresql":
            (pid,) = place.execute("SELECT pg_backend_pid()", ()).fetchone()
            with resources.database.engine.connect() as other:
                other.execute(text("SELECT pg_terminate_backend(:pid)"), {"pid": pid})
    assert found == []
    with resources.database.look_at_one_state() as place:
        assert EVERYBODY.fetch(place) == []


def count_prepared(database: Database) -> int:
    """Return how many statements about what is kept the server has prepared for the connection given next."""
    with database.look() as place:
        (found,) = place.execute(
            "SELECT count(*) FROM pg_prepared_statements WHERE position('kept' in statement) > 0", ()
        )
    return int(found[0])


def make_and_fail(database: Database) -> None:
    """Make a table, and then fail in the same transaction."""
    with database.write_directly() as place:
        place.execute("CREATE TABLE kept (id INTEGER)", ()).close()
        place.execute("SELECT nothing", ())


def test_a_rollback_leaves_what_the_server_has_prepared(make_database_url: Callable[[str], str]) -> None:
    """The driver forgets it with each transaction that only read, and nearly every query was planned anew."""
    database = Database(make_database_url("postgresql"))
    try:
        with database.look_at_one_state() as place:
            for _ in range(OFTEN):
                place.execute("SELECT 'kept'", ()).close()
        assert count_prepared(database) == 1
        with pytest.raises(DBAPIError):
            make_and_fail(database)
        assert count_prepared(database) == 1
        with database.look() as place:
            assert place.execute("SELECT to_regclass('kept')", ()).fetchone() == (None,)
    finally:
        database.close()


def write_where_nothing_may_be_written(database: Database) -> None:
    """Write over a connection that may only read."""
    with database.look_at_one_state() as place:
        is_sqlite = place.dialect.name == "sqlite"
        place.execute("PRAGMA query_only = ON" if is_sqlite else "SET TRANSACTION READ ONLY", ()).close()
        try:
            insert_row(place, Vendor, id="ven_1", name="Tea", created_at=START)
        finally:
            if is_sqlite:
                place.execute("PRAGMA query_only = OFF", ()).close()


def test_a_server_that_became_read_only_is_left(resources: Resources) -> None:
    engine, before = resources.database.engine, list_pooled(resources.database)
    with pytest.raises(DBAPIError) as raised:
        write_where_nothing_may_be_written(resources.database)
    is_server = engine.dialect.name == "postgresql"  # of another kind there is no other to turn to
    is_left = not {*map(id, before)} & {*map(id, list_pooled(resources.database))}
    assert (raised.value.connection_invalidated, is_left) == (is_server, is_server)
