"""Orders and their payments in the database: read them, lock them, move them on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.domain.clock import iso
from api.domain.env import EnvMode
from api.domain.errors import NotFound
from api.domain.events import event_of
from api.domain.funds import Credit, add_up
from api.domain.ledger import TransferKind
from api.domain.orders import OrderState, OrderStatus, StatusReason, Step, advance
from api.services.outbox import NewEvent, publish
from api.storage.tables import Payment, PaymentOrder, TimelineEntry

Payments = Sequence[Payment]


class PaymentState(StrEnum):
    """Where a transfer stands on its chain.

    ``confirmed`` has the blocks that its value asks for, and counts; it is checked on until its chain can't lose it
    any more, and it is ``final``. One that its chain has taken back is ``reorged``, or ``lost`` if it had counted.
    """

    SEEN = "seen"
    CONFIRMED = "confirmed"
    FINAL = "final"
    REORGED = "reorged"
    LOST = "lost"


COUNTED = frozenset({PaymentState.CONFIRMED, PaymentState.FINAL})
"""What an order can succeed with."""
GONE = frozenset({PaymentState.REORGED, PaymentState.LOST})
"""What is in no canonical block."""


def find(session: Session, vendor_id: str, env_mode: EnvMode, order_id: str, *, lock: bool = False) -> PaymentOrder:
    """Return a vendor's order.

    Parameters
    ----------
    lock : bool
        Whether to keep everybody else from changing it until the transaction ends.

    Raises
    ------
    NotFound
        If there is none, or it is another vendor's, or of the other environment.
    """
    query = select(PaymentOrder).where(
        PaymentOrder.id == order_id, PaymentOrder.vendor_id == vendor_id, PaymentOrder.env_mode == env_mode
    )
    order = session.scalar(query.with_for_update() if lock else query)
    if order is None:
        raise NotFound(f"There is no payment order {order_id!r} in the {env_mode} environment")
    return order


def lock_all(session: Session, order_ids: Collection[str]) -> Mapping[str, PaymentOrder]:
    """Lock these orders, always in the same sequence, so that two who want the same ones take turns."""
    if not order_ids:
        return {}
    query = select(PaymentOrder).where(PaymentOrder.id.in_(order_ids)).order_by(PaymentOrder.id).with_for_update()
    rows = session.scalars(query.execution_options(populate_existing=True))
    return {row.id: row for row in rows}


def payments_of(session: Session, order_ids: Collection[str]) -> Mapping[str, Payments]:
    """Return the payments of these orders that are in a canonical block, oldest first."""
    query = select(Payment).where(Payment.order_id.in_(order_ids), Payment.state.not_in(GONE))
    found: dict[str, list[Payment]] = defaultdict(list)
    for row in session.scalars(query.order_by(Payment.mined_at, Payment.id)):
        found[row.order_id or ""].append(row)
    return found


def state_of(order: PaymentOrder) -> OrderState:
    """Return what the state machine looks at."""
    return OrderState(
        status=OrderStatus(order.status),
        reason=StatusReason(order.status_reason),
        amount=order.settlement_amount,
        expires_at=order.expires_at,
        refund_amount=order.refund_amount,
    )


def is_credited(order: PaymentOrder, payment: Payment) -> bool:
    """Whether a payment's amount counts: the token asked for, on the chain asked for."""
    return (
        payment.kind == TransferKind.PAYMENT
        and payment.chain_id == order.settlement_chain_id
        and payment.token_address == order.settlement_token_address
    )


def settle(session: Session, order: PaymentOrder, payments: Payments, now: datetime) -> None:
    """Bring a locked order up to date with its payments and the clock; every change is an entry and an event."""
    funds = add_up(_credit(order, payment) for payment in payments)
    if order.settlement_amount is not None:
        order.amount_received = funds.seen
        order.amount_due = max(0, order.settlement_amount - funds.seen)
    for step in advance(state_of(order), funds, now):
        apply(session, order, step, payments, now)


def apply(
    session: Session,
    order: PaymentOrder,
    step: Step,
    payments: Payments,
    now: datetime,
    *,
    tx_hash: str | None = None,
) -> None:
    """Make one change of a locked order, note it in the timeline and tell the vendor, all in this transaction.

    Parameters
    ----------
    tx_hash : str, optional
        Transaction behind the change, where it is not the payer's.
    """
    order.status, order.status_reason, order.updated_at = step.status, step.reason, now
    order.transaction_hash = payers_hash(payments)
    record(session, order, payments, now, tx_hash=tx_hash)


def record(
    session: Session, order: PaymentOrder, payments: Payments, now: datetime, *, tx_hash: str | None = None
) -> None:
    """Write the order's present status into its timeline and outbox."""
    session.add(
        TimelineEntry(
            order_id=order.id,
            status=order.status,
            status_reason=order.status_reason,
            at=now,
            transaction_hash=order.transaction_hash if tx_hash is None else tx_hash,
        )
    )
    event_type = event_of(OrderStatus(order.status), StatusReason(order.status_reason))
    if event_type is not None:
        publish(session, _event(order, payments, event_type, now))


def payers_hash(payments: Payments) -> str:
    """Return the payer's first transaction, on the chain it paid from; empty before there is one."""
    return next((row.source_tx_hash or row.tx_hash for row in payments if row.kind != TransferKind.REFUND), "")


def transactions(payments: Payments) -> list[dict[str, Any]]:
    """Describe every transaction of an order once."""
    found: dict[tuple[int, str], datetime] = {}
    for row in payments:
        found.setdefault((row.chain_id, row.tx_hash), row.mined_at)
    return [{"chain_id": chain, "hash": text, "timestamp": iso(at)} for (chain, text), at in found.items()]


def _credit(order: PaymentOrder, payment: Payment) -> Credit:
    return Credit(
        kind=TransferKind(payment.kind),
        amount=payment.amount,
        is_settlement_token=is_credited(order, payment),
        is_final=payment.state in COUNTED,
        tx_hash=payment.tx_hash,
        source_tx_hash=payment.source_tx_hash,
        mined_at=payment.mined_at,
        is_overdue=payment.is_overdue,
        is_rejected=payment.is_rejected,
    )


def _event(order: PaymentOrder, payments: Payments, event_type: str, now: datetime) -> NewEvent:
    data = {
        "payment_order_id": order.id,
        "metadata": order.merchant_metadata,
        "transaction_hash": order.transaction_hash,
        "payment_order_status": order.status,
        "status_reason": order.status_reason,
        "transactions": transactions(payments),
    }
    return NewEvent(
        vendor_id=order.vendor_id,
        env_mode=EnvMode(order.env_mode),
        order_id=order.id,
        type=event_type,
        created_at=now,
        data=data,
    )
