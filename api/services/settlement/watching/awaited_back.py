"""Money that is to go back on a chain: what merchants are to refund, and what bridges are to give back."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import bindparam, or_, select

from api.domain.env import EnvMode
from api.domain.payments import GONE, PaymentState
from api.domain.transfers import TransferKind
from api.domain.watched import AwaitedRefund, Move
from api.storage.statements import Place, Statement
from api.storage.tables import Payment, PaymentOrder, Refund

BRIDGE_REFUND_WITHIN = timedelta(days=7)
"""How long after its deadline a bridge is expected to give a deposit back."""


def list_awaited_refunds(place: Place, env_mode: EnvMode, chain_id: int) -> frozenset[AwaitedRefund]:
    """Return what merchants are to send back on a chain, and have not sent for good."""
    return frozenset(
        AwaitedRefund(
            move=Move(token_address=row.token_address, sender=row.sender, recipient=row.recipient),
            reference=bytes(row.reference),
        )
        for row in _REFUNDS.fetch(place, {"env_mode": env_mode, "chain_id": chain_id})
    )


def list_awaited_returns(place: Place, env_mode: EnvMode, chain_id: int, now: datetime) -> frozenset[Move]:
    """Return what bridges are to give back on a chain: only of deposits that the service's own page built.

    Anybody with a link may make a deposit of another kind, and have it belong to whom he likes.
    """
    values = {"env_mode": env_mode, "chain_id": chain_id, "since": now - BRIDGE_REFUND_WITHIN}
    return frozenset(
        Move(token_address=row.token_address, sender=row.recipient, recipient=row.sender)
        for row in _RETURNS.fetch(place, values)
        if row.sender
    )


# Told once all of it was sent; what of that its chain may lose still, or has lost, has to be found again.
_UNSURE = select(Payment.id).where(Payment.refund_id == Refund.id, Payment.state != PaymentState.FINAL)
_REFUNDS = Statement(
    select(Refund.token_address, Refund.sender, Refund.recipient, Refund.reference)
    .join(PaymentOrder, PaymentOrder.id == Refund.order_id)
    .where(
        PaymentOrder.env_mode == bindparam("env_mode", type_=PaymentOrder.env_mode.type),
        Refund.chain_id == bindparam("chain_id", type_=Refund.chain_id.type),
        or_(~Refund.is_announced, _UNSURE.exists()),
    )
)
_RETURNS = Statement(
    select(Payment.token_address, Payment.recipient, Payment.sender).where(
        Payment.env_mode == bindparam("env_mode", type_=Payment.env_mode.type),
        Payment.chain_id == bindparam("chain_id", type_=Payment.chain_id.type),
        Payment.kind == TransferKind.DEPOSIT,
        Payment.is_overdue,
        Payment.is_built,
        *(Payment.state != each for each in sorted(GONE)),
        Payment.fill_deadline >= bindparam("since", type_=Payment.fill_deadline.type),
    )
)
