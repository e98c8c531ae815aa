"""The life of a payment order: a pure state machine.

`advance` looks at an order, at the money on the chains and at the clock, and says which changes are due. It may be
asked again and again: once nothing has changed, nothing is due. So whoever crashes half-way is made up for by the next.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from types import MappingProxyType

from api.domain.errors import Conflict
from api.domain.funds import NOTABLE_SHARE, Funds

DEFAULT_LIFE = timedelta(hours=24)
MIN_LIFE = timedelta(minutes=30)
MAX_LIFE = timedelta(days=30)
LATE_WINDOW = timedelta(hours=24)
"""How long after its expiry an order still takes a payment."""


class OrderStatus(StrEnum):
    """Where an order stands."""

    CREATED = "created"
    PROCESSING = "processing"
    SUCCESS = "success"
    FAILED = "failed"
    EXPIRED = "expired"
    CANCELLED = "cancelled"
    REFUNDED = "refunded"


class StatusReason(StrEnum):
    """Why it stands there; the second axis."""

    NONE = ""
    UNDERPAID = "underpaid"
    OVERPAID = "overpaid"
    PAID_LATE = "paid_late"
    WRONG_TOKEN = "wrong_token"  # noqa: S105 - a word of the interface
    SLIPPAGE_EXCEEDED = "slippage_exceeded"
    ROUTE_FAILED = "route_failed"
    REORGED = "reorged"
    SCREENING_REJECTED = "screening_rejected"
    EXPIRED = "expired"
    PAID_AFTER_CLOSE = "paid_after_close"
    CANCELLED_BY_VENDOR = "cancelled_by_vendor"
    PARTIALLY_REFUNDED = "partially_refunded"


_S = OrderStatus
TRANSITIONS: Mapping[OrderStatus, frozenset[OrderStatus]] = MappingProxyType(
    {
        _S.CREATED: frozenset({_S.PROCESSING, _S.EXPIRED, _S.CANCELLED}),
        _S.PROCESSING: frozenset({_S.CREATED, _S.SUCCESS, _S.FAILED, _S.CANCELLED, _S.REFUNDED}),
        _S.EXPIRED: frozenset({_S.PROCESSING, _S.REFUNDED}),
        _S.SUCCESS: frozenset({_S.REFUNDED}),
        _S.FAILED: frozenset({_S.REFUNDED}),
        _S.CANCELLED: frozenset({_S.REFUNDED}),
        _S.REFUNDED: frozenset(),
    }
)
"""Every change of status that there is."""

OPEN = frozenset({_S.CREATED, _S.PROCESSING, _S.EXPIRED})
"""Statuses in which money can still pay an order."""

_REMEDIES: Mapping[OrderStatus, str] = MappingProxyType(
    {
        _S.CREATED: "wait until it is paid",
        _S.PROCESSING: "it has been paid in full; wait until the payment is final, then refund it",
        _S.SUCCESS: "it is paid; refund it instead",
        _S.FAILED: "create a new payment link",
        _S.EXPIRED: "nothing needs to be done: what comes within 24 hours of its end still counts, and can be refunded",
        _S.REFUNDED: "the money went back already",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderState:
    """What decides about an order.

    Parameters
    ----------
    amount : int or None
        Settlement token's smallest units that the merchant must receive; None where nothing can be paid.
    """

    status: OrderStatus
    reason: StatusReason
    amount: int | None
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderStep:
    """A change of status or of its reason."""

    status: OrderStatus
    reason: StatusReason


def advance(
    order: OrderState, funds: Funds, now: datetime, *, known_until: datetime | None = None
) -> tuple[OrderStep, ...]:
    """Return the changes that are due, in their order; none if the order is where it belongs.

    Parameters
    ----------
    known_until : datetime, optional
        Up to which moment all that was mined is known; now without it. An order fails for want of money only when that
        is past its end: unlike one that expired, it takes no payment any more.
    """
    steps = []
    while step := _find_next(order, funds, now, known_until or now):
        steps.append(step)
        order = replace(order, status=step.status, reason=step.reason)
    return tuple(steps)


def cancel(order: OrderState, funds: Funds) -> OrderStep:
    """Return the step by which a vendor takes an order back that has not been paid in full.

    Money that comes later is credited to the closed order, and can be sent back.

    Raises
    ------
    Conflict
        If the order's present status does not allow it.
    """
    is_paid = order.status == OrderStatus.PROCESSING and order.amount is not None and funds.seen >= order.amount
    if is_paid or OrderStatus.CANCELLED not in TRANSITIONS[order.status]:
        if order.status == OrderStatus.CANCELLED:
            raise Conflict("The order is cancelled already")
        raise Conflict(f"The order is {order.status} and can't become cancelled: {_REMEDIES[order.status]}")
    return OrderStep(status=OrderStatus.CANCELLED, reason=StatusReason.CANCELLED_BY_VENDOR)


def takes_payment(order: OrderState, mined_at: datetime) -> bool:
    """Whether a payment of this moment still counts towards the price; if not, it is credited to a closed order."""
    if order.amount is None:
        return False
    if order.status not in OPEN:
        return order.status == OrderStatus.SUCCESS and order.reason == StatusReason.REORGED
    return order.status != OrderStatus.EXPIRED or mined_at <= order.expires_at + LATE_WINDOW


def find_end(order: OrderState, funds: Funds) -> datetime:
    """Return until when an order that is open is paid in time: a day longer where all that came for it came late."""
    return order.expires_at + LATE_WINDOW if _is_late(order, funds) else order.expires_at


def _find_next(order: OrderState, funds: Funds, now: datetime, known_until: datetime) -> OrderStep | None:
    step = _find_due(order, funds, now, known_until)
    return None if step == OrderStep(status=order.status, reason=order.reason) else step


def _find_due(order: OrderState, funds: Funds, now: datetime, known_until: datetime) -> OrderStep | None:
    match order.status:
        case OrderStatus.CREATED if funds.first_at is not None:
            return OrderStep(status=OrderStatus.PROCESSING, reason=find_reason(order, funds))
        case OrderStatus.CREATED if now >= order.expires_at:
            return OrderStep(status=OrderStatus.EXPIRED, reason=StatusReason.EXPIRED)
        case OrderStatus.CREATED:
            return None
        case OrderStatus.EXPIRED if funds.first_at is not None and takes_payment(order, funds.first_at):
            return OrderStep(status=OrderStatus.PROCESSING, reason=find_reason(order, funds))
        case OrderStatus.PROCESSING if not funds.all_sent_back or funds.in_flight:
            return _settle(order, funds, min(now, known_until))
    return _find_after_close(order, funds)


def _find_after_close(order: OrderState, funds: Funds) -> OrderStep:
    """Follow what was promised, and what came or went back since.

    The chain may lose a payment that had the blocks its value asked for.
    """
    if funds.all_sent_back:
        return OrderStep(status=OrderStatus.REFUNDED, reason=StatusReason.NONE)
    reason = order.reason
    if order.status == OrderStatus.SUCCESS:
        if order.amount is not None and funds.final < order.amount:
            return OrderStep(status=order.status, reason=StatusReason.REORGED)
        reason = find_reason(order, funds) if reason == StatusReason.REORGED else reason
    if funds.part_sent_back and order.status != OrderStatus.REFUNDED:
        reason = StatusReason.PARTIALLY_REFUNDED
    elif funds.after_close:
        reason = StatusReason.PAID_AFTER_CLOSE
    return OrderStep(status=order.status, reason=reason)


def _settle(order: OrderState, funds: Funds, known_until: datetime) -> OrderStep:
    if funds.first_at is None:
        reason = StatusReason.ROUTE_FAILED if funds.redirected else StatusReason.REORGED
        return OrderStep(status=OrderStatus.CREATED, reason=reason)
    if order.amount is not None and funds.seen_final >= order.amount:
        return OrderStep(status=OrderStatus.SUCCESS, reason=find_reason(order, funds))
    if (failure := _find_failure(order, funds, known_until)) is not None:
        return OrderStep(status=OrderStatus.FAILED, reason=failure)
    return OrderStep(status=OrderStatus.PROCESSING, reason=find_reason(order, funds))


def _find_failure(order: OrderState, funds: Funds, known_until: datetime) -> StatusReason | None:
    """Say why no more can be hoped for, or None while it can.

    Until it expires only the failure of a deposit that was built for it ends an order: whatever else anybody may send
    who has the link leaves it payable.
    """
    if not _is_short(order, funds):
        return None
    shortage = _find_shortage(order, funds)
    if funds.returned and shortage == StatusReason.NONE:
        return StatusReason.ROUTE_FAILED
    return None if known_until < find_end(order, funds) or shortage == StatusReason.NONE else shortage


def find_reason(order: OrderState, funds: Funds) -> StatusReason:
    """Say why an order stands where it does."""
    if _is_short(order, funds) and (shortage := _find_shortage(order, funds)) != StatusReason.NONE:
        return shortage
    if _is_late(order, funds):
        return StatusReason.PAID_LATE
    if order.amount is not None and funds.seen > order.amount:
        return StatusReason.OVERPAID
    return StatusReason.NONE


def _find_shortage(order: OrderState, funds: Funds) -> StatusReason:
    """Say what came instead of the price, also where it goes back; nothing where nothing came that is worth a word."""
    if order.amount is not None and funds.received * NOTABLE_SHARE >= order.amount:
        return StatusReason.UNDERPAID
    if funds.foreign:
        return StatusReason.WRONG_TOKEN
    return StatusReason.SCREENING_REJECTED if funds.rejected else StatusReason.NONE


def _is_short(order: OrderState, funds: Funds) -> bool:
    """Whether money is missing and none is on its way."""
    return order.amount is not None and funds.seen < order.amount and not funds.in_flight


def _is_late(order: OrderState, funds: Funds) -> bool:
    """Whether the price came together after the order's end, or, where it is short, all that came."""
    moment = funds.paid_at or funds.first_at
    return moment is not None and moment > order.expires_at
