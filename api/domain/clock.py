"""The clock as a port, so that time in tests is what the test says."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Where the service reads the time."""

    def now(self) -> datetime:
        """Return the present moment, aware and in UTC."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """Return the present moment, aware and in UTC."""
        return datetime.now(UTC)


def format_time(moment: datetime) -> str:
    """Write a moment the way every answer of the service does: ISO 8601, UTC, milliseconds, `Z`."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
