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
from api.domain.funds import Funds

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
    CANCELLED_BY_PAYER = "cancelled_by_payer"
    CANCELLED_BY_VENDOR = "cancelled_by_vendor"


_S = OrderStatus
TRANSITIONS: Mapping[OrderStatus, frozenset[OrderStatus]] = MappingProxyType(
    {
        _S.CREATED: frozenset({_S.PROCESSING, _S.EXPIRED, _S.CANCELLED}),
        _S.PROCESSING: frozenset({_S.CREATED, _S.SUCCESS, _S.FAILED}),
        _S.EXPIRED: frozenset({_S.PROCESSING}),
        _S.SUCCESS: frozenset({_S.REFUNDED}),
        _S.FAILED: frozenset(),
        _S.CANCELLED: frozenset(),
        _S.REFUNDED: frozenset(),
    }
)
"""Every change of status that there is."""

OPEN = frozenset({_S.CREATED, _S.PROCESSING, _S.EXPIRED})
"""Statuses that money can still change."""

_REMEDIES: Mapping[OrderStatus, str] = MappingProxyType(
    {
        _S.CREATED: "wait until it is paid",
        _S.PROCESSING: "a payment is on its way; wait until the order has succeeded or failed",
        _S.SUCCESS: "it is paid; refund it instead",
        _S.FAILED: "create a new payment link",
        _S.EXPIRED: "create a new payment link",
        _S.CANCELLED: "create a new payment link",
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
    refund_amount : int or None
        What the merchant wants to send back; None where no refund was asked for.
    """

    status: OrderStatus
    reason: StatusReason
    amount: int | None
    expires_at: datetime
    refund_amount: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A change of status or of its reason."""

    status: OrderStatus
    reason: StatusReason


def advance(order: OrderState, funds: Funds, now: datetime) -> tuple[Step, ...]:
    """Return the changes that are due, in their order; none if the order is where it belongs."""
    steps = []
    while step := _next(order, funds, now):
        steps.append(step)
        order = replace(order, status=step.status, reason=step.reason)
    return tuple(steps)


def change(order: OrderState, status: OrderStatus, reason: StatusReason = StatusReason.NONE) -> Step:
    """Return the step that a person asks for.

    Raises
    ------
    Conflict
        If the order's present status does not allow it.
    """
    if status not in TRANSITIONS[order.status]:
        raise Conflict(f"The order is {order.status} and can't become {status}: {_REMEDIES[order.status]}")
    return Step(status=status, reason=reason)


def takes_payment(order: OrderState, mined_at: datetime) -> bool:
    """Whether a payment of this moment still counts for the order."""
    if order.amount is None:
        return False
    if order.status not in OPEN:
        return order.status == OrderStatus.SUCCESS and order.reason == StatusReason.REORGED
    return order.status != OrderStatus.EXPIRED or mined_at <= order.expires_at + LATE_WINDOW


def _next(order: OrderState, funds: Funds, now: datetime) -> Step | None:
    match order.status:
        case OrderStatus.CREATED if funds.first_at is not None:
            return Step(status=OrderStatus.PROCESSING, reason=_reason(order, funds))
        case OrderStatus.CREATED if now >= order.expires_at:
            return Step(status=OrderStatus.EXPIRED, reason=StatusReason.EXPIRED)
        case OrderStatus.EXPIRED if funds.first_at is not None and takes_payment(order, funds.first_at):
            return Step(status=OrderStatus.PROCESSING, reason=_reason(order, funds))
        case OrderStatus.PROCESSING:
            step = _settle(order, funds, now)
            return None if step == Step(status=order.status, reason=order.reason) else step
        case OrderStatus.SUCCESS:
            return _after_success(order, funds)
    return None


def _after_success(order: OrderState, funds: Funds) -> Step | None:
    """Follow what was promised: the chain may lose a payment that had the blocks its value asked for."""
    if order.refund_amount is not None and funds.refunded >= order.refund_amount:
        return Step(status=OrderStatus.REFUNDED, reason=StatusReason.NONE)
    is_paid = order.amount is None or funds.final >= order.amount
    if is_paid == (order.reason != StatusReason.REORGED):
        return None
    return Step(status=OrderStatus.SUCCESS, reason=_reason(order, funds) if is_paid else StatusReason.REORGED)


def _settle(order: OrderState, funds: Funds, now: datetime) -> Step:
    if funds.first_at is None:
        return Step(status=OrderStatus.CREATED, reason=StatusReason.REORGED)
    if order.amount is not None and funds.final >= order.amount:
        return Step(status=OrderStatus.SUCCESS, reason=_reason(order, funds))
    failure = _failure(order, funds, now)
    if failure is not None:
        return Step(status=OrderStatus.FAILED, reason=failure)
    return Step(status=OrderStatus.PROCESSING, reason=_reason(order, funds))


def _failure(order: OrderState, funds: Funds, now: datetime) -> StatusReason | None:
    """Say why no more can be hoped for, or None while it can."""
    if not _is_short(order, funds):
        return None
    if funds.seen == 0 and funds.returned:
        return StatusReason.ROUTE_FAILED
    if funds.seen == 0 and funds.rejected_final:
        return StatusReason.SCREENING_REJECTED
    if funds.seen == 0 and funds.foreign_final:
        return StatusReason.WRONG_TOKEN
    deadline = order.expires_at + LATE_WINDOW if _is_late(order, funds) else order.expires_at
    if now < deadline:
        return None
    return StatusReason.UNDERPAID if funds.seen else StatusReason.WRONG_TOKEN


def _reason(order: OrderState, funds: Funds) -> StatusReason:
    if _is_short(order, funds) and funds.rejected and not funds.seen:
        return StatusReason.SCREENING_REJECTED
    if _is_short(order, funds) and (funds.seen or funds.foreign):
        return StatusReason.UNDERPAID if funds.seen else StatusReason.WRONG_TOKEN
    if _is_late(order, funds):
        return StatusReason.PAID_LATE
    if order.amount is not None and funds.seen > order.amount:
        return StatusReason.OVERPAID
    return StatusReason.NONE


def _is_short(order: OrderState, funds: Funds) -> bool:
    """Whether money is missing and none is on its way."""
    return order.amount is not None and funds.seen < order.amount and not funds.in_flight


def _is_late(order: OrderState, funds: Funds) -> bool:
    return funds.first_at is not None and funds.first_at > order.expires_at
