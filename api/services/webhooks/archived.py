"""What is said of events that are no longer in the database."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from api.domain.clock import format_time
from api.domain.errors import Gone
from api.domain.ids import read_time
from api.storage.tables import ArchivedBatch


def find_horizon(session: Session) -> datetime | None:
    """Return the moment before which events may be archived, or None where none ever was."""
    return session.scalar(select(func.max(ArchivedBatch.before)))


def refuse_archived(session: Session, public_id: str, remedy: str) -> None:
    """Refuse an id that nobody has, if it is of a time whose events may be archived.

    Parameters
    ----------
    public_id : str
        Of an event or a delivery; it says when it was made.
    remedy : str
        What the caller can do instead.

    Raises
    ------
    Gone
        With the remedy.
    """
    made_at, horizon = read_time(public_id), find_horizon(session)
    if made_at is not None and horizon is not None and made_at < horizon:
        raise Gone(
            f"What happened before {format_time(horizon)} is in the archive of the service's operator; {remedy}, or "
            "ask the operator"
        )
