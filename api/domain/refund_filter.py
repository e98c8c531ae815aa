"""Which refunds a vendor looks for."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class RefundFilter:
    """What a refund has to have; of several, all.

    Parameters
    ----------
    status : collection of str
        Any of these; every one if empty.
    payment_order_id : str or None
        Its order.
    created_from : datetime or None
        Aware; this moment belongs to the range.
    created_to : datetime or None
        Aware; this moment does not, so that ranges side by side share no refund.
    """

    status: Collection[str] = ()
    payment_order_id: str | None = None
    created_from: datetime | None = None
    created_to: datetime | None = None
