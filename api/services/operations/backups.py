"""When the newest copy of the database was taken, which the database itself remembers: any process can tell then."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from api.services.resources import Resources
from api.storage.db import insert_new
from api.storage.tables import JobSlot

BACKUP = "backup"
"""The job's name; its one row is the newest copy's."""
OLD = timedelta(hours=3)
"""Copies are taken every hour."""


def note_backup(resources: Resources, taken_at: datetime) -> None:
    """Remember a copy that has been taken whole, in place of the one before.

    Parameters
    ----------
    taken_at : datetime
        When it was begun: what was acknowledged before is in it.
    """
    slot = int(taken_at.timestamp())
    with resources.database.write() as session:
        session.execute(delete(JobSlot).where(JobSlot.job == BACKUP, JobSlot.slot < slot))
        insert_new(session, JobSlot, {"job": BACKUP, "slot": slot, "taken_at": taken_at})


def find_last_backup(session: Session) -> datetime | None:
    """Return when the newest copy was begun; None if none was ever taken."""
    return session.scalar(select(func.max(JobSlot.taken_at)).where(JobSlot.job == BACKUP))
