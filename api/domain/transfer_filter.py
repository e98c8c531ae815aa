"""By what a vendor looks for its transfers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class TransferFilter:
    """When a transfer must have moved; None asks for nothing.

    Parameters
    ----------
    moved_from : datetime or None
        Aware, of its block; this moment counts.
    moved_to : datetime or None
        Aware; this moment does not, so that ranges side by side share no transfer.
    """

    moved_from: datetime | None = None
    moved_to: datetime | None = None
