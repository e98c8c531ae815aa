"""Takes old events out of the database into files, with their deliveries and attempts.

Only what is in a file that was read back leaves the database. Orders, transfers, refunds and the ledger never do.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import ColumnElement, delete, exists, or_, select
from sqlalchemy.orm import Session

from api.domain.errors import InvalidData
from api.services.resources import Resources
from api.services.webhooks.outbox import DeliveryStatus
from api.storage.base import Base
from api.storage.private_files import write_private_bytes, write_private_file
from api.storage.tables import ArchivedBatch, WebhookAttempt, WebhookDelivery, WebhookEvent

BATCH = 1_000
"""Events of a file, and of a transaction: short enough for everybody else who writes."""
YOUNGEST = timedelta(days=30)
"""What is younger may still be sent: retries take four days, and a disabled subscription is given more."""


class ArchiveFailed(Exception):
    """A file is not what was written; nothing of it has left the database."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Archived:
    """A file, and how many events left the database for it."""

    name: str
    events: int


def choose_end(resources: Resources, day: datetime | None) -> datetime:
    """Return before when events are archived: a day, or as long ago as the settings say.

    Raises
    ------
    InvalidData
        If what is younger would be archived too.
    """
    now = resources.clock.now()
    end = day.replace(tzinfo=UTC) if day else now - timedelta(days=resources.config.keep_events_days)
    if end > now - YOUNGEST:
        raise InvalidData.at(
            "--before", f"Give a day before {now - YOUNGEST:%Y-%m-%d}: what is younger may be sent again"
        )
    return end


def archive_events(resources: Resources, before: datetime, folder: Path) -> Iterator[Archived]:
    """Write events to files, and then delete them; give each file as it is done.

    It may be killed at any moment and begun anew: what was written and not deleted is written again, to the same file,
    or to another if it has changed meanwhile. What was sent, or is to be sent, since `before` stays whole.

    Parameters
    ----------
    before : datetime
        Of events that were made earlier.
    folder : Path
        Where files go: for each batch JSON lines, compressed, and beside them the sum for ``sha256sum --check``.

    Raises
    ------
    ArchiveFailed
        If a file does not hold what was written to it.
    OSError
        If it cannot be written.
    """
    last = 0
    while True:
        with resources.database.read_one_state() as session:
            events = _list_events(session, before, last)
            lines = _write_lines(session, events)
        if not events:
            return
        last = events[-1].seq
        name, digest = _write_file(folder, events, lines)
        deleted = _delete(resources, events, before, name, digest)
        yield Archived(name=name, events=deleted)


def _list_events(session: Session, before: datetime, after: int) -> Sequence[WebhookEvent]:
    wanted = select(WebhookEvent).where(WebhookEvent.seq > after, *_is_over(before))
    return session.scalars(wanted.order_by(WebhookEvent.seq).limit(BATCH)).all()


def _is_over(before: datetime) -> tuple[ColumnElement[bool], ...]:
    """Say which events nothing happens to any more, and has not since `before`."""
    tried_late = exists().where(WebhookAttempt.delivery_id == WebhookDelivery.id, WebhookAttempt.at >= before)
    is_alive = exists().where(
        WebhookDelivery.event_id == WebhookEvent.id,
        or_(WebhookDelivery.status == DeliveryStatus.PENDING, WebhookDelivery.created_at >= before, tried_late),
    )
    return WebhookEvent.created_at < before, ~is_alive


def _write_lines(session: Session, events: Sequence[WebhookEvent]) -> bytes:
    deliveries: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    attempts: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    of_events = select(WebhookDelivery).where(WebhookDelivery.event_id.in_([event.id for event in events]))
    rows = session.scalars(of_events.order_by(WebhookDelivery.id)).all()
    of_rows = select(WebhookAttempt).where(WebhookAttempt.delivery_id.in_([row.id for row in rows]))
    for attempt in session.scalars(of_rows.order_by(WebhookAttempt.id)):
        attempts[attempt.delivery_id].append(_list_columns(attempt))
    for row in rows:
        deliveries[row.event_id].append(_list_columns(row) | {"attempts": attempts[row.id]})
    return b"".join(
        json.dumps({"event": _list_columns(event), "deliveries": deliveries[event.id]}, ensure_ascii=False).encode()
        + b"\n"
        for event in events
    )


def _list_columns(row: Base) -> dict[str, Any]:
    """Return what a row holds, moments in ISO 8601 to the microsecond."""
    values = {column.key: getattr(row, column.key) for column in row.__mapper__.column_attrs}
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in values.items()}


def _write_file(folder: Path, events: Sequence[WebhookEvent], lines: bytes) -> tuple[str, str]:
    """Write a batch and read it back; return the file's name and the sum of its bytes.

    The sum is in the name: no other content ever takes a file's place.
    """
    content = gzip.compress(lines, mtime=0)
    digest = hashlib.sha256(content).hexdigest()
    name = f"events-{events[0].seq:010d}-{events[-1].seq:010d}-{digest[:16]}.jsonl.gz"
    write_private_bytes(folder / name, content, replace=True)
    write_private_file(folder / f"{name}.sha256", f"{digest}  {name}\n", replace=True)
    if gzip.decompress((folder / name).read_bytes()) != lines:
        raise ArchiveFailed(f"{folder / name} does not hold what was written to it; see to the disk, and begin anew")
    return name, digest


def _delete(resources: Resources, events: Sequence[WebhookEvent], before: datetime, name: str, digest: str) -> int:
    """Delete those of the events that nothing has happened to since they were written; return how many."""
    with resources.database.write() as session:
        ids = _lock_quiet(session, [event.id for event in events], before)
        mine = select(WebhookDelivery.id).where(WebhookDelivery.event_id.in_(ids))
        session.execute(delete(WebhookAttempt).where(WebhookAttempt.delivery_id.in_(mine)))
        session.execute(delete(WebhookDelivery).where(WebhookDelivery.event_id.in_(ids)))
        session.execute(delete(WebhookEvent).where(WebhookEvent.id.in_(ids)))
        _note_batch(session, name, digest, len(ids), before, resources.clock.now())
    return len(ids)


def _lock_quiet(session: Session, event_ids: Sequence[str], before: datetime) -> Sequence[str]:
    """Lock events and their deliveries, and return the ids of those that are over; what somebody else holds stays."""
    of_events = select(WebhookEvent.id).where(WebhookEvent.id.in_(event_ids))
    ids = session.scalars(of_events.with_for_update(skip_locked=True)).all()
    of_deliveries = select(WebhookDelivery.id).where(WebhookDelivery.event_id.in_(ids))
    held = session.scalars(of_deliveries.with_for_update(skip_locked=True)).all()
    is_busy = exists().where(WebhookDelivery.event_id == WebhookEvent.id, WebhookDelivery.id.not_in(held))
    # Asked only now: nobody changes what is locked, and whoever came before the locks has committed.
    return session.scalars(select(WebhookEvent.id).where(WebhookEvent.id.in_(ids), ~is_busy, *_is_over(before))).all()


def _note_batch(session: Session, name: str, digest: str, events: int, before: datetime, now: datetime) -> None:
    """Write down that a file was made; of one that was made before a kill, what left the database later."""
    known = session.get(ArchivedBatch, name)
    if known is None:
        row = ArchivedBatch(name=name, sha256=digest, events=events, before=before, archived_at=now)
        session.add(row)
    else:
        known.events, known.before, known.archived_at = known.events + events, max(known.before, before), now
