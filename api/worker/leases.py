"""Who does which share: leases in the database, which are renewed, expire, and are taken over with a higher token."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Collection, Mapping
from datetime import datetime, timedelta
from functools import partial

import structlog
from sqlalchemy.exc import DBAPIError, OperationalError

from api.domain.duties import PRESENCE, find_duty
from api.storage.db import Database, read_database_time
from api.storage.fault_names import name_fault
from api.storage.process import has_ended, name_process
from api.worker.balance import choose_surplus, is_next
from api.worker.hung import Remover
from api.worker.lease_rows import KnownLease, LeaseRows
from api.worker.sightings import Sightings

LEASE_S = 5.0
"""How long nobody else takes over from a holder that is not heard of."""
RENEW_S = 1.0
LOCK_WAIT_MS = 1_000
"""Leases must not wait as long for the database as everything else may."""
GRACE_S = 1.0
"""How long a share is left to those who have less to do; then whoever sees it free takes it."""
KEEP_S = 60.0
"""How long a share is not left to others again, so that one which nobody else can do does not go to and fro."""
FORGET_AFTER = timedelta(minutes=1)
"""How long a worker that has ended without leaving is remembered."""
FORGET_SILENT_AFTER = timedelta(hours=12)
"""How long one is that may hang: whoever looks in the morning is told of it."""

log = structlog.get_logger(__name__)


class Leases:
    """The leases of one worker.

    No two machines' clocks are compared: moments are the database's own. Where that clock was set back, a holder also
    counts as gone once its lease has not changed for as long as it lasts, by the watcher's own monotonic clock.

    A worker that works also has a lease on itself, so that the others know that it lives and leave it its part.

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
        name = secrets.token_hex(8)
        self._presence = f"{PRESENCE}{name}"
        self._lease = timedelta(seconds=lease_s)
        self._rows = LeaseRows(self._database, f"{name_process()}/{name}", self._lease)
        self._stopwatch = stopwatch
        self._lock = threading.Lock()
        self._tokens: dict[str, int] = {}
        self._sightings = Sightings(self._lease, stopwatch)
        self._free_since: dict[str, float] = {}
        self._offered_at: dict[str, float] = {}
        self._held: dict[str, set[str]] = {}
        self._expired: set[str] = set()
        self._orphaned: set[str] = set()
        self._renewed_at, self._fault = stopwatch(), ""

    def keep(self, wanted: Collection[str]) -> Mapping[str, int]:
        """Renew what is held and take what is free and this worker's turn; call it several times a second.

        Parameters
        ----------
        wanted : collection of str
            The shares that this worker could begin.

        Returns
        -------
        mapping of str to int
            The token of each share that is this worker's now.
        """
        # Apart: where a hung holder's lock keeps this one from renewing, taking over is what gets it out of the way.
        faults = []
        for step in (self._renew, partial(self._take_free, wanted)):
            try:
                step()
            except DBAPIError as error:
                faults.append(name_fault(error))
        self._tell(", ".join(dict.fromkeys(faults)))
        with self._lock:
            if self._stopwatch() - self._renewed_at > self._lease.total_seconds():
                self._tokens.clear()  # others have taken over by now, or will at once
            return {share: token for share, token in self._tokens.items() if share != self._presence}

    def _tell(self, fault: str) -> None:
        """Log a change: leases are asked for several times a second."""
        if fault and fault != self._fault:
            log.warning("leases_unavailable", kind=fault)
        elif self._fault and not fault:
            log.warning("leases_available", was=self._fault)
        self._fault = fault

    def find_surplus(self, moving: Collection[str]) -> str | None:
        """Return a share to leave to somebody who has less to do, unless another of its duty is on its way already.

        Parameters
        ----------
        moving : collection of str
            Shares that this worker is leaving.
        """
        restless, now = {*map(find_duty, moving), *map(find_duty, self._free_since)}, self._stopwatch()
        self._offered_at = {share: at for share, at in self._offered_at.items() if now - at < KEEP_S}
        mine = self._held.get(self._presence, ())
        movable = [each for each in mine if find_duty(each) not in restless and each not in self._offered_at]
        share = choose_surplus(self._presence, self._held, movable)
        if share is not None:
            self._offered_at[share] = now
        return share

    def release(self, share: str) -> None:
        """Let somebody else take a share at once."""
        with self._lock:
            token = self._tokens.pop(share, None)
        if token is None:
            return
        try:
            if share == self._presence:
                self._rows.delete(share, token)
            else:
                self._rows.free(share, token)
        except DBAPIError as error:  # it expires by itself
            log.warning("leases_unavailable", kind=name_fault(error))

    def is_orphaned(self, share: str) -> bool:
        """Whether a share was taken over from a process of this machine that has ended: nothing of it goes on."""
        return share in self._orphaned

    def leave(self) -> None:
        """Count no more among those who could take something."""
        self.release(self._presence)

    def forget(self, share: str, token: int) -> None:
        """Take note that a share was lost under this token."""
        with self._lock:
            if self._tokens.get(share) == token:
                del self._tokens[share]

    def close(self) -> None:
        """Release everything, and close the connections."""
        for share in tuple(self._tokens):
            self.release(share)
        self._database.close()

    def _renew(self) -> None:
        now = self._stopwatch()
        with self._lock:
            held = dict(self._tokens)
        if not held:
            self._renewed_at = now
        if now - self._renewed_at < min(RENEW_S, self._lease.total_seconds() / 4):
            return
        rows = self._rows.renew(held)
        for share, token in held.items():
            if rows.get(share) != token:
                self.forget(share, token)
        self._renewed_at = now  # when it was asked for, not when it was answered

    def _take_free(self, wanted: Collection[str]) -> None:
        with self._lock:
            mine = set(self._tokens)
        if not wanted and self._presence not in mine:
            return  # on its way out
        shares = {*wanted, *mine} - {self._presence}
        rows, free = self._read(shares)
        self._expired = {rows[key].holder for key in free & rows.keys()}
        living = {row.holder: key for key, row in rows.items() if key.startswith(PRESENCE) and key not in free}
        held = {key: {share for share in shares - free if rows[share].holder == who} for who, key in living.items()}
        held[self._presence] = mine - {self._presence}
        now, self._held = self._stopwatch(), held
        self._free_since = {share: self._free_since.get(share, now) for share in shares & free - mine}
        for share in sorted(self._free_since.keys() & set(wanted)):
            is_late = now - self._free_since[share] > min(GRACE_S, self._lease.total_seconds() / 4)
            if (is_late or is_next(share, self._presence, held)) and self._take(share, rows.get(share)):
                held[self._presence].add(share)
                del self._free_since[share]
        if self._presence not in mine:
            self._take(self._presence, rows.get(self._presence))

    def _read(self, shares: Collection[str]) -> tuple[Mapping[str, KnownLease], set[str]]:
        """Return the leases of shares and of workers, and the keys of those that anybody may take."""
        with self._database.look() as connection:
            known = self._rows.read(connection)
            rows = {row.duty: row for row in known if row.duty in shares or row.duty.startswith(PRESENCE)}
            now = read_database_time(connection)
        gone = [key for key, row in rows.items() if key.startswith(PRESENCE) and _is_forgotten(row, now)]
        if gone:
            self._rows.forget(gone, now - FORGET_AFTER)
        return rows, {key for key in {*shares, *rows} if key not in rows or self._sightings.is_free(rows[key], now)}

    def _take(self, share: str, seen: KnownLease | None) -> bool:
        asked_at = self._stopwatch()
        try:
            token = self._rows.insert(share) if seen is None else self._rows.take_over(seen)
        except OperationalError:  # locked, as a rule
            if self._remover.clear(seen.holder if seen else "", self._expired):
                return False
            raise
        if token is None:
            return False
        with self._lock:
            self._renewed_at = self._renewed_at if self._tokens else asked_at
            self._tokens[share] = token
        if seen is not None and has_ended(seen.holder):
            self._orphaned.add(share)
        else:
            self._orphaned.discard(share)
        if share != self._presence:
            log.info("duty_taken", duty=share, token=token)
        return True


def _is_forgotten(row: KnownLease, now: datetime) -> bool:
    """Whether a worker that is not heard of has ended, or may as well have."""
    return row.expires_at < now - (FORGET_AFTER if has_ended(row.holder) else FORGET_SILENT_AFTER)
