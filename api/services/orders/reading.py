"""What a request reads of one order: a single query, and where money moved for it a transaction with two more.

A single query reads one state by itself. A transaction around it takes PostgreSQL two more round trips, and in each of
them a process waits for its turn anew (ADR 74).

Rows have the names of the tables' attributes, and nothing that is changed in the database by changing them. A session's
objects cost several times as much; they are for what changes orders.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from api.domain.clock import format_time
from api.domain.env import EnvMode
from api.domain.errors import NotFound
from api.domain.payments import GONE
from api.services.orders.chain_reads import SETTLEMENT_READ_AT
from api.services.orders.money import NO_MONEY, Money
from api.services.orders.quoted import read_given
from api.services.vendors.brands import BRAND_COLUMNS
from api.storage.db import Database
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
    SETTLEMENT_READ_AT,
)
_ID = _ORDER.id == bindparam("order_id")
OWN = (
    _ID,
    _ORDER.vendor_id.is_not_distinct_from(bindparam("vendor_id")),
    _ORDER.env_mode.is_not_distinct_from(bindparam("env_mode")),
)
"""An order by its id, if it is this vendor's and of this environment.

PostgreSQL uses no index for these two. By `=` it took one of the vendor's orders for as good as the id's for as long as
it had no statistics, so each read went through all orders of its vendor (capacity.md).
"""
_OWN = Statement(select(*_READ).select_from(_ENTRIES).where(*OWN).order_by(_ENTRY.id))
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
_ARRIVED = Statement(
    select(Payment.__table__)
    .where(
        _PAYMENT.order_id == bindparam("order_id"),
        _PAYMENT.refund_id.is_(None),
        *(_PAYMENT.state != each for each in sorted(GONE)),
    )
    .order_by(_PAYMENT.mined_at, _PAYMENT.id)
)
_REFUNDS = Statement(select(Refund.__table__).where(_REFUND.order_id == bindparam("order_id")).order_by(_REFUND.id))
_TIMELINES = (
    select(
        TimelineEntry.order_id,
        TimelineEntry.status,
        TimelineEntry.status_reason,
        TimelineEntry.at,
        TimelineEntry.transaction_hash,
    )
    .where(TimelineEntry.order_id.in_(bindparam("order_ids", expanding=True)))
    .order_by(TimelineEntry.id)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredOrder:
    """An order as it stands in the database at one moment.

    Parameters
    ----------
    row : Any
        Has the attributes of `PaymentOrder` but for `start_heights`, and `settlement_read_at`, when its chain was read
        last; read for its payer also `vendor_name` and those of
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


def read_own_order(database: Database, vendor_id: str, env_mode: EnvMode, order_id: str) -> StoredOrder:
    """Read an order for its vendor.

    Raises
    ------
    NotFound
        If there is none, or it is another vendor's, or of the other environment.
    """
    asked = {"order_id": order_id, "vendor_id": vendor_id, "env_mode": env_mode}
    with database.look() as place:
        found = _OWN.fetch(place, asked)
    if found and found[0].has_transfers:
        with database.look_at_one_state() as place:
            found = _OWN.fetch(place, asked)
            stored = _read_money(place, found) if found else None
    else:
        stored = _describe_unpaid(found) if found else None
    if stored is None:
        raise NotFound(f"There is no payment order {order_id!r} in the {env_mode} environment")
    return stored


def read_payable_order(place: Place, order_id: str) -> StoredOrder:
    """Read an order for whoever has its payment URL, with what is shown of its vendor.

    Parameters
    ----------
    place : Session or DirectConnection
        Of one state, since money may have moved.

    Raises
    ------
    NotFound
        If there is none.
    """
    return _read_money(place, _fetch_payable(place, order_id))


def read_money(place: Place, order_id: str) -> Money:
    """Read what moved for an order, and what goes back of it."""
    return _count(_TRANSFERS.fetch(place, {"order_id": order_id}), place, order_id)


def read_arrivals(place: Place, order_id: str) -> Money:
    """Read the same without what goes back: refunds of an order add up."""
    return Money(payments=_ARRIVED.fetch(place, {"order_id": order_id}))


def find_unpaid_order(place: Place, order_id: str) -> StoredOrder | None:
    """Read the same by one query; None where money moved.

    Raises
    ------
    NotFound
        If there is no such order.
    """
    rows = _fetch_payable(place, order_id)
    return None if rows[0].has_transfers else _describe_unpaid(rows)


def load_timelines(session: Session, order_ids: Sequence[str]) -> Mapping[str, list[dict[str, str]]]:
    """Return the timeline of each of these orders, oldest entry first."""
    found: dict[str, list[dict[str, str]]] = defaultdict(list)
    for row in session.execute(_TIMELINES, {"order_ids": order_ids}):
        found[row.order_id].append(describe_entry(row.status, row.status_reason, row.at, row.transaction_hash))
    return found


def describe_entry(status: str, status_reason: str, at: datetime, transaction_hash: str) -> dict[str, str]:
    """Describe one change of an order."""
    return {
        "status": status,
        "status_reason": status_reason,
        "at": format_time(at),
        "transaction_hash": transaction_hash,
    }


def _fetch_payable(place: Place, order_id: str) -> Sequence[Any]:
    rows = _PUBLIC.fetch(place, {"order_id": order_id})
    if not rows:
        raise NotFound("There is no such payment order")
    return rows


def _read_money(place: Place, rows: Sequence[Any]) -> StoredOrder:
    """Read what moved for the order of these rows, one for each entry of its timeline."""
    if not rows[0].has_transfers:
        return _describe_unpaid(rows)
    transfers: Sequence[Any] = _TRANSFERS.fetch(place, {"order_id": rows[0].id})
    money = _count(transfers, place, rows[0].id)
    return StoredOrder(row=rows[0], timeline=_describe_timeline(rows), transfers=transfers, money=money)


def _count(transfers: Sequence[Any], place: Place, order_id: str) -> Money:
    refunds: Sequence[Any] = _REFUNDS.fetch(place, {"order_id": order_id})
    counted = [each for each in transfers if each.state not in GONE]
    return Money(payments=counted, refunds=refunds, quotes=read_given(place, order_id) if counted else ())


def _describe_unpaid(rows: Sequence[Any]) -> StoredOrder:
    return StoredOrder(row=rows[0], timeline=_describe_timeline(rows), transfers=(), money=NO_MONEY)


def _describe_timeline(rows: Sequence[Any]) -> list[dict[str, str]]:
    return [
        describe_entry(each.entry_status, each.entry_status_reason, each.entry_at, each.entry_transaction_hash)
        for each in rows
        if each.entry_status is not None
    ]
