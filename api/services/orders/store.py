"""Orders in the database: find them, lock them, move them on."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.domain.env import EnvMode
from api.domain.errors import NotFound
from api.domain.events import EventType, choose_event
from api.domain.funds import NOTABLE_SHARE, Funds
from api.domain.orders import OPEN, OrderState, OrderStatus, OrderStep, StatusReason, advance
from api.domain.payments import COUNTED
from api.domain.transfers import TransferKind
from api.services.orders.main_transactions import describe_main
from api.services.orders.money import Money, is_credited, sum_funds
from api.services.orders.price_views import describe_price, write_due
from api.services.orders.reading import OWN
from api.services.orders.worth import is_notable
from api.services.webhooks.outbox import NewEvent, publish
from api.storage.rows import NewRow, insert_rows
from api.storage.statements import Place
from api.storage.tables import Payment, PaymentOrder, TimelineEntry

_COUNTED_ANEW = frozenset({StatusReason.UNDERPAID, StatusReason.OVERPAID})
"""Reasons that say how much came: more of it leaves them the same."""
NOTHING: Mapping[str, Any] = MappingProxyType({})
_ORDER = select(PaymentOrder).where(*OWN)
"""Built once: building a query takes as long as asking it."""
_LOCKED_ORDER = _ORDER.with_for_update(key_share=True)


def find_order(
    session: Session, vendor_id: str, env_mode: EnvMode, order_id: str, *, lock: bool = False
) -> PaymentOrder:
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
    asked = {"order_id": order_id, "vendor_id": vendor_id, "env_mode": env_mode}
    order = session.scalar(_LOCKED_ORDER if lock else _ORDER, asked)
    if order is None:
        raise NotFound(f"There is no payment order {order_id!r} in the {env_mode} environment")
    return order


def lock_orders(session: Session, order_ids: Collection[str]) -> Mapping[str, PaymentOrder]:
    """Lock these orders, always in the same sequence, so that two who want the same ones take turns.

    Without their keys, here as of payments: a row that refers to one waits for nobody then (ADR 136).
    """
    if not order_ids:
        return {}
    query = (
        select(PaymentOrder)
        .where(PaymentOrder.id.in_(order_ids))
        .order_by(PaymentOrder.id)
        .with_for_update(key_share=True)
    )
    rows = session.scalars(query.execution_options(populate_existing=True))
    return {row.id: row for row in rows}


def get_state(order: PaymentOrder) -> OrderState:
    """Return what the state machine looks at."""
    return OrderState(
        status=OrderStatus(order.status),
        reason=StatusReason(order.status_reason),
        amount=order.settlement_amount,
        expires_at=order.expires_at,
    )


def settle(
    session: Session,
    order: PaymentOrder,
    money: Money,
    now: datetime,
    *,
    may_expire: bool = True,
    known_until: datetime | None = None,
) -> bool:
    """Bring a locked order up to date with its money and the clock; every change is an entry and an event.

    Parameters
    ----------
    may_expire : bool
        Whether the order's time may end it now; not while chains may still hold what was paid in time.
    known_until : datetime, optional
        Up to which moment all that was mined is known; now without it.

    Returns
    -------
    bool
        Whether anything changed.
    """
    funds = sum_funds(order, money)
    moment = now if may_expire else order.created_at
    steps = advance(get_state(order), funds, moment, known_until=known_until)
    is_news = not steps and is_worth_telling(order, funds)
    if order.settlement_amount is not None:
        order.amount_received = funds.received
        status = steps[-1].status if steps else OrderStatus(order.status)
        order.amount_due = max(0, order.settlement_amount - _count_paid(status, funds, order.settlement_amount))
    for step in steps:
        apply_step(session, order, step, money, now)
    if is_news:
        order.updated_at = now
        record_status(session, order, money, now)
    return bool(steps) or is_news


def is_worth_telling(order: PaymentOrder, funds: Funds) -> bool:
    """Whether a vendor is told of what came, or was lost, while an open order's status and reason stay the same.

    What is under the price's hundredth part is no news: anybody who has the link can send that.
    """
    is_open = order.status == OrderStatus.PROCESSING and order.status_reason in _COUNTED_ANEW
    if not is_open or order.settlement_amount is None:
        return False
    return abs(funds.received - order.amount_received) * NOTABLE_SHARE >= order.settlement_amount


def _count_paid(status: OrderStatus, funds: Funds, price: int) -> int:
    """Return how much of the price nobody has to pay any more: what went back of a closed order is not due again."""
    if status in OPEN:
        return funds.seen
    return price if status == OrderStatus.REFUNDED else funds.received


def apply_step(session: Session, order: PaymentOrder, step: OrderStep, money: Money, now: datetime) -> None:
    """Make one change of a locked order, note it in the timeline and tell the vendor, all in this transaction."""
    order.status, order.status_reason, order.updated_at = step.status, step.reason, now
    record_status(session, order, money, now)


def record_status(place: Place, order: PaymentOrder, money: Money, now: datetime) -> None:
    """Write the order's present status into its timeline and outbox."""
    order.transaction_hash = find_payers_hash(order, money)
    insert_rows(place, [make_entry(order, money, now)])
    event = find_event(order, money, now)
    if event is not None:
        publish(place, event)


