"""Deposits whose deliveries are awaited on a chain: while there are any, what became final is searched once more."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import cache

from sqlalchemy import Select, and_, bindparam, or_, select
from sqlalchemy.orm import Session, aliased

from api.domain.env import EnvMode
from api.domain.orders import OrderStatus
from api.domain.payments import GONE
from api.domain.transfers import TransferKind
from api.storage.tables import Payment, PaymentOrder

AFTER_DEADLINE = timedelta(days=1)
"""How long past its deadline a deposit of an order that is closed is still awaited."""


def awaits_delivery(session: Session, env_mode: EnvMode, chain_id: int, now: datetime) -> bool:
    """Whether a deposit of an order is still to be delivered on a chain."""
    values = {"env_mode": env_mode, "chain_id": chain_id, "oldest": now - AFTER_DEADLINE}
    return session.scalar(_build_query(), values) is not None


@cache
def _build_query() -> Select[int]:
    """Build the query for all chains: that takes longer than to ask it, and each look at a chain asks."""
    delivery, chain_id = aliased(Payment), bindparam("chain_id", type_=Payment.chain_id.type)
    is_delivered = select(delivery.id).where(
        delivery.bridge_id == Payment.bridge_id,
        delivery.env_mode == Payment.env_mode,
        delivery.kind.in_([TransferKind.PAYMENT, TransferKind.REDIRECTED, TransferKind.BRIDGE_REFUND]),
        delivery.state.not_in(GONE),
    )
    is_here = or_(
        Payment.promised_chain_id == chain_id,
        and_(Payment.promised_chain_id.is_(None), PaymentOrder.settlement_chain_id == chain_id),
    )
    is_open = or_(
        PaymentOrder.status.in_([OrderStatus.CREATED, OrderStatus.PROCESSING]),
        Payment.fill_deadline >= bindparam("oldest", type_=Payment.fill_deadline.type),
    )
    return (
        select(Payment.id)
        .join(PaymentOrder, PaymentOrder.id == Payment.order_id)
        .where(
            Payment.kind == TransferKind.DEPOSIT,
            Payment.env_mode == bindparam("env_mode", type_=Payment.env_mode.type),
            Payment.state.not_in(GONE),
            Payment.is_overdue.is_(False),
            is_here,
            is_open,
            ~is_delivered.exists(),
        )
        .limit(1)
    )
