"""The rows of leases as one worker reads and writes them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import ColumnElement, delete, select, update

from api.storage.db import Database, insert_new, read_database_time
from api.storage.statements import Place, Statement
from api.storage.tables import Lease


class KnownLease(NamedTuple):
    """A lease as it was read."""

    duty: str
    holder: str
    token: int
    expires_at: datetime


_ALL = Statement(select(Lease.duty, Lease.holder, Lease.token, Lease.expires_at))


class LeaseRows:
    """The rows that a worker takes, renews and gives back under its own name; moments are the database's.

    Parameters
    ----------
    database : Database
        Where they are.
    holder : str
        The worker's name.
    lasts : timedelta
        How long a lease lasts from its last renewal.
    """

    def __init__(self, database: Database, holder: str, lasts: timedelta) -> None:
        self._database = database
        self._holder = holder
        self._lasts = lasts

    @staticmethod
    def read(place: Place) -> list[KnownLease]:
        """Return all leases as they are now."""
        return [KnownLease._make(row) for row in _ALL.fetch(place)]

    def insert(self, share: str) -> int | None:
        """Take a share that nobody ever had; return its first token, or None if somebody was faster."""
        with self._database.write() as session:
            expires_at = read_database_time(session) + self._lasts
            values = {"duty": share, "holder": self._holder, "token": 1, "expires_at": expires_at}
            return 1 if insert_new(session, Lease, values) else None

    def take_over(self, seen: KnownLease) -> int | None:
        """Take a lease over unless it has changed since; this waits for transactions under the old token."""
        query = select(Lease).where(
            Lease.duty == seen.duty, Lease.token == seen.token, Lease.expires_at == seen.expires_at
        )
        with self._database.write() as session:
            row = session.scalar(query.with_for_update())
            if row is None:
                return None
            row.holder, row.token = self._holder, seen.token + 1
            row.expires_at = read_database_time(session) + self._lasts
            return row.token

    def renew(self, shares: Collection[str]) -> dict[str, int]:
        """Renew what is held of these shares; return the token of each."""
        with self._database.write() as session:
            mine = update(Lease).where(Lease.holder == self._holder, Lease.duty.in_(list(shares)))
            renewed = mine.values(expires_at=read_database_time(session) + self._lasts)
            rows = session.execute(renewed.returning(Lease.duty, Lease.token))
            return {row.duty: row.token for row in rows}

    def free(self, share: str, token: int) -> None:
        """Let somebody else take a share at once."""
        with self._database.write() as session:
            values = {"holder": "", "expires_at": read_database_time(session)}
            session.execute(update(Lease).where(*self._match(share, token)).values(values))

    def delete(self, share: str, token: int) -> None:
        """Delete a lease that nobody else is to take."""
        with self._database.write() as session:
            session.execute(delete(Lease).where(*self._match(share, token)))

    def forget(self, shares: Sequence[str], before: datetime) -> None:
        """Delete leases that expired before a moment."""
        with self._database.write() as session:
            session.execute(delete(Lease).where(Lease.duty.in_(shares), Lease.expires_at < before))

    def _match(self, share: str, token: int) -> tuple[ColumnElement[bool], ...]:
        return Lease.duty == share, Lease.holder == self._holder, Lease.token == token
