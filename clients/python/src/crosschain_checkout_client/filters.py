"""Which orders to list."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TypedDict

from crosschain_checkout_client.models import OrderStatus, StatusReason


class OrderFilter(TypedDict, total=False):
    """What orders have to be like, all of it."""

    status: OrderStatus
    status_reason: StatusReason
    metadata: Mapping[str, str]
    """Entries of their metadata."""
    payer: str
    """Whose money came for them."""
    transaction_hash: str
    """Any transaction of theirs, on any chain."""
    created_from: datetime
    created_to: datetime
    updated_from: datetime
    updated_to: datetime


def write_filter(given: OrderFilter) -> dict[str, object]:
    """Return the query of a filter: each entry of the metadata is a parameter of its own."""
    rest: dict[str, object] = {name: value for name, value in given.items() if name != "metadata"}
    return rest | {f"metadata[{name}]": value for name, value in given.get("metadata", {}).items()}
