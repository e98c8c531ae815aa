"""The worker's main loop."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from types import FrameType

import structlog
from apscheduler.schedulers.background import BackgroundScheduler
from sqlalchemy.exc import InternalError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from api.context import replace_database
from api.services.resources import Resources
from api.storage.db import insert_new
from api.storage.fault_names import name_fault
from api.storage.fencing import Fence, LeaseLost
from api.storage.tables import JobSlot
from api.worker.jobs import Job, list_jobs
from api.worker.leases import Leases
from api.worker.sources import SourceReader

TICK_S = 0.2
"""Between two looks at the leases."""
STUCK_S = 60.0
"""How long a run may take before its share is left to somebody else: this process lives, but the run hangs."""

log = structlog.get_logger(__name__)


class Worker:
    """Does the shares that it has leases for, until it is told to stop."""

    def __init__(self, resources: Resources, leases: Leases, jobs: Sequence[Job]) -> None:
        self._resources = resources
        self._leases = leases
        self._jobs = {job.share: job for job in jobs}
        self._busy = {job.share: threading.Lock() for job in jobs}
        self._doing: dict[str, int] = {}
        self._started: dict[str, float] = {}
        self._ending: set[str] = set()
        self._orphaned: set[str] = set()
        self._stopping = threading.Event()
        self._scheduler = BackgroundScheduler(
            timezone=UTC, executors={"default": {"type": "threadpool", "max_workers": max(1, len(jobs))}}
        )

    def stop(self) -> None:
        """Finish the jobs that are running, and end `run`."""
        self._stopping.set()

    def run(self) -> None:
        """Work until `stop`."""
        self._scheduler.start()
        with ThreadPoolExecutor(max(1, len(self._jobs)), thread_name_prefix="duty-end") as enders:
            while not self._stopping.wait(TICK_S):
                self._keep(enders)
            self._leases.leave()
            while self._doing or self._ending:
                for share in tuple(self._doing):
                    self._give_up(enders, share)
                self._leases.keep(())  # until their last run has ended
                threading.Event().wait(TICK_S / 4)
        self._scheduler.shutdown(wait=True)
        self._leases.close()

    def run_job(self, job: Job, token: int) -> bool:
        """Run a job once, now, under a lease's token.

        Returns
        -------
        bool
            False if its slot was taken, the database was away, or the share is somebody else's: the next run makes up
            for it, whoever's it is.
        """
        fence = Fence(duty=job.share, token=token)
        resources = replace_database(self._resources, self._resources.database.fenced(fence))
        with structlog.contextvars.bound_contextvars(duty=job.share):
            try:
                if job.once_per_slot and not _take_slot(resources, job):
                    return False
                if job.share in self._orphaned and job.adopt is not None:
                    job.adopt(resources)
                self._orphaned.discard(job.share)
                job.run(resources)
            except (OperationalError, InternalError, PoolTimeout) as error:
                log.warning("database_unavailable", kind=name_fault(error))
                return False
            except LeaseLost:
                log.warning("lease_lost")
                self._leases.forget(job.share, token)
                return False
        return True

    def _keep(self, enders: ThreadPoolExecutor) -> None:
        """Begin what has become this worker's, and end what is its no more, or better somebody else's."""
        for share, started in tuple(self._started.items()):
            if share in self._doing and time.monotonic() - started > STUCK_S:
                log.error("duty_stuck", duty=share)
                self._leases.release(share)
                self._give_up(enders, share)
        wanted = [share for share in self._jobs if share not in self._ending and share not in self._doing]
        tokens = self._leases.keep(wanted)
        for share, token in tuple(self._doing.items()):
            if tokens.get(share) != token:
                self._give_up(enders, share, is_lost=True)
        for share, token in tokens.items():
            if share not in self._doing and share not in self._ending:
                self._begin(self._jobs[share], token)
        surplus = self._leases.find_surplus(tuple(self._ending))
        if surplus in self._doing:
            self._give_up(enders, surplus)

    def _run(self, job: Job, token: int) -> None:
        """Run a job unless its share has ended since the run was planned."""
        with self._busy[job.share]:
            if self._doing.get(job.share) == token:
                self._started[job.share] = time.monotonic()
                try:
                    self.run_job(job, token)
                finally:
                    self._started.pop(job.share)

    def _begin(self, job: Job, token: int) -> None:
        self._doing[job.share] = token
        if self._leases.is_orphaned(job.share):
            self._orphaned.add(job.share)
        self._scheduler.add_job(
            self._run,
            "interval",
            args=(job, token),
            seconds=job.every_s,
            id=job.share,
            # The scheduler counts in real time, whatever clock the jobs read: a first run far in its past would make
            # it list every run that it missed.
            next_run_time=datetime.now(UTC),
            coalesce=True,
            max_instances=1,
            misfire_grace_time=None,
        )

    def _give_up(self, enders: ThreadPoolExecutor, share: str, *, is_lost: bool = False) -> None:
        self._scheduler.remove_job(share)
        del self._doing[share]
        self._ending.add(share)
        job = self._jobs[share]
        enders.submit(self._end, job, job.lose or job.end if is_lost else job.end)

    def _end(self, job: Job, end: Callable[[], None] | None) -> None:
        """Wait until nothing of a job goes on, and let somebody else have it at once."""
        try:
            with self._busy[job.share]:
                if end is not None:
                    end()
            self._leases.release(job.share)
            log.info("duty_left", duty=job.share)
        except Exception:  # nobody asks this thread how it went
            log.exception("duty_not_ended", duty=job.share)
        finally:
            self._ending.discard(job.share)


def _take_slot(resources: Resources, job: Job) -> bool:
    now = resources.clock.now()
    slot = int(now.timestamp() // job.every_s)
    with resources.database.write() as session:
        return insert_new(session, JobSlot, {"job": job.share, "slot": slot, "taken_at": now})


def run_worker(resources: Resources) -> None:
    """Work until SIGTERM or SIGINT.

    Raises
    ------
    ConfigError
        If the settings of the live market do not fit what is installed.
    """
    sources = SourceReader()
    sources.open(resources)
    worker = Worker(resources, Leases(resources.database), list_jobs(resources, sources))

    def end(_signal: int, _frame: FrameType | None) -> None:
        worker.stop()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)
    worker.run()
