"""Orders and their payments in the database: read them, lock them, move them on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.domain.clock import iso
from api.domain.env import EnvMode
from api.domain.errors import NotFound
from api.domain.events import event_of
from api.domain.funds import Credit, Funds, add_up
from api.domain.ledger import TransferKind
from api.domain.orders import OPEN, OrderState, OrderStatus, StatusReason, Step, advance
from api.services.orders.worth import is_notable
from api.services.webhooks.outbox import NewEvent, publish
from api.storage.tables import Payment, PaymentOrder, Refund, TimelineEntry


class PaymentState(StrEnum):
    """Where a transfer stands on its chain.

    ``confirmed`` has the blocks that its value asks for, and counts; it is checked on until its chain can't lose it
    any more, and it is ``final``. One that endpoints contradict each other about is ``disputed``: it is shown nowhere
    and counts for nothing until they agree. One that its chain has taken back is ``reorged``, or ``lost`` if it had
    counted.
    """

    SEEN = "seen"
    DISPUTED = "disputed"
    CONFIRMED = "confirmed"
    FINAL = "final"
    REORGED = "reorged"
    LOST = "lost"


COUNTED = frozenset({PaymentState.CONFIRMED, PaymentState.FINAL})
"""What an order can succeed with."""
CHECKED = frozenset({PaymentState.SEEN, PaymentState.DISPUTED, PaymentState.CONFIRMED})
"""What a chain may still take back."""
GONE = frozenset({PaymentState.DISPUTED, PaymentState.REORGED, PaymentState.LOST})
"""What is in no canonical block, as far as is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Money:
    """What moved for one order, and what its merchant wants to send back.

    Parameters
    ----------
    payments : sequence of Payment
        Those in a canonical block, of all kinds, oldest first.
    refunds : sequence of Refund
        What was asked for, oldest first.
    """

    payments: Sequence[Payment] = ()
    refunds: Sequence[Refund] = ()

    @property
    def received(self) -> list[Payment]:
        """What reached the merchant, whichever token it is."""
        return [row for row in self.payments if row.kind == TransferKind.PAYMENT]

    def asked_back(self, payment_id: int) -> int:
        """Return how much of a payment the merchant wants to send back, smallest units."""
        return sum(row.amount for row in self.refunds if row.payment_id == payment_id)

    def sent_back(self, payment_id: int) -> int:
        """Return how much of a payment the merchant has sent back for good, smallest units."""
        asked = {row.id for row in self.refunds if row.payment_id == payment_id}
        return sum(row.amount for row in self.payments if row.refund_id in asked and row.state in COUNTED)


NO_MONEY = Money()


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


def money_of(session: Session, order_ids: Collection[str]) -> Mapping[str, Money]:
    """Return what moved for each of these orders."""
    if not order_ids:
        return {}
    query = select(Payment).where(Payment.order_id.in_(order_ids), Payment.state.not_in(GONE))
    payments: dict[str, list[Payment]] = defaultdict(list)
    for row in session.scalars(query.order_by(Payment.mined_at, Payment.id)):
        payments[row.order_id or ""].append(row)
    refunds: dict[str, list[Refund]] = defaultdict(list)
    if payments:  # nothing is sent back of nothing
        for refund in session.scalars(select(Refund).where(Refund.order_id.in_(payments)).order_by(Refund.id)):
            refunds[refund.order_id].append(refund)
    return {
        order_id: Money(payments=payments.get(order_id, ()), refunds=refunds.get(order_id, ()))
        for order_id in order_ids
    }


def state_of(order: PaymentOrder) -> OrderState:
    """Return what the state machine looks at."""
    return OrderState(
        status=OrderStatus(order.status),
        reason=StatusReason(order.status_reason),
        amount=order.settlement_amount,
        expires_at=order.expires_at,
    )


def is_credited(order: PaymentOrder, payment: Payment) -> bool:
    """Whether a payment's amount counts towards the price: the token asked for, on the chain asked for."""
    return (
        payment.kind == TransferKind.PAYMENT
        and payment.chain_id == order.settlement_chain_id
        and payment.token_address == order.settlement_token_address
    )


def funds_of(order: PaymentOrder, money: Money) -> Funds:
    """Add up what moved for an order."""
    return add_up((_credit(order, row, money) for row in money.payments), order.settlement_amount)


