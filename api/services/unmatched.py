"""Payments that belong to no order, for the operator to look at and assign."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import and_, func, or_, select
from sqlalchemy.orm import Session

from api.domain.clock import iso
from api.domain.env import EnvMode
from api.domain.errors import Conflict, NotFound
from api.domain.orders import takes_payment
from api.services.order_store import GONE, PaymentState, is_credited, lock_all, payments_of, settle, state_of
from api.storage.tables import Payment

LOST = "lost"
"""Reason of a payment that an order has succeeded with, and that is on its chain no more."""


def list_unmatched(session: Session, env_mode: EnvMode) -> list[dict[str, str]]:
    """Describe the payments of an environment that need the operator, oldest first.

    They are on their chain and belong to no order, or they were counted for one, and their chain has lost them since.
    """
    is_unmatched = and_(Payment.order_id.is_(None), Payment.state.not_in(GONE))
    query = select(Payment).where(Payment.env_mode == env_mode, or_(is_unmatched, Payment.state == PaymentState.LOST))
    return [
        {
            "payment_id": str(row.id),
            "reason": LOST if row.state == PaymentState.LOST else row.unmatched_reason,
            "claimed_order_id": row.order_id or row.claimed_order_id or "",
            "chain_id": str(row.chain_id),
            "transaction_hash": row.tx_hash,
            "token_address": row.token_address,
            "amount": str(row.amount),
            "sender": row.sender,
            "recipient": row.recipient,
            "mined_at": iso(row.mined_at),
        }
        for row in session.scalars(query.order_by(Payment.id))
    ]


def count_unmatched(session: Session) -> dict[str, int]:
    """Count the payments of each environment that are on their chain and belong to no order."""
    query = select(Payment.env_mode, func.count()).where(Payment.order_id.is_(None), Payment.state.not_in(GONE))
    return {row[0]: row[1] for row in session.execute(query.group_by(Payment.env_mode))}


def assign(session: Session, payment_id: int, order_id: str, now: datetime) -> str:
    """Credit an unmatched payment to an order, and return the order's status then.

    Raises
    ------
    NotFound
        If there is no such payment or order.
    Conflict
        If the payment has an order already, is not on its chain any more, or is not what the order waits for.
    """
    payment = session.scalar(select(Payment).where(Payment.id == payment_id).with_for_update())
    if payment is None:
        raise NotFound(f"There is no payment {payment_id}; `checkout payments unmatched` lists them")
    order = lock_all(session, [order_id]).get(order_id)
    if order is None or order.env_mode != payment.env_mode:
        raise NotFound(f"There is no payment order {order_id!r} in the {payment.env_mode} environment")
    if payment.order_id is not None:
        raise Conflict(f"Payment {payment_id} belongs to {payment.order_id} already")
    if payment.state in GONE:
        raise Conflict(f"Payment {payment_id} is not on its chain any more")
    if payment.recipient != order.settlement_address or not is_credited(order, payment):
        raise Conflict("The payment has another token, chain or recipient than the order; the merchant can refund it")
    if not takes_payment(state_of(order), payment.mined_at):
        raise Conflict(f"The order is {order.status} and takes no payment any more; the merchant can refund it")
    payment.order_id, payment.unmatched_reason, payment.updated_at = order.id, "", now
    session.flush()
    settle(session, order, payments_of(session, [order.id])[order.id], now)
    return order.status
