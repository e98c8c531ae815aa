"""What a vendor does with its payment orders."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.context import Context
from api.domain.env import EnvMode
from api.domain.errors import InvalidData
from api.domain.orders import OrderStatus, StatusReason, change
from api.services.ledgers import is_simulated
from api.services.order_creation import NewLink, create_link
from api.services.order_store import Payments, apply, find, lock_all, payments_of, state_of
from api.services.order_view import PublicOrder, describe, public_order
from api.services.refunds import request_refund
from api.services.simulated_wallet import pay_back
from api.storage.tables import PaymentOrder

__all__ = ["NewLink", "PublicOrder", "cancel", "create_link", "get_order", "list_orders", "public_order", "refund"]


def get_order(context: Context, vendor_id: str, env_mode: EnvMode, order_id: str) -> Mapping[str, Any]:
    """Return one order as the interface shows it.

    Raises
    ------
    NotFound
        If there is none, or it is another vendor's, or of the other environment.
    """
    with context.database.read() as session:
        return describe(context, session, [find(session, vendor_id, env_mode, order_id)])[0]


def list_orders(
    context: Context,
    vendor_id: str,
    env_mode: EnvMode,
    *,
    limit: int,
    status: str | None = None,
    cursor: str | None = None,
) -> Mapping[str, Any]:
    """Return a page of orders, newest first.

    Parameters
    ----------
    cursor : str, optional
        `next_cursor` of the page before.

    Raises
    ------
    InvalidData
        If the cursor is none.
    """
    query = select(PaymentOrder).where(PaymentOrder.vendor_id == vendor_id, PaymentOrder.env_mode == env_mode)
    if status is not None:
        query = query.where(PaymentOrder.status == status)
    if cursor is not None:
        if not cursor.startswith("po_") or not cursor.isascii():
            raise InvalidData.at("cursor", "Expected the next_cursor of an earlier page")
        query = query.where(PaymentOrder.id < cursor)
    with context.database.read() as session:
        rows = session.scalars(query.order_by(PaymentOrder.id.desc()).limit(limit + 1)).all()
        page = rows[:limit]
        return {
            "data": describe(context, session, page),
            "next_cursor": page[-1].id if len(rows) > limit else None,
        }


def cancel(context: Context, vendor_id: str, env_mode: EnvMode, order_id: str) -> Mapping[str, Any]:
    """Take back an order that nobody has paid yet.

    Raises
    ------
    Conflict
        If its status does not allow it.
    """

    def end(session: Session, order: PaymentOrder, payments: Payments, now: datetime) -> None:
        step = change(state_of(order), OrderStatus.CANCELLED, StatusReason.CANCELLED_BY_VENDOR)
        apply(session, order, step, payments, now)

    return _act(context, vendor_id, env_mode, order_id, end)


def cancel_by_payer(context: Context, order_id: str) -> None:
    """Let the customer who has the payment URL give the order up.

    Raises
    ------
    NotFound
        If there is no such order.
    Conflict
        If its status does not allow it.
    """
    public_order(context, order_id)
    now = context.clock.now()
    with context.database.write() as session:
        order = lock_all(session, [order_id])[order_id]
        step = change(state_of(order), OrderStatus.CANCELLED, StatusReason.CANCELLED_BY_PAYER)
        apply(session, order, step, payments_of(session, [order_id]).get(order_id, ()), now)


def refund(context: Context, vendor_id: str, env_mode: EnvMode, order_id: str) -> Mapping[str, Any]:
    """Send everything that was received for a paid order back to its payer.

    On the simulated ledger it is done at once. On real chains the answer has the transactions for the merchant's own
    wallet, and the order becomes refunded when they are final.

    Raises
    ------
    Conflict
        If its status does not allow it.
    """

    def give_back(session: Session, order: PaymentOrder, payments: Payments, now: datetime) -> None:
        if not is_simulated(context, env_mode):
            request_refund(session, order, payments, now)
            return
        step = change(state_of(order), OrderStatus.REFUNDED)
        tx_hash = pay_back(session, order, payments, now)
        apply(session, order, step, payments, now, tx_hash=tx_hash)

    return _act(context, vendor_id, env_mode, order_id, give_back)


def _act(
    context: Context,
    vendor_id: str,
    env_mode: EnvMode,
    order_id: str,
    action: Callable[[Session, PaymentOrder, Payments, datetime], None],
) -> Mapping[str, Any]:
    now = context.clock.now()
    with context.database.write() as session:
        order = find(session, vendor_id, env_mode, order_id, lock=True)
        action(session, order, payments_of(session, [order_id]).get(order_id, ()), now)
        session.flush()
        return describe(context, session, [order])[0]
