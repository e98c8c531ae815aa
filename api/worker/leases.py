"""Who does which duty: leases in the database, which are renewed, expire, and are taken over with a higher token."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

import structlog
from sqlalchemy import select, update
from sqlalchemy.exc import DBAPIError, OperationalError

from api.domain.duties import Duty
from api.storage.db import Database, insert_new, read_database_time
from api.storage.process import name_process
from api.storage.tables import Lease
from api.worker.hung import Remover

LEASE_S = 5.0
"""How long nobody else takes over from a holder that is not heard of."""
RENEW_S = 1.0
LOCK_WAIT_MS = 1_000
"""Leases must not wait as long for the database as everything else may."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """A lease as it was last read, and when this process first saw it so, by its own monotonic clock."""

    holder: str
    token: int
    expires_at: datetime
    since: float

    def is_as(self, row: Lease) -> bool:
        return (self.holder, self.token, self.expires_at) == (row.holder, row.token, row.expires_at)


class Leases:
    """The leases of one worker.

    No two machines' clocks are compared: moments are the database's own. Where that clock was set back, a holder also
    counts as gone once its lease has not changed for as long as it lasts, by the watcher's own monotonic clock.

    Parameters
    ----------
    database : Database
        Where the leases are; asked over connections of their own, so that busy ones do not hold a renewal up.
    lease_s : float
        Seconds that a lease lasts.
    stopwatch : callable
        Monotonic seconds.
    """

    def __init__(
        self, database: Database, *, lease_s: float = LEASE_S, stopwatch: Callable[[], float] = time.monotonic
    ) -> None:
        self._database = database.connect_anew(lock_wait_ms=LOCK_WAIT_MS)
        self._remover = Remover(self._database.engine)
        self._holder = f"{name_process()}/{secrets.token_hex(8)}"
        self._lease = timedelta(seconds=lease_s)
        self._stopwatch = stopwatch
        self._lock = threading.Lock()
        self._tokens: dict[Duty, int] = {}
        self._seen: dict[Duty, _Seen] = {}
        self._renewed_at = stopwatch()

    def keep(self, wanted: Collection[Duty]) -> Mapping[Duty, int]:
        """Renew what is held and take what nobody holds, of the wanted duties; call it several times a second.

        Returns
        -------
        mapping of Duty to int
            The token of each duty that is this worker's now.
        """
        # Apart: where a hung holder's lock keeps this one from renewing, taking over is what gets it out of the way.
        for step in (self._renew, partial(self._take_free, wanted)):
            try:
                step()
            except DBAPIError as error:
                log.warning("leases_unavailable", kind=type(error).__name__)
        with self._lock:
            if self._stopwatch() - self._renewed_at > self._lease.total_seconds():
                self._tokens.clear()  # others have taken over by now, or will at once
            return dict(self._tokens)

    def release(self, duty: Duty) -> None:
        """Let somebody else take a duty at once."""
        with self._lock:
            token = self._tokens.pop(duty, None)
        if token is None:
            return
        free = update(Lease).where(Lease.duty == duty, Lease.holder == self._holder, Lease.token == token)
        try:
            with self._database.write() as session:
                session.execute(free.values(holder="", expires_at=read_database_time(session)))
        except DBAPIError as error:  # it expires by itself
            log.warning("leases_unavailable", kind=type(error).__name__)

    def forget(self, duty: Duty, token: int) -> None:
        """Take note that a duty was lost under this token."""
        with self._lock:
            if self._tokens.get(duty) == token:
                del self._tokens[duty]

    def close(self) -> None:
        """Release everything, and close the connections."""
        for duty in tuple(self._tokens):
            self.release(duty)
        self._database.close()

    def _renew(self) -> None:
        now = self._stopwatch()
        with self._lock:
            held = dict(self._tokens)
        if not held:
            self._renewed_at = now
        if now - self._renewed_at < min(RENEW_S, self._lease.total_seconds() / 4):
            return
        with self._database.write() as session:
            mine = update(Lease).where(Lease.holder == self._holder, Lease.duty.in_(list(held)))
            renewed = mine.values(expires_at=read_database_time(session) + self._lease).returning(
                Lease.duty, Lease.token
            )
            rows = {Duty(row.duty): row.token for row in session.execute(renewed)}
        for duty, token in held.items():
            if rows.get(duty) != token:
                self.forget(duty, token)
        self._renewed_at = now  # when it was asked for, not when it was answered

    def _take_free(self, wanted: Collection[Duty]) -> None:
        duties = [duty for duty in wanted if duty not in self._tokens]
        if not duties:
            return
        with self._database.read() as session:
            rows = {row.duty: row for row in session.scalars(select(Lease).where(Lease.duty.in_(list(duties))))}
            now = read_database_time(session)
        for duty in duties:
            row = rows.get(duty)
            if row is None or self._is_free(duty, row, now):
                self._take(duty, row)

    def _is_free(self, duty: Duty, row: Lease, now: datetime) -> bool:
        seen, moment = self._seen.get(duty), self._stopwatch()
        if seen is None or not seen.is_as(row):
            seen = _Seen(holder=row.holder, token=row.token, expires_at=row.expires_at, since=moment)
            self._seen[duty] = seen
        return row.expires_at <= now or moment - seen.since > self._lease.total_seconds()

    def _take(self, duty: Duty, seen: Lease | None) -> None:
        asked_at = self._stopwatch()
        try:
            token = self._token_of_new(duty) if seen is None else self._token_after(seen)
        except OperationalError:  # locked, as a rule
            if seen is not None and self._remover.clear(seen.holder):
                return
            raise
        if token is not None:
            with self._lock:
                self._renewed_at = self._renewed_at if self._tokens else asked_at
                self._tokens[duty] = token
            log.info("duty_taken", duty=duty, token=token)

    def _token_of_new(self, duty: Duty) -> int | None:
        with self._database.write() as session:
            expires_at = read_database_time(session) + self._lease
            values = {"duty": duty, "holder": self._holder, "token": 1, "expires_at": expires_at}
            return 1 if insert_new(session, Lease, values) else None

    def _token_after(self, seen: Lease) -> int | None:
        """Take a lease over unless it has changed since; this waits for transactions under the old token."""
        query = select(Lease).where(
            Lease.duty == seen.duty, Lease.token == seen.token, Lease.expires_at == seen.expires_at
        )
        with self._database.write() as session:
            row = session.scalar(query.with_for_update())
            if row is None:
                return None
            row.holder, row.token = self._holder, seen.token + 1
            row.expires_at = read_database_time(session) + self._lease
            return row.token
