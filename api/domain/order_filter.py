"""By what a vendor looks for its orders."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from api.domain.orders import OrderStatus, StatusReason


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderFilter:
    """What an order must have; None asks for nothing.

    Parameters
    ----------
    status, status_reason : collection
        One of these; empty asks for nothing.
    payer : str or None
        Whose money came for it: an address in lower case.
    transaction_hash : str or None
        Of any transaction that belongs to it, on any chain; lower case.
    metadata : mapping of str to str
        Entries of its metadata; numbers, true, false and null as JSON writes them.
    created_from, updated_from : datetime or None
        Aware; this moment counts.
    created_to, updated_to : datetime or None
        Aware; this moment does not, so that ranges side by side share no order.
    """

    status: Collection[OrderStatus] = ()
    status_reason: Collection[StatusReason] = ()
    payer: str | None = None
    transaction_hash: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    created_from: datetime | None = None
    created_to: datetime | None = None
    updated_from: datetime | None = None
    updated_to: datetime | None = None
