"""What the worker does, and how often. A new job is one line in `list_jobs`, and a word in `Duty`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import delete

from api.domain.duties import Duty, name_share
from api.services.market.snapshots import forget_snapshots
from api.services.operations.backups import BACKUP
from api.services.orders.expiry import expire_orders
from api.services.resources import Resources
from api.services.settlement.crediting.quote_payers import forget_unused_quotes
from api.services.settlement.watching.watch_tasks import ChainTask
from api.services.settlement.watching.watched_chain import list_groups
from api.services.webhooks.dispatcher import Dispatcher
from api.services.webhooks.waiting import PARTS, select_part
from api.storage.tables import IdempotencyKey, JobSlot, StoredQuote
from api.worker.sources import SourceReader

KEEP_SLOTS = timedelta(days=7)
KEEP_QUOTES = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Something the worker does again and again, for as long as it has the lease of the share.

    Runs of one job never overlap within a worker. `run` gets resources whose database refuses what is written once
    somebody else has taken the share over; what it does beyond the database may still happen twice then.

    Parameters
    ----------
    duty : Duty
        What it belongs to.
    every_s : float
        Seconds between starts.
    run : callable
        Takes the process's `Resources`, fenced.
    once_per_slot : bool
        Whether the database lets it run only once in each period, whoever asks. For rare jobs: it costs a row.
    end : callable, optional
        Called when the worker has the share no longer; returns once nothing that `run` left under way is still going on
        that matters.
    lose : callable, optional
        Called instead of `end` where the lease was lost, and not given back: returns at once, as somebody else may be
        at it already, or this worker may get it again. `end` is called where there is none.
    adopt : callable, optional
        Called once before the first run where the share was a process's that has ended without leaving it: takes up
        what that one had begun. Takes the same `Resources` as `run`.
    part : str
        The part of the duty, where several workers do it side by side.
    """

    duty: Duty
    every_s: float
    run: Callable[[Resources], None]
    once_per_slot: bool = False
    end: Callable[[], None] | None = None
    lose: Callable[[], None] | None = None
    adopt: Callable[[Resources], None] | None = None
    part: str = ""

    @property
    def share(self) -> str:
        """Key of the lease and of the job's slots; stands in the log."""
        return name_share(self.duty, self.part)


def clean_up(resources: Resources) -> None:
    """Forget what has served its time: idempotency keys, job slots, quotes, their markets."""
    now = resources.clock.now()
    with resources.database.write() as session:
        session.execute(delete(IdempotencyKey).where(IdempotencyKey.expires_at < now))
        session.execute(delete(JobSlot).where(JobSlot.taken_at < now - KEEP_SLOTS, JobSlot.job != BACKUP))
        session.execute(delete(StoredQuote).where(StoredQuote.expires_at < now - KEEP_QUOTES))
        forget_snapshots(session, now)
        forget_unused_quotes(session, now)


def list_jobs(resources: Resources, sources: SourceReader) -> tuple[Job, ...]:
    """Return a job for each share of each duty."""
    return (
        Job(duty=Duty.SOURCES, every_s=1, run=sources.run, end=sources.end),
        *_watch_chains(resources),
        Job(duty=Duty.EXPIRY, every_s=1, run=expire_orders),
        *_send_webhooks(),
        Job(duty=Duty.HOUSEKEEPING, every_s=3600, run=clean_up, once_per_slot=True),
    )


def _watch_chains(resources: Resources) -> Iterator[Job]:
    for group in list_groups(resources.ledgers):
        task = ChainTask(group)
        yield Job(duty=Duty.CHAINS, part=group.name, every_s=1, run=task.run, end=task.end)


def _send_webhooks() -> Iterator[Job]:
    for part in range(PARTS):
        sender = Dispatcher(mine=select_part(part))
        yield Job(
            duty=Duty.WEBHOOKS,
            part=str(part),
            every_s=0.2,
            run=sender.run,
            end=sender.end,
            lose=sender.lose,
            adopt=sender.adopt,
        )
