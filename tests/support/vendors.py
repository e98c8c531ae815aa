"""Vendors for tests, of which there are thousands: each has the rows that the service wrote for an earlier one."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, Dialect
from sqlalchemy.orm import Session

from api.domain.env import EnvMode
from api.domain.ids import IdPrefix, make_id
from api.services.vendors.api_keys import hash_key
from api.services.vendors.vendors import NewVendor, create_vendor, make_simulated_address
from api.storage.base import Base
from api.storage.tables import ApiKeyRow, OwnedAddress, SettlementAccount, Vendor

TABLES: tuple[type[Base], ...] = (Vendor, ApiKeyRow, OwnedAddress, SettlementAccount)
"""In which making a vendor writes, each behind those that it refers to."""
KEY_BYTES = 32
KEY_PREFIX = len("sk_test_")


@dataclass(frozen=True)
class Written:
    """A vendor that the service made, and the statements that write its rows."""

    vendor: NewVendor
    at: datetime
    key_ids: Mapping[EnvMode, str]
    statements: tuple[str, ...]


class VendorMaker:
    """Makes vendors with keys, ids and addresses of their own; the service's way takes longer than many tests."""

    def __init__(self) -> None:
        self._written: dict[str, Written] = {}

    def make(self, session: Session, name: str, at: datetime) -> NewVendor:
        """Make a vendor; nobody else may have the name."""
        connection = session.connection()
        dialect = connection.dialect
        if dialect.name not in self._written:
            vendor = create_vendor(session, name, at)
            self._written[dialect.name] = _write_down(connection, vendor, at)
            return vendor
        earlier = self._written[dialect.name]
        keys = {env: text[:KEY_PREFIX] + secrets.token_urlsafe(KEY_BYTES) for env, text in earlier.vendor.keys.items()}
        vendor = NewVendor(vendor_id=make_id(IdPrefix.VENDOR, at), name=name, keys=keys)
        script = ";".join(earlier.statements)
        times = _store_time(earlier.at, dialect), _store_time(at, dialect)
        for old, new in (times, *_find_changes(earlier, vendor, at)):
            assert _write_value(old) in script
            script = script.replace(_write_value(old), _write_value(new))
        driver = connection.connection.driver_connection
        assert driver is not None
        for statement in (script,) if dialect.name == "postgresql" else script.split(";"):
            driver.execute(statement)
        return vendor


def _find_changes(earlier: Written, vendor: NewVendor, at: datetime) -> Iterator[tuple[str, str]]:
    """Give what is only one vendor's own, with what stands for it in the rows of another."""
    before = earlier.vendor
    yield before.name, vendor.name
    yield before.vendor_id, vendor.vendor_id
    yield make_simulated_address(before.vendor_id), make_simulated_address(vendor.vendor_id)
    for env_mode, old in before.keys.items():
        new = vendor.keys[env_mode]
        yield earlier.key_ids[env_mode], make_id(IdPrefix.API_KEY, at)
        yield hash_key(old), hash_key(new)
        yield old[-4:], new[-4:]


def _store_time(moment: datetime, dialect: Dialect) -> object:
    """Return a moment as a row has it."""
    write = Vendor.__table__.c.created_at.type.dialect_impl(dialect).bind_processor(dialect)
    assert write is not None
    return write(moment)


def _write_down(connection: Connection, vendor: NewVendor, at: datetime) -> Written:
    """Return a vendor with the statements that would write it, in the words of the connection's database."""
    statements = []
    for table in TABLES:
        owner = "id" if table is Vendor else "vendor_id"
        name = table.__tablename__
        found = connection.exec_driver_sql(f"SELECT * FROM {name} WHERE {owner} = {_write_value(vendor.vendor_id)}")
        rows = ", ".join(f"({', '.join(map(_write_value, row))})" for row in found)
        statements.append(f"INSERT INTO {name} ({', '.join(found.keys())}) VALUES {rows}")
    keys = connection.exec_driver_sql("SELECT env_mode, id, vendor_id FROM api_keys")
    key_ids = {EnvMode(env_mode): key_id for env_mode, key_id, owner in keys if owner == vendor.vendor_id}
    return Written(vendor=vendor, at=at, key_ids=key_ids, statements=tuple(statements))


def _write_value(value: object) -> str:
    """Write a value as SQL has it; times and texts alike."""
    if value is None or isinstance(value, int):
        return "NULL" if value is None else str(value)
    text = str(value)
    assert ";" not in text
    return "'" + text.replace("'", "''") + "'"
