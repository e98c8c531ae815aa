"""A vendor's refunds of all orders: newest first, page by page.

Where a refund stands follows from what moved for its order, and is stored nowhere. So the database leaves out what
certainly does not fit, and what it returns is looked at here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import ColumnElement, and_, exists, or_, select, tuple_, update
from sqlalchemy.orm import Session

from api.domain.env import EnvMode
from api.domain.errors import InvalidData
from api.domain.ids import IdPrefix
from api.domain.payments import GONE, PaymentState
from api.domain.refund_filter import RefundFilter
from api.services.orders.money import Money, load_money
from api.services.orders.refund_views import RefundStatus, describe_refund, find_status
from api.services.resources import Resources
from api.storage.db import Database
from api.storage.tables import Payment, PaymentOrder, Refund


def list_refunds(
    resources: Resources,
    vendor_id: str,
    env_mode: EnvMode,
    wanted: RefundFilter,
    *,
    limit: int,
    cursor: str | None = None,
) -> Mapping[str, Any]:
    """Return a page of refunds, newest first, each with the id of its order.

    Raises
    ------
    InvalidData
        Naming `cursor`, if it is no refund of the vendor in this environment.
    """
    _add_owners(resources.database)
    own = (Refund.vendor_id == vendor_id, Refund.env_mode == env_mode)
    found: list[tuple[Refund, Money]] = []
    with resources.database.read_one_state() as session:
        after = None if cursor is None else _find_place(session, own, cursor)
        while len(found) <= limit:
            rows = session.scalars(build_query(vendor_id, env_mode, wanted, limit + 1, after)).all()
            money = load_money(session, {row.order_id for row in rows})
            found += [(row, money[row.order_id]) for row in rows if _fits(row, money[row.order_id], wanted)]
            if len(rows) <= limit:
                break
            after = rows[-1]
        page = [describe_refund(moved, row) | {"payment_order_id": row.order_id} for row, moved in found[:limit]]
    return {"data": page, "next_cursor": page[-1]["id"] if len(found) > limit else None}


def build_query(
    vendor_id: str, env_mode: EnvMode, wanted: RefundFilter, limit: int, after: Refund | None = None
) -> Any:
    """Return the query of the next refunds that may fit; `after` is the last one that was looked at."""
    conditions = [
        *([_may_be(wanted.status)] if wanted.status else ()),
        *([Refund.order_id == wanted.payment_order_id] if wanted.payment_order_id else ()),
        *([Refund.created_at >= wanted.created_from] if wanted.created_from is not None else ()),
        *([Refund.created_at < wanted.created_to] if wanted.created_to is not None else ()),
        *([tuple_(Refund.created_at, Refund.id) < (after.created_at, after.id)] if after is not None else ()),
    ]
    return (
        select(Refund)
        .where(Refund.vendor_id == vendor_id, Refund.env_mode == env_mode, *conditions)
        .order_by(Refund.created_at.desc(), Refund.id.desc())
        .limit(limit)
    )


def _find_place(session: Session, own: Iterable[ColumnElement[bool]], cursor: str) -> Refund:
    """Return the refund that a page ended with."""
    try:
        reference = bytes.fromhex(cursor.removeprefix(f"{IdPrefix.REFUND}_"))
    except ValueError:
        reference = b""
    found = session.scalar(select(Refund).where(*own, Refund.reference == reference))
    if found is None:
        raise InvalidData.at("cursor", "Expected the next_cursor of an earlier page")
    return found


def _fits(refund: Refund, money: Money, wanted: RefundFilter) -> bool:
    return not wanted.status or find_status(money, refund) in wanted.status


def _may_be(statuses: Iterable[str]) -> ColumnElement[bool]:
    """Return what a refund of one of these has for certain; what several transfers add up to, no query can say."""
    is_sent_at_once = _has_transfer(Payment.state.not_in(GONE), Payment.amount >= Refund.amount)
    conditions = {
        RefundStatus.REQUESTED: and_(Refund.cancelled_at.is_(None), ~is_sent_at_once),
        RefundStatus.SENT: _has_transfer(Payment.state.not_in({*GONE, PaymentState.FINAL})),
        RefundStatus.FINAL: _has_transfer(Payment.state == PaymentState.FINAL),
        RefundStatus.CANCELLED: and_(Refund.cancelled_at.is_not(None), ~is_sent_at_once),
    }
    return or_(*(conditions[RefundStatus(status)] for status in statuses))


def _has_transfer(*conditions: ColumnElement[bool]) -> ColumnElement[bool]:
    # By its order, not by hashing all payments: so PostgreSQL is asked for a comparison, which a hash can't make. A
    # transfer is written down after the payment that it gives back, so the comparison leaves none out.
    mine = (Payment.order_id == Refund.order_id, Payment.refund_id == Refund.id, Payment.id > Refund.payment_id)
    return exists().where(*mine, *conditions)


def _add_owners(database: Database) -> None:
    """Write down whose the refunds are that versions before revision 0015 have made while this one ran too."""
    unowned = Refund.vendor_id.is_(None)
    with database.read() as session:
        if session.scalar(select(Refund.id).where(unowned).limit(1)) is None:
            return
    order = select(PaymentOrder).where(PaymentOrder.id == Refund.order_id)
    owner = {
        column.key: order.with_only_columns(column).scalar_subquery()
        for column in (PaymentOrder.vendor_id, PaymentOrder.env_mode)
    }
    with database.write() as session:
        session.execute(update(Refund).where(unowned).values(**owner).execution_options(synchronize_session=False))
