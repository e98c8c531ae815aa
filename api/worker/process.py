"""The worker's main loop."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from types import FrameType

import structlog
from apscheduler.schedulers.background import BackgroundScheduler
from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from api.context import replace_database
from api.domain.duties import Duty
from api.services.resources import Resources
from api.storage.db import insert_new
from api.storage.fencing import Fence, LeaseLost
from api.storage.tables import JobSlot
from api.worker.jobs import JOBS, SOURCES, Job
from api.worker.leases import Leases

TICK_S = 0.2
"""Between two looks at the leases."""
STUCK_S = 60.0
"""How long a run may take before the duty is left to somebody else: this process lives, but the run hangs."""

log = structlog.get_logger(__name__)


class Worker:
    """Does the duties that it has leases for, until it is told to stop."""

    def __init__(self, resources: Resources, leases: Leases, jobs: Sequence[Job]) -> None:
        self._resources = resources
        self._leases = leases
        self._jobs = {job.duty: job for job in jobs}
        self._busy = {job.duty: threading.Lock() for job in jobs}
        self._doing: dict[Duty, int] = {}
        self._started: dict[Duty, float] = {}
        self._ending: set[Duty] = set()
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
            while self._doing or self._ending:
                for duty in tuple(self._doing):
                    self._give_up(enders, duty)
                self._leases.keep(())  # until their last run has ended
                threading.Event().wait(TICK_S / 4)
        self._scheduler.shutdown(wait=True)
        self._leases.close()

    def run_job(self, job: Job, token: int) -> bool:
        """Run a job once, now, under a lease's token.

        Returns
        -------
        bool
            False if its slot was taken, the database was away, or the duty is somebody else's: the next run makes up
            for it, whoever's it is.
        """
        fence = Fence(duty=job.duty, token=token)
        resources = replace_database(self._resources, self._resources.database.fenced(fence))
        with structlog.contextvars.bound_contextvars(duty=job.duty):
            try:
                if job.once_per_slot and not _take_slot(resources, job):
                    return False
                job.run(resources)
            except (OperationalError, PoolTimeout) as error:
                log.warning("database_unavailable", kind=type(error).__name__)
                return False
            except LeaseLost:
                log.warning("lease_lost")
                self._leases.forget(job.duty, token)
                return False
        return True

    def _keep(self, enders: ThreadPoolExecutor) -> None:
        """Begin what has become this worker's duty, and end what is its no more."""
        for duty, started in tuple(self._started.items()):
            if duty in self._doing and time.monotonic() - started > STUCK_S:
                log.error("duty_stuck", duty=duty)
                self._leases.release(duty)
                self._give_up(enders, duty)
        wanted = [duty for duty in self._jobs if duty not in self._ending and duty not in self._doing]
        tokens = self._leases.keep(wanted)
        for duty, token in tuple(self._doing.items()):
            if tokens.get(duty) != token:
                self._give_up(enders, duty)
        for duty, token in tokens.items():
            if duty not in self._doing and duty not in self._ending:
                self._begin(self._jobs[duty], token)

    def _run(self, job: Job, token: int) -> None:
        """Run a job unless its duty has ended since the run was planned."""
        with self._busy[job.duty]:
            if self._doing.get(job.duty) == token:
                self._started[job.duty] = time.monotonic()
                try:
                    self.run_job(job, token)
                finally:
                    self._started.pop(job.duty)

    def _begin(self, job: Job, token: int) -> None:
        self._doing[job.duty] = token
        self._scheduler.add_job(
            self._run,
            "interval",
            args=(job, token),
            seconds=job.every_s,
            id=job.duty,
            # The scheduler counts in real time, whatever clock the jobs read: a first run far in its past would make
            # it list every run that it missed.
            next_run_time=datetime.now(UTC),
            coalesce=True,
            max_instances=1,
            misfire_grace_time=None,
        )

    def _give_up(self, enders: ThreadPoolExecutor, duty: Duty) -> None:
        self._scheduler.remove_job(duty)
        del self._doing[duty]
        self._ending.add(duty)
        enders.submit(self._end, self._jobs[duty])

    def _end(self, job: Job) -> None:
        """Wait until nothing of a job goes on, and let somebody else have it at once."""
        try:
            with self._busy[job.duty]:
                if job.end is not None:
                    job.end()
            self._leases.release(job.duty)
            log.info("duty_left", duty=job.duty)
        except Exception:  # nobody asks this thread how it went
            log.exception("duty_not_ended", duty=job.duty)
        finally:
            self._ending.discard(job.duty)


def _take_slot(resources: Resources, job: Job) -> bool:
    now = resources.clock.now()
    slot = int(now.timestamp() // job.every_s)
    with resources.database.write() as session:
        return insert_new(session, JobSlot, {"job": job.duty, "slot": slot, "taken_at": now})


def run_worker(resources: Resources) -> None:
    """Work until SIGTERM or SIGINT.

    Raises
    ------
    ConfigError
        If the settings of the live market do not fit what is installed.
    """
    SOURCES.open(resources)
    worker = Worker(resources, Leases(resources.database), JOBS)

    def end(_signal: int, _frame: FrameType | None) -> None:
        worker.stop()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)
    worker.run()
