"""Which orders to list or to export, and which refunds to list."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypedDict

from crosschain_checkout_client import models


class OrderFilter(TypedDict, total=False):
    """What an order has to have; of several, all. What is None is not asked for."""

    status: models.OrderStatus | Sequence[models.OrderStatus] | None
    """Its status, or several of which it has one."""
    status_reason: models.StatusReason | Sequence[models.StatusReason] | None
    """Why it stands there, or several reasons; empty text for orders without one."""
    env_mode: models.EnvMode | None
    """The key's own environment without it."""
    metadata: Mapping[str, str | int | float | bool | None] | None
    """Entries of its metadata, all of them; what is nested is not found."""
    payer: str | None
    """Address whose money came for it, on any chain."""
    transaction_hash: str | None
    """Any transaction of it, on any chain: payment, deposit, delivery or refund."""
    created_from: datetime | None
    """Made at this moment or after it."""
    created_to: datetime | None
    """Made before."""
    updated_from: datetime | None
    """Its status changed last at this moment or after it."""
    updated_to: datetime | None
    """Its status changed last before."""


class RefundFilter(TypedDict, total=False):
    """What a refund has to have; of several, all. What is None is not asked for."""

    status: models.RefundStatus | Sequence[models.RefundStatus] | None
    """Where it stands, or several of which it has one."""
    env_mode: models.EnvMode | None
    """The key's own environment without it."""
    payment_order_id: str | None
    """The order of which it is."""
    created_from: datetime | None
    """Asked for at this moment or after it."""
    created_to: datetime | None
    """Asked for before."""


def write_filter(filters: OrderFilter) -> dict[str, Any]:
    """Return a filter as the query has it: each entry of `metadata` under `metadata[key]`, as JSON writes it."""
    query: dict[str, Any] = {**filters}
    for key, value in (query.pop("metadata", None) or {}).items():
        query[f"metadata[{key}]"] = value if isinstance(value, str) else json.dumps(value)
    return query
