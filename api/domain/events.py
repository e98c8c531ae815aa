"""Which event tells a vendor of which status."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from api.domain.orders import OrderStatus


class EventType(StrEnum):
    """The three types of the interface."""

    PROCESSING = "payment_processing"
    SUCCESS = "payment_success"
    FAILED = "payment_failed"


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
"""A refund has no event: the vendor asked for it and has the answer."""
