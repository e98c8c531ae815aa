"""What the worker does, and how often. A new job is one line in `JOBS`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import delete

from api.context import Context
from api.services.delivery import Dispatcher
from api.services.expiry import expire_orders
from api.services.watcher import watch
from api.storage.tables import IdempotencyKey, JobSlot, StoredQuote
from api.worker.sources import SourceReader

KEEP_SLOTS = timedelta(days=7)
KEEP_QUOTES = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Something the worker does again and again.

    Runs of one job never overlap within a worker. For a moment after a lost connection two workers can run, so
    `run` must be safe then too: by leases, unique keys or optimistic versions.

    Parameters
    ----------
    name : str
        Stable: it is the key of the job's slots, and stands in the log.
    every_s : float
        Seconds between starts.
    run : callable
        Takes the process's `Context`.
    once_per_slot : bool
        Whether the database lets it run only once in each period, whoever asks. For rare jobs: it costs a row.
    end : callable, optional
        Called when the worker leads no longer; returns once nothing that `run` left under way is still going on.
    """

    name: str
    every_s: float
    run: Callable[[Context], None]
    once_per_slot: bool = False
    end: Callable[[], None] | None = None


def housekeeping(context: Context) -> None:
    """Forget what has served its time: idempotency keys, job slots, quotes."""
    now = context.clock.now()
    with context.database.write() as session:
        session.execute(delete(IdempotencyKey).where(IdempotencyKey.expires_at < now))
        session.execute(delete(JobSlot).where(JobSlot.taken_at < now - KEEP_SLOTS))
        session.execute(delete(StoredQuote).where(StoredQuote.expires_at < now - KEEP_QUOTES))


SOURCES = SourceReader()
WEBHOOKS = Dispatcher()

JOBS: tuple[Job, ...] = (
    Job(name="read_sources", every_s=1, run=SOURCES.run, end=SOURCES.end),
    Job(name="watch_chains", every_s=1, run=watch),
    Job(name="expire_orders", every_s=1, run=expire_orders),
    Job(name="deliver_webhooks", every_s=0.5, run=WEBHOOKS.run, end=WEBHOOKS.end),
    Job(name="housekeeping", every_s=3600, run=housekeeping, once_per_slot=True),
)
