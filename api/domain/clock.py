"""The clock as a port, so that time in tests is what the test says."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
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


class SettableClock:
    """A clock that stands still until it is told to move.

    Parameters
    ----------
    start : datetime
        First moment it shows; aware.
    """

    def __init__(self, start: datetime) -> None:
        self._now = self._aware(start)

    def now(self) -> datetime:
        """Return the moment last set."""
        return self._now

    def set(self, moment: datetime) -> None:
        """Show `moment` from now on."""
        self._now = self._aware(moment)

    def advance(self, **delta: float) -> None:
        """Move on by `timedelta(**delta)`."""
        self._now += timedelta(**delta)

    @staticmethod
    def _aware(moment: datetime) -> datetime:
        if moment.tzinfo is None:
            raise ValueError("a moment needs a time zone; use datetime(..., tzinfo=UTC)")
        return moment.astimezone(UTC)


def iso(moment: datetime) -> str:
    """Write a moment the way every answer of the service does: ISO 8601, UTC, milliseconds, `Z`."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
