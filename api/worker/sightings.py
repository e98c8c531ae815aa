"""When a lease has ended: by the database's clock, by this process's own if that was set back, or by death."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from api.storage.process import has_ended
from api.worker.lease_rows import KnownLease


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """A lease as it was last read, and when this process first saw it so, by its own monotonic clock."""

    holder: str
    token: int
    expires_at: datetime
    since: float

    def is_as(self, row: KnownLease) -> bool:
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

    def is_free(self, row: KnownLease, now: datetime) -> bool:
        """Whether a lease has expired at the database's time `now`, or has not changed for as long as it lasts.

        Or whether its holder was a process of this machine that has ended: that one renews and writes nothing more.
        """
        seen, moment = self._seen.get(row.duty), self._stopwatch()
        if seen is None or not seen.is_as(row):
            seen = _Seen(holder=row.holder, token=row.token, expires_at=row.expires_at, since=moment)
            self._seen[row.duty] = seen
        is_over = row.expires_at <= now or moment - seen.since > self._lease_s
        return is_over or has_ended(row.holder)
