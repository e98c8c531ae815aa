"""Payments that belong to no order, for their vendor and the operator to look at and assign."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, func, or_, select
from sqlalchemy.orm import Session

from api.domain.audit import AuditAction, Change
from api.domain.clock import format_time
from api.domain.env import EnvMode
from api.domain.errors import Conflict, NotFound, Problem
from api.domain.payments import CHECKED, GONE, REPLACED, Evidence, PaymentState
from api.domain.transfers import TransferKind
from api.services.audit import record_change
from api.services.orders.store import lock_orders
from api.services.settlement.crediting.crediting import settle_all
from api.services.settlement.crediting.ownership import give
from api.services.settlement.crediting.unmatched_views import describe_unmatched
from api.services.vendors.owned_addresses import Owner, find_owner, load_places
from api.storage.tables import Payment, PaymentOrder, Vendor
from routing_engine.reference import token_registry

LOST = "lost"
"""Reason of a payment that an order has succeeded with, and that is on its chain no more."""
DISPUTED = "disputed"
"""Reason of one that endpoints contradict each other about: it counts as soon as enough of them agree."""
SAID = {PaymentState.LOST: LOST, PaymentState.DISPUTED: DISPUTED}


def list_unmatched(session: Session, env_mode: EnvMode) -> list[dict[str, str]]:
    """Describe the payments of an environment that need the operator, oldest first.

    They are on their chain and belong to no order, or endpoints contradict each other about them, or they were counted
    for an order, and their chain has lost them since; or they are what came instead of such, until they are final.
    """
    is_replaced = and_(Payment.unmatched_reason == REPLACED, Payment.state.in_(CHECKED))
    is_needed = or_(
        is_unmatched(), is_replaced, Payment.state == PaymentState.LOST, Payment.state == PaymentState.DISPUTED
    )
    query = select(Payment).where(Payment.env_mode == env_mode, is_needed)
    return [_describe(session, row) for row in session.scalars(query.order_by(Payment.id))]


def _describe(session: Session, row: Payment) -> dict[str, str]:
    """Describe a payment for the operator; its vendor is whoever owns the address that it reached."""
    info = token_registry.info_of(row.chain_id, row.token_address)
    owner = find_owner(session, row.chain_id, row.recipient)
    vendor = session.get(Vendor, owner[0]) if owner is not None else None
    return {
        "transfer_id": row.public_id,
        "reason": SAID.get(PaymentState(row.state), row.unmatched_reason),
        "vendor": vendor.name if vendor is not None else "",
        "claimed_order_id": row.order_id or row.claimed_order_id or "",
        "chain_id": str(row.chain_id),
        "transaction_hash": row.tx_hash,
        "token_address": row.token_address,
        "token_symbol": info.symbol if info is not None else "",
        "token_decimals": str(info.on(row.chain_id).decimals) if info is not None else "",
        "amount": str(row.amount),
        "sender": row.sender,
        "recipient": row.recipient,
        "mined_at": format_time(row.mined_at),
    }


def count_unmatched(session: Session) -> dict[str, int]:
    """Count the payments of each environment that are on their chain and belong to no order."""
    query = select(Payment.env_mode, func.count()).where(is_unmatched())
    return {row[0]: row[1] for row in session.execute(query.group_by(Payment.env_mode))}


def list_own(
    session: Session, owner: Owner, *, limit: int, cursor: str | None = None
) -> tuple[list[dict[str, Any]], str | None]:
    """Describe the transfers that reached a vendor in one environment and belong to no order, newest first.

    Returns
    -------
    tuple
        The descriptions, and the cursor of the next page; None at the end.
    """
    query = select(Payment).where(Payment.env_mode == owner[1], is_unmatched(), has_reached(session, owner))
    if cursor is not None:
        query = query.where(Payment.public_id < cursor)
    rows = session.scalars(query.order_by(Payment.public_id.desc()).limit(limit + 1)).all()
    page = rows[:limit]
    return describe_unmatched(session, owner, page), page[-1].public_id if len(rows) > limit else None


def assign(
    session: Session, transfer_id: str, order_id: str, now: datetime, owner: Owner | None = None
) -> PaymentOrder:
    """Credit an unmatched transfer to an order of the vendor whose address it reached; return the order.

    It may be any of the vendor's orders: one that is closed, or waits for something else, shows the money, which can be
    sent back. The transfer waits once more for what its value and the order's price ask for: while it was nobody's, it
    was trusted like a transfer of no value.

    Parameters
    ----------
    transfer_id : str
        Public id.
    owner : Owner, optional
        The vendor who asks, and finds nothing that is another's; the operator without it.

    Raises
    ------
    NotFound
        If there is no such transfer or order.
    Conflict
        If the transfer has an order already, is not on its chain any more, or reached somebody else's address.
    """
    payment = session.scalar(select(Payment).where(Payment.public_id == transfer_id).with_for_update(key_share=True))
    reached = None if payment is None else find_owner(session, payment.chain_id, payment.recipient)
    if payment is None or payment.kind != TransferKind.PAYMENT or owner not in (None, reached):
        raise NotFound(f"There is no transfer {transfer_id!r}")
    order = lock_orders(session, [order_id]).get(order_id)
    whose = None if order is None else (order.vendor_id, EnvMode(order.env_mode))
    if order is None or whose is None or whose[1] != payment.env_mode or owner not in (None, whose):
        problem = Problem(path="payment_order_id", message="Not an order of this vendor in this environment")
        raise NotFound(f"There is no payment order {order_id!r} in the {payment.env_mode} environment", problem)
    if payment.order_id is not None:
        raise Conflict(f"Transfer {transfer_id} belongs to an order already")
    if payment.state in GONE:
        raise Conflict(f"Transfer {transfer_id} is not on its chain any more")
    if reached != whose:
        raise Conflict(f"The transfer went to {payment.recipient}, which is no address of the order's vendor")
    if order.settlement_address is None:
        raise Conflict("The order can't be paid: it was made without a settlement account")
    before = {"claimed_order_id": payment.claimed_order_id, "unmatched_reason": payment.unmatched_reason}
    give(payment, order, Evidence.ASSIGNED, now)
    session.flush()
    record_change(session, describe_assignment(AuditAction.PAYMENT_ASSIGNED, payment, order, before), now)
    settle_all(session, {order.id: order}, (), now)
    return order


def describe_assignment(action: AuditAction, row: Payment, order: PaymentOrder, before: Mapping[str, Any]) -> Change:
    """Say what became of a transfer, to be written down."""
    return Change(
        action=action,
        subject=row.public_id,
        vendor_id=order.vendor_id,
        env_mode=order.env_mode,
        before=before,
        after={"order_id": row.order_id},
    )


def has_reached(session: Session, owner: Owner) -> ColumnElement[bool]:
    """Return the condition that a transfer reached a vendor in one environment: one of its addresses, on its chain."""
    places = load_places(session, owner)
    shared = [
        and_(Payment.recipient == address, Payment.chain_id.in_(chains))
        for address, chains in places.items()
        if chains is not None
    ]
    return or_(Payment.recipient.in_([address for address, chains in places.items() if chains is None]), *shared)


def is_unmatched() -> ColumnElement[bool]:
    """Return the condition that a transfer is on its chain and belongs to no order."""
    return and_(Payment.order_id.is_(None), Payment.state.not_in(GONE), Payment.kind == TransferKind.PAYMENT)
