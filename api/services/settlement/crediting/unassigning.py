"""Take a payment that was assigned by hand away from its order again.

Nothing may be paid twice by that. So what an order has succeeded with stays, as does what is sent back or may be; and
what counts by evidence was never a person's to give.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.domain.audit import AuditAction
from api.domain.env import EnvMode
from api.domain.errors import Conflict, NotFound
from api.domain.orders import OPEN, OrderStatus, StatusReason
from api.domain.payments import COUNTED, GONE, Evidence
from api.domain.taken_away import take_away
from api.services.audit import find_last_before, record_change
from api.services.orders.money import load_money, sum_funds
from api.services.orders.store import find_payers_hash, get_state, lock_orders, make_entry, record_status, settle
from api.services.settlement.crediting.announcing import tell_unmatched
from api.services.settlement.crediting.ownership import take_back
from api.services.settlement.crediting.unmatched_transfers import describe_assignment
from api.services.vendors.owned_addresses import find_owner
from api.storage.rows import insert_rows
from api.storage.tables import Payment, PaymentOrder, Refund, TimelineEntry


def unassign(session: Session, transfer_id: str, now: datetime) -> PaymentOrder:
    """Take a transfer away from the order that somebody gave it to; return the order.

    The order is as its other money says, its vendor is told, and hears of the transfer as one without an order.

    Parameters
    ----------
    transfer_id : str
        Public id.

    Raises
    ------
    NotFound
        If there is no such transfer.
    Conflict
        If it belongs to no order or counts by evidence, if its chain has lost it, if some of it goes back or was to, if
        its address has another owner since, or if its order has succeeded with it.
    """
    payment = session.scalar(select(Payment).where(Payment.public_id == transfer_id).with_for_update(key_share=True))
    if payment is None:
        raise NotFound(f"There is no transfer {transfer_id!r}")
    if payment.order_id is None:
        raise Conflict(f"Transfer {transfer_id} belongs to no order")
    if payment.evidence != Evidence.ASSIGNED:
        raise Conflict(f"Transfer {transfer_id} counts by its {payment.evidence} and not by anybody's word")
    order = lock_orders(session, [payment.order_id])[payment.order_id]
    _require_free(session, payment, order)
    given = {"order_id": order.id}
    take_back(payment, find_last_before(session, AuditAction.PAYMENT_ASSIGNED, transfer_id) or {}, now)
    session.flush()
    _follow(session, order, now)
    if payment.state in COUNTED:  # a chain that stands still is not looked at
        tell_unmatched(session, (order.vendor_id, EnvMode(order.env_mode)), [payment], now)
    record_change(session, describe_assignment(AuditAction.PAYMENT_UNASSIGNED, payment, order, given), now)
    return order


def _require_free(session: Session, payment: Payment, order: PaymentOrder) -> None:
    """Refuse to take what its vendor sends back, or what would be somebody else's then; the order is locked."""
    if payment.state in GONE:
        raise Conflict("It is not on its chain any more: it counts for nothing, and comes back to its order if at all")
    if session.scalar(select(Refund.id).where(Refund.payment_id == payment.id).limit(1)) is not None:
        raise Conflict("Some of it was sent back, or was to be: what is signed may be mined at any time")
    if find_owner(session, payment.chain_id, payment.recipient) != (order.vendor_id, EnvMode(order.env_mode)):
        raise Conflict(f"{payment.recipient} is no address of the order's vendor any more: it would be another's")


def _follow(session: Session, order: PaymentOrder, now: datetime) -> None:
    """Bring a locked order up to date with what is left, and tell its vendor; never of a success twice."""
    money = load_money(session, [order.id])[order.id]
    before = order.status, order.status_reason, order.amount_received
    step = take_away(get_state(order), sum_funds(order, money), _find_reason_before(session, order))
    order.status, order.status_reason = step.status, step.reason
    if settle(session, order, money, now, may_expire=False):
        return
    order.updated_at = now
    if order.status == OrderStatus.SUCCESS:
        order.transaction_hash = find_payers_hash(order, money)
        insert_rows(session, [make_entry(order, money, now)])
    elif before != (order.status, order.status_reason, order.amount_received) or order.status in OPEN:
        record_status(session, order, money, now)


def _find_reason_before(session: Session, order: PaymentOrder) -> StatusReason:
    """Return the reason that a closed order had before money came for it."""
    query = select(TimelineEntry.status_reason).where(
        TimelineEntry.order_id == order.id,
        TimelineEntry.status == order.status,
        TimelineEntry.status_reason != StatusReason.PAID_AFTER_CLOSE,
    )
    return StatusReason(session.scalar(query.order_by(TimelineEntry.id.desc()).limit(1)) or StatusReason.NONE)
