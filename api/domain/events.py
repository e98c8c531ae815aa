"""Which event tells a vendor of which status, and how a place among events is written."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum
from types import MappingProxyType

from api.domain.orders import OrderStatus, StatusReason


class EventType(StrEnum):
    """What a vendor can be told.

    The first three are the interface's, and every subscription has them unless it names others. ``payment_refunded``:
    money went back to a customer. ``payment_unmatched``: money reached the vendor and belongs to no order.
    """

    PROCESSING = "payment_processing"
    SUCCESS = "payment_success"
    FAILED = "payment_failed"
    REFUNDED = "payment_refunded"
    UNMATCHED = "payment_unmatched"


DEFAULT_TYPES = (EventType.PROCESSING, EventType.SUCCESS, EventType.FAILED)
"""What a subscription hears of that does not choose."""

EVENT_OF: Mapping[OrderStatus, EventType] = MappingProxyType(
    {
        OrderStatus.CREATED: EventType.PROCESSING,
        OrderStatus.PROCESSING: EventType.PROCESSING,
        OrderStatus.SUCCESS: EventType.SUCCESS,
        OrderStatus.FAILED: EventType.FAILED,
        OrderStatus.EXPIRED: EventType.FAILED,
        OrderStatus.CANCELLED: EventType.FAILED,
    }
)
"""A refund is told by itself, however many an order has: see `api.services.orders.refund_events`."""


_EVENT_ID = re.compile(r"evt_[0-9a-z]{36}", re.ASCII)


def parse_place(text: str) -> str | datetime | None:
    """Return the id or the aware moment after which events are asked for, or None where a text is neither."""
    if _EVENT_ID.fullmatch(text):
        return text
    try:
        moment = datetime.fromisoformat(text)
        return moment.astimezone(UTC) if moment.tzinfo else None  # or nobody knows whose noon it is
    except (ValueError, OverflowError):
        return None


def choose_event(status: OrderStatus, reason: StatusReason) -> EventType | None:
    """Return the event that tells of a change, or None.

    An order that has succeeded and whose payment its chain has lost since is told of as a failure: the vendor must not
    deliver for it, or must act if it has. So is money that came for a closed order: it has to be sent back.
    """
    if reason == StatusReason.PAID_AFTER_CLOSE:
        return EventType.FAILED
    if reason == StatusReason.PARTIALLY_REFUNDED:
        return None
    if status == OrderStatus.SUCCESS and reason == StatusReason.REORGED:
        return EventType.FAILED
    return EVENT_OF.get(status)
