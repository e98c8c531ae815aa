"""Payments that belong to no order, for the operator to look at and assign."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ColumnElement, and_, func, or_, select
from sqlalchemy.orm import Session

from api.domain.clock import format_time
from api.domain.env import EnvMode
from api.domain.errors import Conflict, NotFound
from api.domain.payments import GONE, Evidence, PaymentState
from api.domain.transfers import TransferKind
from api.services.orders.store import lock_orders
from api.services.settlement.crediting.crediting import settle_all
from api.services.settlement.crediting.ownership import give
from api.storage.tables import Payment

LOST = "lost"
"""Reason of a payment that an order has succeeded with, and that is on its chain no more."""


def list_unmatched(session: Session, env_mode: EnvMode) -> list[dict[str, str]]:
    """Describe the payments of an environment that need the operator, oldest first.

    They are on their chain and belong to no order, or they were counted for one, and their chain has lost them since.
    """
    query = select(Payment).where(
        Payment.env_mode == env_mode, or_(_is_unmatched(), Payment.state == PaymentState.LOST)
    )
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
            "mined_at": format_time(row.mined_at),
        }
        for row in session.scalars(query.order_by(Payment.id))
    ]


def count_unmatched(session: Session) -> dict[str, int]:
    """Count the payments of each environment that are on their chain and belong to no order."""
    query = select(Payment.env_mode, func.count()).where(_is_unmatched())
    return {row[0]: row[1] for row in session.execute(query.group_by(Payment.env_mode))}


def assign(session: Session, payment_id: int, order_id: str, now: datetime) -> str:
    """Credit an unmatched payment to an order of the vendor whose address it reached; return the order's status then.

    It may be any order: one that is closed, or waits for something else, shows the money, which can be sent back.

    Raises
    ------
    NotFound
        If there is no such payment or order.
    Conflict
        If the payment has an order already, is not on its chain any more, or reached another address.
    """
    payment = session.scalar(select(Payment).where(Payment.id == payment_id).with_for_update())
    if payment is None or payment.kind != TransferKind.PAYMENT:
        raise NotFound(f"There is no payment {payment_id}; `checkout payments unmatched` lists them")
    order = lock_orders(session, [order_id]).get(order_id)
    if order is None or order.env_mode != payment.env_mode:
        raise NotFound(f"There is no payment order {order_id!r} in the {payment.env_mode} environment")
    if payment.order_id is not None:
        raise Conflict(f"Payment {payment_id} belongs to {payment.order_id} already")
    if payment.state in GONE:
        raise Conflict(f"Payment {payment_id} is not on its chain any more")
    if payment.recipient != order.settlement_address:
        raise Conflict(f"The payment went to {payment.recipient}, the order is paid to {order.settlement_address}")
    give(payment, order, Evidence.ASSIGNED, now)
    session.flush()
    settle_all(session, {order.id: order}, {order.id} if payment.is_after_close else set(), now)
    return order.status


def _is_unmatched() -> ColumnElement[bool]:
    return and_(Payment.order_id.is_(None), Payment.state.not_in(GONE), Payment.kind == TransferKind.PAYMENT)
