"""What a request reads of one order: a single query, and two more where money moved for it.

Rows have the names of the tables' attributes, and nothing that is changed in the database by changing them. A session's
objects cost several times as much; they are for what changes orders.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, select

from api.domain.clock import format_time
from api.domain.env import EnvMode
from api.domain.errors import NotFound
from api.domain.payments import GONE
from api.services.orders.money import NO_MONEY, Money
from api.services.vendors.brands import BRAND_COLUMNS
from api.storage.statements import Place, Statement
from api.storage.tables import Payment, PaymentOrder, Refund, TimelineEntry, Vendor, VendorBrand

_ORDER, _VENDOR, _BRAND = PaymentOrder.__table__.c, Vendor.__table__.c, VendorBrand.__table__.c
_ENTRY, _PAYMENT, _REFUND = TimelineEntry.__table__.c, Payment.__table__.c, Refund.__table__.c
_ENTRIES = PaymentOrder.__table__.outerjoin(TimelineEntry.__table__, _ENTRY.order_id == _ORDER.id)
_OF_BRAND = (_BRAND.vendor_id == _ORDER.vendor_id) & (_BRAND.env_mode == _ORDER.env_mode)
_WITH_SELLER = _ENTRIES.join(Vendor.__table__, _VENDOR.id == _ORDER.vendor_id).outerjoin(
    VendorBrand.__table__, _OF_BRAND
)
_READ = (
    *(column for column in _ORDER if column.name not in ("metadata", "start_heights")),
    _ORDER.metadata.label("merchant_metadata"),
    *(_ENTRY[name].label(f"entry_{name}") for name in ("status", "status_reason", "at", "transaction_hash")),
    select(_PAYMENT.id).where(_PAYMENT.order_id == _ORDER.id).exists().label("has_transfers"),
)
_ID = _ORDER.id == bindparam("order_id")
_OWN = Statement(
    select(*_READ)
    .select_from(_ENTRIES)
    .where(_ID, _ORDER.vendor_id == bindparam("vendor_id"), _ORDER.env_mode == bindparam("env_mode"))
    .order_by(_ENTRY.id)
)
_PUBLIC = Statement(
    select(*_READ, _VENDOR.name.label("vendor_name"), *BRAND_COLUMNS)
    .select_from(
        _ENTRIES.join(Vendor.__table__, _VENDOR.id == _ORDER.vendor_id).outerjoin(VendorBrand.__table__, _OF_BRAND)
    )
    .where(_ID)
    .order_by(_ENTRY.id)
)
_TRANSFERS = Statement(
    select(Payment.__table__).where(_PAYMENT.order_id == bindparam("order_id")).order_by(_PAYMENT.mined_at, _PAYMENT.id)
)
_REFUNDS = Statement(select(Refund.__table__).where(_REFUND.order_id == bindparam("order_id")).order_by(_REFUND.id))


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredOrder:
    """An order as it stands in the database at one moment.

    Parameters
    ----------
    row : Any
        Has the attributes of `PaymentOrder` but for `start_heights`; read for its payer also `vendor_name` and those of
        `VendorBrand` but for the logo itself.
    timeline : list of dict
        ``status``, ``status_reason``, ``at`` and ``transaction_hash``, oldest first.
    transfers : sequence of Any
        Each has the attributes of `Payment`, oldest first; also those in no canonical block.
    money : Money
        What of it counts, and what goes back.
    """

    row: Any
    timeline: list[dict[str, str]]
    transfers: Sequence[Any]
    money: Money


def read_own_order(place: Place, vendor_id: str, env_mode: EnvMode, order_id: str) -> StoredOrder:
    """Read an order for its vendor.

    Raises
    ------
    NotFound
        If there is none, or it is another vendor's, or of the other environment.
    """
    asked = {"order_id": order_id, "vendor_id": vendor_id, "env_mode": env_mode}
    found = _read(place, _OWN, asked)
    if found is None:
        raise NotFound(f"There is no payment order {order_id!r} in the {env_mode} environment")
    return found


def read_payable_order(place: Place, order_id: str) -> StoredOrder:
    """Read an order for whoever has its payment URL, with what is shown of its vendor.

    Raises
    ------
    NotFound
        If there is none.
    """
    found = _read(place, _PUBLIC, {"order_id": order_id})
    if found is None:
        raise NotFound("There is no such payment order")
    return found


def describe_entry(status: str, status_reason: str, at: datetime, transaction_hash: str) -> dict[str, str]:
    """Describe one change of an order."""
    return {
        "status": status,
        "status_reason": status_reason,
        "at": format_time(at),
        "transaction_hash": transaction_hash,
    }


def _read(place: Place, query: Statement, asked: Mapping[str, str]) -> StoredOrder | None:
    rows = query.fetch(place, asked)
    if not rows:
        return None
    row, money = rows[0], NO_MONEY
    transfers: Sequence[Any] = ()
    if row.has_transfers:
        transfers = _TRANSFERS.fetch(place, {"order_id": row.id})
        refunds: Sequence[Any] = _REFUNDS.fetch(place, {"order_id": row.id})
        counted: Sequence[Any] = [each for each in transfers if each.state not in GONE]
        money = Money(payments=counted, refunds=refunds)
    timeline = [
        describe_entry(each.entry_status, each.entry_status_reason, each.entry_at, each.entry_transaction_hash)
        for each in rows
        if each.entry_status is not None
    ]
    return StoredOrder(row=row, timeline=timeline, transfers=transfers, money=money)
