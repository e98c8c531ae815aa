"""A clock for tests."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


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
