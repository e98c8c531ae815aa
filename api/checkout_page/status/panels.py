"""Which part of the page an order's state shows, and how it looks."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from api.domain.orders import OrderStatus, StatusReason
from api.services.orders.views import PublicOrder


class Panel(StrEnum):
    """The parts of the page of which a state shows one."""

    PAY = "pay"
    PROGRESS = "progress"
    OUTCOME = "outcome"


class Tone(StrEnum):
    """How a state looks."""

    NEUTRAL = "neutral"
    NOTICE = "notice"
    PROGRESS = "progress"
    WARNING = "warning"
    SUCCESS = "success"
    FAILURE = "failure"


_S = OrderStatus
_TONES: Mapping[OrderStatus, Tone] = MappingProxyType(
    {
        _S.CREATED: Tone.NEUTRAL,
        _S.PROCESSING: Tone.PROGRESS,
        _S.SUCCESS: Tone.SUCCESS,
        _S.FAILED: Tone.FAILURE,
        _S.EXPIRED: Tone.WARNING,
        _S.CANCELLED: Tone.NEUTRAL,
        _S.REFUNDED: Tone.NEUTRAL,
    }
)
_LACKS_MONEY = frozenset({StatusReason.UNDERPAID, StatusReason.WRONG_TOKEN})


def is_paused(order: PublicOrder, status: OrderStatus) -> bool:
    """Whether an order that waits for a payment takes none until its chain is read again."""
    return order.is_paused and _waits_for_payment(order, status)


def takes_more(order: PublicOrder) -> bool:
    """Whether an order that can be paid still lacks something."""
    return order.payable and bool(order.amount_due)


def is_undone(order: PublicOrder, status: OrderStatus) -> bool:
    """Whether a payment was seen and is not any more: who pays again without a question may pay twice."""
    return status == _S.CREATED and order.payable and order.status_reason == StatusReason.REORGED


def choose_panel(order: PublicOrder, status: OrderStatus) -> Panel:
    """Choose the part of the page that is visible."""
    if is_paused(order, status):
        return Panel.OUTCOME
    if is_undone(order, status):
        return Panel.PROGRESS
    if status == _S.CREATED:
        return Panel.PAY if order.payable else Panel.OUTCOME
    if status == _S.PROCESSING:
        return Panel.PAY if takes_more(order) and _waits_for_payment(order, status) else Panel.PROGRESS
    return Panel.OUTCOME


def choose_tone(order: PublicOrder, status: OrderStatus) -> Tone:
    """Choose how it looks."""
    is_noticed = is_paused(order, status) or (status == _S.CREATED and not order.payable)
    return Tone.NOTICE if is_noticed else _TONES[status]


def _waits_for_payment(order: PublicOrder, status: OrderStatus) -> bool:
    if status == _S.PROCESSING:
        return bool(order.amount_due) and order.status_reason in _LACKS_MONEY
    return status == _S.CREATED
