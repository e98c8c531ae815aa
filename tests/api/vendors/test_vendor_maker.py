"""The vendors that tests get are such as the service makes."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from sqlalchemy import select

from api.domain.env import EnvMode
from api.services.resources import Resources
from api.services.vendors.api_keys import find_key
from api.services.vendors.vendors import NewVendor, create_vendor, make_simulated_address
from tests.support.vendors import TABLES, VendorMaker

ITS_OWN = {"id", "vendor_id", "key_hash", "last4", "address"}
"""What differs from vendor to vendor."""


def test_a_vendor_from_rows_is_like_one_that_the_service_makes(resources: Resources) -> None:
    maker, now = VendorMaker(), resources.clock.now()
    with resources.database.write() as session:
        first = maker.make(session, "First", now)
        then = now + timedelta(hours=1)
        copied, made = maker.make(session, "Tea", then), create_vendor(session, "Coffee", then)
        assert len({first.vendor_id, copied.vendor_id, made.vendor_id}) == 3
        for table in TABLES:
            rows = [dict(row) for row in session.execute(select(table.__table__)).mappings()]
            assert describe(rows, copied) == describe(rows, made) != [], table
        for env_mode in EnvMode:
            key = find_key(session, copied.keys[env_mode], then)
            assert key is not None
            assert (key.vendor_id, key.env_mode, key.vendor_name) == (copied.vendor_id, env_mode, "Tea")


def describe(rows: list[dict[str, Any]], vendor: NewVendor) -> list[str]:
    """Return a vendor's rows without what is only its own; that is looked at here where it follows from the vendor."""
    mine = [row for row in rows if vendor.vendor_id in (row.get("id"), row.get("vendor_id"))]
    assert {row["address"] for row in mine if "address" in row} <= {make_simulated_address(vendor.vendor_id)}
    assert {row["last4"] for row in mine if "last4" in row} <= {text[-4:] for text in vendor.keys.values()}
    plain = [{name: value for name, value in row.items() if name not in ITS_OWN} for row in mine]
    return sorted(repr({name: value for name, value in row.items() if value != vendor.name}) for row in plain)
