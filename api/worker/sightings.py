"""When a lease has ended, by the database's clock or, should that have been set back, by this process's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from api.storage.tables import Lease


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """A lease as it was last read, and when this process first saw it so, by its own monotonic clock."""

    holder: str
    token: int
    expires_at: datetime
    since: float

    def is_as(self, row: Lease) -> bool:
        return (self.holder, self.token, self.expires_at) == (row.holder, row.token, row.expires_at)


class Sightings:
    """The leases that a process has seen.

    Parameters
    ----------
    lease : timedelta
        How long one lasts.
    stopwatch : callable
        Monotonic seconds.
    """

    def __init__(self, lease: timedelta, stopwatch: Callable[[], float]) -> None:
        self._lease_s = lease.total_seconds()
        self._stopwatch = stopwatch
        self._seen: dict[str, _Seen] = {}

    def is_free(self, row: Lease, now: datetime) -> bool:
        """Whether a lease has expired at the database's time `now`, or has not changed for as long as it lasts."""
        seen, moment = self._seen.get(row.duty), self._stopwatch()
        if seen is None or not seen.is_as(row):
            seen = _Seen(holder=row.holder, token=row.token, expires_at=row.expires_at, since=moment)
            self._seen[row.duty] = seen
        return row.expires_at <= now or moment - seen.since > self._lease_s
