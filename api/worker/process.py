"""The worker's main loop."""

from __future__ import annotations

import signal
import threading
from collections.abc import Sequence
from datetime import UTC, datetime
from types import FrameType

import structlog
from apscheduler.schedulers.background import BackgroundScheduler
from sqlalchemy.exc import OperationalError

from api.context import Context
from api.storage.db import insert_new
from api.storage.tables import JobSlot
from api.worker.jobs import JOBS, SOURCES, Job
from api.worker.leader import Leadership, leadership_for

WAIT_S = 0.2
"""Between two tries to become the leader, and between two looks at whether it still is."""

log = structlog.get_logger(__name__)


class Worker:
    """Runs jobs while it leads, until it is told to stop."""

    def __init__(self, context: Context, leadership: Leadership, jobs: Sequence[Job]) -> None:
        self._context = context
        self._leadership = leadership
        self._jobs = jobs
        self._stopping = threading.Event()

    def stop(self) -> None:
        """Finish the jobs that are running, and end `run`."""
        self._stopping.set()

    def run(self) -> None:
        """Work until `stop`."""
        while not self._stopping.is_set():
            if self._leadership.acquire():
                try:
                    self._lead()
                finally:
                    self._leadership.release()
            self._stopping.wait(WAIT_S)

    def run_job(self, job: Job) -> bool:
        """Run a job once, now.

        Returns
        -------
        bool
            False if its slot was taken, or the database was away: the next run makes up for it.
        """
        with structlog.contextvars.bound_contextvars(job=job.name):
            try:
                if job.once_per_slot and not self._take_slot(job):
                    return False
                job.run(self._context)
            except OperationalError as error:
                log.warning("database_unavailable", kind=type(error.orig).__name__)
                return False
        return True

    def _lead(self) -> None:
        # The scheduler counts in real time, whatever clock the jobs read: a first run far in its past would make it
        # list every run that it missed.
        now = datetime.now(UTC)
        scheduler = BackgroundScheduler(timezone=UTC)
        for job in self._jobs:
            scheduler.add_job(
                self.run_job,
                "interval",
                args=(job,),
                seconds=job.every_s,
                id=job.name,
                next_run_time=now,
                coalesce=True,
                max_instances=1,
                misfire_grace_time=None,
            )
        scheduler.start()
        log.info("leading", jobs=[job.name for job in self._jobs])
        while self._leadership.is_held() and not self._stopping.wait(WAIT_S):
            pass
        scheduler.shutdown(wait=True)
        for job in self._jobs:
            if job.end is not None:
                job.end()
        log.info("stopped_leading")

    def _take_slot(self, job: Job) -> bool:
        now = self._context.clock.now()
        slot = int(now.timestamp() // job.every_s)
        with self._context.database.write() as session:
            return insert_new(session, JobSlot, {"job": job.name, "slot": slot, "taken_at": now})


def run_worker(context: Context) -> None:
    """Work until SIGTERM or SIGINT.

    Raises
    ------
    ConfigError
        If the settings of the live market do not fit what is installed.
    """
    SOURCES.open(context)
    worker = Worker(context, leadership_for(context.config, context.database), JOBS)

    def end(_signal: int, _frame: FrameType | None) -> None:
        worker.stop()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)
    worker.run()