def make_entry(order: PaymentOrder, money: Money, now: datetime) -> NewRow:
    """Make the timeline's entry of an order's present status."""
    given = {
        "order_id": order.id,
        "status": order.status,
        "status_reason": order.status_reason,
        "at": now,
        "transaction_hash": _find_hash_behind(order, money),
    }
    return NewRow(table=TimelineEntry, given=given)


def find_event(order: PaymentOrder, money: Money, now: datetime) -> NewEvent | None:
    """Return what the vendor is told of an order's present status; None where that is nothing."""
    event_type = choose_event(OrderStatus(order.status), StatusReason(order.status_reason))
    if event_type is None:
        return None
    return make_event(order, money, event_type, now, {"transaction_hash": _find_hash_behind(order, money)})


def find_payers_hash(order: PaymentOrder, money: Money) -> str:
    """Return the payer's transaction on the chain it paid from; empty before there is one.

    Of several the one that paid most: anybody can add a little to an order.
    """
    rows = [row for row in money.payments if row.kind in (TransferKind.PAYMENT, TransferKind.DEPOSIT)]
    best = max(rows, key=lambda row: _weigh(order, row), default=None)  # of equals the oldest
    return "" if best is None else best.source_tx_hash or best.tx_hash


def _weigh(order: PaymentOrder, row: Payment) -> tuple[bool, int, bool]:
    is_wanted = is_credited(order, row) and not row.is_after_close
    return is_wanted, row.amount if is_wanted else 0, row.is_built


def _find_hash_behind(order: PaymentOrder, money: Money) -> str:
    """Return the transaction behind the newest change: the last refund's, what came after the end, or the payer's."""
    if order.status_reason == StatusReason.PAID_AFTER_CLOSE:
        late = [row for row in money.received if row.is_after_close and row.state in COUNTED]
        notable = [row for row in late if is_notable(order, row)] or late
        return (notable[-1].source_tx_hash or notable[-1].tx_hash) if notable else order.transaction_hash
    sent = [row.tx_hash for row in money.payments if row.kind == TransferKind.REFUND]
    went_back = order.status == OrderStatus.REFUNDED or order.status_reason == StatusReason.PARTIALLY_REFUNDED
    return sent[-1] if sent and went_back else order.transaction_hash


def make_event(
    order: PaymentOrder, money: Money, event_type: EventType, now: datetime, more: Mapping[str, Any] = NOTHING
) -> NewEvent:
    """Make an event about an order as it is now; `more` is added to its data."""
    data = {
        "payment_order_id": order.id,
        "metadata": order.merchant_metadata,
        "transaction_hash": order.transaction_hash,
        "payment_order_status": order.status,
        "status_reason": order.status_reason,
        "order_price": describe_price(order),
        "amount_received": str(order.amount_received),
        "amount_due": write_due(order),
        **describe_main(order, money),
        **more,
    }
    return NewEvent(
        vendor_id=order.vendor_id,
        env_mode=EnvMode(order.env_mode),
        order_id=order.id,
        type=event_type,
        created_at=now,
        data=data,
    )
