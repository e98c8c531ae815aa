"""Deposits whose deliveries are awaited on a chain: while there are any, what became final is searched once more."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import Select, SQLColumnExpression, and_, bindparam, or_, select
from sqlalchemy.orm import aliased

from api.domain.env import EnvMode
from api.domain.orders import OrderStatus
from api.domain.payments import GONE
from api.domain.transfers import TransferKind
from api.storage.statements import Place, Statement
from api.storage.tables import Payment, PaymentOrder

AFTER_DEADLINE = timedelta(days=1)
"""How long past its deadline a deposit of an order that is closed is still awaited."""


def awaits_delivery(place: Place, env_mode: EnvMode, chain_id: int, now: datetime) -> bool:
    """Whether a deposit of an order is still to be delivered on a chain."""
    values = {"env_mode": env_mode, "chain_id": chain_id, "oldest": now - AFTER_DEADLINE}
    return bool(_AWAITED.fetch(place, values))


def select_awaited(env_mode: SQLColumnExpression[str], chain_id: SQLColumnExpression[int]) -> Select[int]:
    """Select a deposit of an environment whose delivery on a chain is awaited, if there is one.

    `oldest` is to be given: the moment `AFTER_DEADLINE` ago.
    """
    delivery, answers = aliased(Payment), (TransferKind.PAYMENT, TransferKind.REDIRECTED, TransferKind.BRIDGE_REFUND)
    is_delivered = select(delivery.id).where(
        delivery.bridge_id == Payment.bridge_id,
        delivery.env_mode == Payment.env_mode,
        or_(*(delivery.kind == each for each in answers)),
        *(delivery.state != each for each in sorted(GONE)),
    )
    is_here = or_(
        Payment.promised_chain_id == chain_id,
        and_(Payment.promised_chain_id.is_(None), PaymentOrder.settlement_chain_id == chain_id),
    )
    is_open = or_(
        PaymentOrder.status == OrderStatus.CREATED,
        PaymentOrder.status == OrderStatus.PROCESSING,
        Payment.fill_deadline >= bindparam("oldest", type_=Payment.fill_deadline.type),
    )
    return (
        select(Payment.id)
        .join(PaymentOrder, PaymentOrder.id == Payment.order_id)
        .where(
            Payment.kind == TransferKind.DEPOSIT,
            Payment.env_mode == env_mode,
            *(Payment.state != each for each in sorted(GONE)),
            Payment.is_overdue.is_(False),
            is_here,
            is_open,
            ~is_delivered.exists(),
        )
        .limit(1)
    )


_AWAITED = Statement(
    select_awaited(
        bindparam("env_mode", type_=Payment.env_mode.type), bindparam("chain_id", type_=Payment.chain_id.type)
    )
)
