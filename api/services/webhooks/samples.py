"""What a test event says: what a real one of its type does, about an order that does not exist."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any

from api.domain.clock import format_time
from api.domain.env import EnvMode
from api.domain.events import EventType
from api.domain.orders import OrderStatus, StatusReason
from api.services.webhooks.sample_details import make_details

SAMPLE_ORDER = "po_00000000000000000000000000000000test"
SAMPLE_HASH = "0x" + "7e57" * 16
SAMPLE_CHAIN = 8453

STATES: Mapping[EventType, tuple[OrderStatus | None, StatusReason]] = MappingProxyType(
    {
        EventType.PROCESSING: (OrderStatus.PROCESSING, StatusReason.NONE),
        EventType.SUCCESS: (OrderStatus.SUCCESS, StatusReason.NONE),
        EventType.FAILED: (OrderStatus.FAILED, StatusReason.UNDERPAID),
        EventType.REFUNDED: (OrderStatus.REFUNDED, StatusReason.NONE),
        EventType.UNMATCHED: (None, StatusReason.NONE),
    }
)


def make_sample(event_type: EventType, env_mode: EnvMode, at: datetime) -> dict[str, Any]:
    """Return `event.data` of a test event, with the properties of a real one; its metadata says what it is."""
    status, reason = STATES[event_type]
    return {
        "payment_order_id": SAMPLE_ORDER,
        "metadata": {"webhook_test": True},
        "transaction_hash": SAMPLE_HASH,
        "payment_order_status": status,
        "status_reason": reason,
        **({} if status is None else _make_amounts(event_type)),
        "transactions": [{"chain_id": SAMPLE_CHAIN, "hash": SAMPLE_HASH, "timestamp": format_time(at)}],
        **make_details(event_type, env_mode, at),
    }


def _make_amounts(event_type: EventType) -> dict[str, Any]:
    """Return what an order of 1 USDC says of its price once all of it came, or half where it failed for that."""
    received = 500_000 if event_type == EventType.FAILED else 1_000_000
    return {
        "order_price": {"currency": "USDC", "amount": 1_000_000, "decimals": 6, "amount_string": "1000000"},
        "amount_received": str(received),
        "amount_due": str(1_000_000 - received),
    }