def settle(session: Session, order: PaymentOrder, money: Money, now: datetime, *, may_expire: bool = True) -> bool:
    """Bring a locked order up to date with its money and the clock; every change is an entry and an event.

    Parameters
    ----------
    may_expire : bool
        Whether the order's time may end it now; not while chains may still hold what was paid in time.

    Returns
    -------
    bool
        Whether anything changed.
    """
    funds = funds_of(order, money)
    steps = advance(state_of(order), funds, now if may_expire else order.created_at)
    if order.settlement_amount is not None:
        order.amount_received = funds.received
        status = steps[-1].status if steps else OrderStatus(order.status)
        order.amount_due = max(0, order.settlement_amount - _counted(status, funds, order.settlement_amount))
    for step in steps:
        apply(session, order, step, money, now)
    return bool(steps)


def _counted(status: OrderStatus, funds: Funds, price: int) -> int:
    """Return how much of the price nobody has to pay any more: what went back of a closed order is not due again."""
    if status in OPEN:
        return funds.seen
    return price if status == OrderStatus.REFUNDED else funds.received


def apply(session: Session, order: PaymentOrder, step: Step, money: Money, now: datetime) -> None:
    """Make one change of a locked order, note it in the timeline and tell the vendor, all in this transaction."""
    order.status, order.status_reason, order.updated_at = step.status, step.reason, now
    record(session, order, money, now)


def record(session: Session, order: PaymentOrder, money: Money, now: datetime) -> None:
    """Write the order's present status into its timeline and outbox."""
    order.transaction_hash = payers_hash(order, money)
    session.add(
        TimelineEntry(
            order_id=order.id,
            status=order.status,
            status_reason=order.status_reason,
            at=now,
            transaction_hash=_hash_behind(order, money),
        )
    )
    event_type = event_of(OrderStatus(order.status), StatusReason(order.status_reason))
    if event_type is not None:
        publish(session, _event(order, money, event_type, now))


def payers_hash(order: PaymentOrder, money: Money) -> str:
    """Return the payer's transaction on the chain it paid from; empty before there is one.

    Of several the one that paid most: anybody can add a little to an order.
    """
    rows = [row for row in money.payments if row.kind in (TransferKind.PAYMENT, TransferKind.DEPOSIT)]
    best = max(rows, key=lambda row: _weight(order, row), default=None)  # of equals the oldest
    return "" if best is None else best.source_tx_hash or best.tx_hash


def _weight(order: PaymentOrder, row: Payment) -> tuple[bool, int, bool]:
    is_wanted = is_credited(order, row) and not row.is_after_close
    return is_wanted, row.amount if is_wanted else 0, row.is_built


def _hash_behind(order: PaymentOrder, money: Money) -> str:
    """Return the transaction behind the newest change: the last refund's, or else the payer's."""
    sent = [row.tx_hash for row in money.payments if row.kind == TransferKind.REFUND]
    went_back = order.status == OrderStatus.REFUNDED or order.status_reason == StatusReason.PARTIALLY_REFUNDED
    return sent[-1] if sent and went_back else order.transaction_hash


def transactions(money: Money) -> list[dict[str, Any]]:
    """Describe every transaction of an order once."""
    found: dict[tuple[int, str], datetime] = {}
    for row in money.payments:
        found.setdefault((row.chain_id, row.tx_hash), row.mined_at)
    return [{"chain_id": chain, "hash": text, "timestamp": iso(at)} for (chain, text), at in found.items()]


def _credit(order: PaymentOrder, row: Payment, money: Money) -> Credit:
    is_wanted = is_credited(order, row)
    return Credit(
        kind=TransferKind(row.kind),
        amount=row.amount,
        is_settlement_token=is_wanted,
        is_final=row.state in COUNTED,
        mined_at=row.mined_at,
        bridge_key=row.bridge_id or row.source_tx_hash or row.tx_hash,
        is_built=row.is_built,
        is_overdue=row.is_overdue,
        is_rejected=row.is_rejected,
        is_after_close=row.is_after_close,
        is_notable=is_wanted or row.kind != TransferKind.PAYMENT or is_notable(order, row),
        asked_back=money.asked_back(row.id),
        sent_back=money.sent_back(row.id),
    )


def _event(order: PaymentOrder, money: Money, event_type: str, now: datetime) -> NewEvent:
    data = {
        "payment_order_id": order.id,
        "metadata": order.merchant_metadata,
        "transaction_hash": order.transaction_hash,
        "payment_order_status": order.status,
        "status_reason": order.status_reason,
        "transactions": transactions(money),
    }
    return NewEvent(
        vendor_id=order.vendor_id,
        env_mode=EnvMode(order.env_mode),
        order_id=order.id,
        type=event_type,
        created_at=now,
        data=data,
    )
