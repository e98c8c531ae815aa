"""Schema, column types and sessions, on both databases."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import select, text
from sqlalchemy.exc import IntegrityError, StatementError
from sqlalchemy.orm.exc import StaleDataError

from api.domain.env import EnvMode
from api.domain.money import UINT256_MAX
from api.domain.order_filter import OrderFilter
from api.domain.scopes import ALL_SCOPES, Scope
from api.services.orders.search import build_conditions
from api.services.resources import Resources
from api.services.vendors.api_keys import find_key
from api.services.vendors.brands import Brand, change_brand, read_brand
from api.services.vendors.key_management import create_key
from api.services.vendors.vendors import create_vendor
from api.storage.db import Database, insert_new
from api.storage.migrations import find_latest_revision, make_alembic_config, read_current_revision, upgrade
from api.storage.tables import Base, JobSlot, PaymentOrder, SimulatedTransfer, Vendor
from tests.api.conftest import START, Merchant
from tests.support.databases import DIALECTS
from tests.support.pictures import make_png


def order_of(merchant: Merchant, order_id: str = "po_1", **changes: object) -> PaymentOrder:
    fields: dict[str, object] = {
        "id": order_id,
        "vendor_id": merchant.id,
        "env_mode": "test",
        "status": "created",
        "line_items": [{"title": "Tea", "quantity": 1}],
        "price_currency": "USDC",
        "price_amount": 10**18,
        "price_decimals": 18,
        "success_callback_url": "https://shop.example/ok",
        "cancel_callback_url": "https://shop.example/no",
        "failure_callback_url": "https://shop.example/bad",
        "merchant_metadata": {"cart": "7"},
        "payment_reference": order_id.encode().ljust(16, b"-"),
        "expires_at": START + timedelta(days=1),
        "created_at": START,
        "updated_at": START,
    }
    return PaymentOrder(**(fields | changes))


def test_the_migrations_make_exactly_the_tables(database: Database) -> None:
    with database.engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), Base.metadata) == []
    assert read_current_revision(database.engine) == find_latest_revision()


@pytest.mark.parametrize("dialect", DIALECTS)
def test_migrating_is_repeatable_and_can_be_undone(dialect: str, make_database_url: Callable[[str], str]) -> None:
    from alembic import command

    database = Database(make_database_url(dialect))
    assert read_current_revision(database.engine) is None
    assert upgrade(database.engine) == upgrade(database.engine)
    command.downgrade(make_alembic_config(database.engine), "base")
    assert read_current_revision(database.engine) is None
    upgrade(database.engine)
    database.close()


@pytest.mark.parametrize("dialect", DIALECTS)
def test_two_processes_can_migrate_at_once(
    dialect: str, make_database_url: Callable[[str], str], tmp_path: Path
) -> None:
    url = make_database_url(dialect)
    environment = {**os.environ, "DATABASE_URL": url, "DATA_DIR": str(tmp_path)}
    command = [sys.executable, "-m", "api.cli", "db", "upgrade"]
    processes = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) for _ in range(2)]
    printed = {process.communicate(timeout=60)[0] for process in processes}
    newest = find_latest_revision()
    assert printed == {f"The database is at revision {newest}.\n".encode()}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_the_revision_before_held_stays(dialect: str, make_database_url: Callable[[str], str]) -> None:
    from alembic import command

    database = Database(make_database_url(dialect))
    upgrade(database.engine)
    with database.write() as session:
        vendor = create_vendor(session, "Tea & Co", START)
        owner = vendor.vendor_id, EnvMode.LIVE
        narrow = create_key(session, owner, START, name="books", scopes=frozenset({Scope.READ})).text
        ending = create_key(session, owner, START, name="audit", lifetime=timedelta(days=9)).text
        session.add(order_of(Merchant(vendor)))
    command.downgrade(make_alembic_config(database.engine), "0002")
    assert read_current_revision(database.engine) == "0002"
    upgrade(database.engine)
    with database.write() as session:
        assert session.get_one(PaymentOrder, "po_1").line_items == [{"title": "Tea", "quantity": 1}]
        assert session.get_one(Vendor, vendor.vendor_id).name == "Tea & Co"
        wanted = OrderFilter(metadata={"cart": "7"})
        found = select(PaymentOrder.id).where(*build_conditions(vendor.vendor_id, EnvMode.TEST, wanted))
        assert session.scalars(found).all() == ["po_1"]
        assert read_brand(session, vendor.vendor_id, EnvMode.TEST) == Brand()
        change_brand(session, vendor.vendor_id, EnvMode.TEST, {"display_name": "Tea"}, make_png(), START)
        first = find_key(session, vendor.keys[EnvMode.LIVE], START)
        assert first is not None
        assert first.scopes == ALL_SCOPES
        # Without scopes and ends they could have done too much.
        assert [find_key(session, text, START) for text in (narrow, ending)] == [None, None]
    database.close()


@pytest.mark.rule("money.12")
@pytest.mark.parametrize("amount", [0, 1, 2**53 + 1, 2**63, 10**30 + 7, UINT256_MAX])
def test_an_amount_comes_back_to_the_unit(resources: Resources, merchant: Merchant, amount: int) -> None:
    with resources.database.write() as session:
        session.add(order_of(merchant, amount_received=amount))
    with resources.database.read() as session:
        assert session.scalar(select(PaymentOrder.amount_received)) == amount
        assert session.scalar(select(PaymentOrder.amount_due)) is None


@pytest.mark.parametrize("amount", [-1, UINT256_MAX + 1])
def test_an_impossible_amount_is_not_stored(resources: Resources, merchant: Merchant, amount: int) -> None:
    with pytest.raises(StatementError, match=r"2\^256-1"), resources.database.write() as session:
        session.add(order_of(merchant, amount_received=amount))


def test_amounts_compare_as_numbers_in_sql(resources: Resources, merchant: Merchant) -> None:
    amounts = [9, 10, 2**64, 10**77, UINT256_MAX]
    with resources.database.write() as session:
        for number, amount in enumerate(amounts):
            session.add(order_of(merchant, f"po_{number}", price_amount=amount))
    with resources.database.read() as session:
        ordered = session.scalars(select(PaymentOrder.price_amount).order_by(PaymentOrder.price_amount)).all()
        above = session.scalars(select(PaymentOrder.price_amount).where(PaymentOrder.price_amount > 10)).all()
    assert ordered == amounts
    assert sorted(above) == amounts[2:]


def test_postgresql_holds_amounts_as_numbers(resources: Resources, merchant: Merchant) -> None:
    with resources.database.write() as session:
        session.add(order_of(merchant, price_amount=UINT256_MAX))
        session.flush()
        raw = session.execute(text("SELECT price_amount FROM payment_orders")).scalar_one()
    sqlite = resources.database.engine.dialect.name == "sqlite"
    assert raw == (str(UINT256_MAX) if sqlite else Decimal(UINT256_MAX))


def test_a_moment_comes_back_in_utc(resources: Resources) -> None:
    moment = datetime(2026, 7, 1, 12, 30, 15, 123456, tzinfo=timezone(timedelta(hours=-7)))
    with resources.database.write() as session:
        session.add(Vendor(id="ven_1", name="x", created_at=moment))
    with resources.database.read() as session:
        found = session.get_one(Vendor, "ven_1").created_at
    assert found == moment
    assert found.utcoffset() == timedelta(0)


def test_a_moment_without_a_zone_is_not_stored(resources: Resources) -> None:
    naive = datetime(2026, 7, 1, tzinfo=UTC).replace(tzinfo=None)
    with pytest.raises(StatementError, match="time zone"), resources.database.write() as session:
        session.add(Vendor(id="ven_1", name="x", created_at=naive))


def test_a_failed_block_leaves_nothing(resources: Resources) -> None:
    def fail_halfway() -> None:
        with resources.database.write() as session:
            session.add(Vendor(id="ven_1", name="x", created_at=START))
            session.flush()
            raise KeyError

    with pytest.raises(KeyError):
        fail_halfway()
    with resources.database.read() as session:
        assert session.get(Vendor, "ven_1") is None


def test_foreign_keys_hold(resources: Resources) -> None:
    ghost = Merchant(vendor=type("Ghost", (), {"vendor_id": "ven_nobody"})())
    with pytest.raises(IntegrityError), resources.database.write() as session:
        session.add(order_of(ghost))


def test_a_change_based_on_an_old_version_fails(resources: Resources, merchant: Merchant) -> None:
    with resources.database.write() as session:
        session.add(order_of(merchant))
    with resources.database.read() as early:
        stale = early.get_one(PaymentOrder, "po_1")
    with resources.database.write() as session:
        session.get_one(PaymentOrder, "po_1").status = "processing"
    with pytest.raises(StaleDataError), resources.database.write() as session:
        session.merge(stale, load=False).status = "expired"


def test_of_many_inserts_of_one_key_one_wins(resources: Resources) -> None:
    wins: list[int] = []

    def claim(slot: int) -> None:
        with resources.database.write() as session:
            if insert_new(session, JobSlot, {"job": "race", "slot": slot, "taken_at": START}):
                wins.append(slot)

    threads = [threading.Thread(target=claim, args=(number % 5,)) for number in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(wins) == [0, 1, 2, 3, 4]


def test_concurrent_read_and_write_transactions_all_succeed(resources: Resources) -> None:
    """Deferred SQLite transactions that read first and then write fail here, whatever the busy timeout."""
    with resources.database.write() as session:
        session.add(Vendor(id="ven_1", name="0", created_at=START))
    failures: list[Exception] = []

    def increment() -> None:
        for _ in range(10):
            try:
                with resources.database.write() as session:
                    vendor = session.scalars(select(Vendor).with_for_update()).one()
                    vendor.name = str(int(vendor.name) + 1)
            except IntegrityError as error:
                failures.append(error)

    threads = [threading.Thread(target=increment) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with resources.database.read() as session:
        assert session.get_one(Vendor, "ven_1").name == "80"
    assert failures == []


def test_one_transfer_may_be_mined_twice_in_different_blocks(resources: Resources) -> None:
    fields = {
        "chain_id": 1,
        "tx_hash": "0xaa",
        "log_index": 0,
        "block_number": 5,
        "token_address": "0xt",
        "sender": "0xs",
        "recipient": "0xr",
        "amount": 1,
    }
    with resources.database.write() as session:
        session.add_all(SimulatedTransfer(block_hash=block, **fields) for block in ("0xb1", "0xb2"))
    with resources.database.read() as session:
        assert len(session.scalars(select(SimulatedTransfer)).all()) == 2


def test_a_command_beside_the_service_takes_its_log_away_from_nobody(tmp_path: Path) -> None:
    """To close any descriptor of SQLite's file drops a process's locks; then another one thinks itself the last."""
    file = tmp_path / "checkout.db"
    url = f"sqlite:///{file}"
    service = Database(url)
    upgrade(service.engine)
    with service.engine.connect() as held:
        held.exec_driver_sql("SELECT count(*) FROM vendors")
        Database(url).engine.connect().close()  # a second one in the same process, such as that of the leases
        code = "import sqlite3, sys; base = sqlite3.connect(sys.argv[1]); base.execute(sys.argv[2]); base.close()"
        subprocess.run([sys.executable, "-c", code, str(file), "SELECT 1 FROM vendors"], check=True)
        assert file.with_name("checkout.db-wal").exists()
        with service.write() as session:
            create_vendor(session, "Tea & Co", datetime.now(UTC))
    reader = sqlite3.connect(file)
    assert reader.execute("SELECT count(*) FROM vendors").fetchone() == (1,)
    reader.close()
    service.close()
