"""Sends what the outbox holds, several deliveries side by side."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta

import structlog
from sqlalchemy import ColumnElement, true
from sqlalchemy.exc import InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from api.net.client import TIMEOUT_S, HttpReply, Transport
from api.services.resources import Resources
from api.services.webhooks.in_flight import InFlight
from api.services.webhooks.leases import DeliveryLease, free_leases, is_any_due, lease_due
from api.services.webhooks.outcomes import record_outcome
from api.services.webhooks.sending import send
from api.services.webhooks.slowness import Slowness
from api.services.webhooks.waiting import select_waiting
from api.storage.fault_names import name_fault
from api.storage.fencing import LeaseLost

THREADS = 16
LEASE = timedelta(seconds=3 * TIMEOUT_S)
"""Outlasts the request and the waits for the database around it, or a slow delivery would be sent twice."""

SLOW_S = 1.0
"""How long a delivery may be under way before one that ends no longer waits for it with all others."""
DRAIN_S = TIMEOUT_S + SLOW_S
LOOK_S = 0.2
"""Between two looks for what is due while the slow ones are waited for."""

DATABASE_ERRORS = (OperationalError, InterfaceError, PoolTimeout)

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """A delivery that was sent; no reply if sending it crashed, and then it is sent again after its lease."""

    lease: DeliveryLease
    reply: HttpReply | None


class Dispatcher:
    """The worker's delivery job.

    `run` starts what is due and returns at once; each delivery that ends makes room for the next. What a killed
    process was sending is sent again when its lease is over, or once it is adopted: at least once, never lost.

    Parameters
    ----------
    transport : Transport, optional
        The internet by default.
    threads : int
        Deliveries at the same time.
    lease : timedelta
        Must outlast the transport's time limit.
    rng : random.Random, optional
        Spreads retries.
    mine : ColumnElement of bool, optional
        What holds for the subscriptions that this one sends to; all by default.
    stopwatch : callable
        Monotonic seconds.
    """

    def __init__(
        self,
        transport: Transport | None = None,
        *,
        threads: int = THREADS,
        lease: timedelta = LEASE,
        rng: random.Random | None = None,
        mine: ColumnElement[bool] | None = None,
        stopwatch: Callable[[], float] = time.monotonic,
    ) -> None:
        self._transport = transport
        self._threads = threads
        self._lease = lease
        self._rng = rng or random.Random()
        self._mine = true() if mine is None else mine
        self._waiting = select_waiting(self._mine)
        self._stopwatch = stopwatch
        self._in_flight = InFlight(threads)
        self._slowness = Slowness(stopwatch)
        self._changed = threading.Condition()
        self._ended: list[Ended] = []
        self._busy = self._wanted = False
        self._pool: ThreadPoolExecutor | None = None
        self._resources: Resources | None = None

    def run(self, resources: Resources) -> None:
        """Start sending what is due."""
        with self._changed:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(self._threads, "webhook")
            self._resources = resources
        self._turn(resources)

    def adopt(self, resources: Resources) -> None:
        """Let what an ended process was sending be sent now, and not only once its leases are over."""
        with resources.database.write() as session:
            free_leases(session, self._mine)

    def end(self) -> None:
        """Start nothing more, and return once everything under way has ended.

        Slow subscriptions get nothing more at once, and the others go on until the slow ones have answered: whoever
        sends next can begin only then, and nobody shall hear later because of somebody else's slow receiver.
        """
        with self._changed:
            resources, self._resources = self._resources, None
        if resources is not None:
            self._drain(resources)
        with self._changed:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=True)
            with self._changed:
                self._in_flight, self._ended = InFlight(self._threads), []

    def wait_idle(self) -> None:
        """Wait until nothing is under way; answers may still wait for the database."""
        with self._changed:
            self._changed.wait_for(lambda: self._in_flight.count == len(self._ended) and not self._busy)

    def lose(self) -> None:
        """Start nothing more, and wait for nothing: somebody else sends now, or this one again with a new lease."""
        with self._changed:
            self._resources = None

    def _drain(self, resources: Resources) -> None:
        """Send on until nothing slow is under way."""
        ends_at = self._stopwatch() + DRAIN_S
        while (slow := self._list_slow()) and self._stopwatch() < ends_at:
            with self._changed:
                self._in_flight = self._in_flight.copy_without((), closing=slow)
            try:
                self._turn(resources)
            except DATABASE_ERRORS as error:
                log.warning("database_unavailable", kind=name_fault(error))
            except LeaseLost:  # somebody else sends already
                return
            with self._changed:
                self._changed.wait(LOOK_S)

    def _list_slow(self) -> frozenset[str]:
        """List the subscriptions that have been sent something for long."""
        with self._changed:
            return self._slowness.list_unanswered(SLOW_S)

    def _deliver(self, resources: Resources, lease: DeliveryLease) -> None:
        reply = None
        try:
            reply = send(resources, lease, self._transport)
        finally:
            with self._changed:
                resources = self._resources or resources  # those of now, if this share was lost and had again
            self._turn(resources, Ended(lease=lease, reply=reply))

    def _turn(self, resources: Resources, ended: Ended | None = None) -> None:
        """Write down what ended and start what is due, unless a thread is at it: then that one goes round again.

        So one thread writes, and the busier it is, the more it writes in one transaction.
        """
        with self._changed:
            if ended is not None:
                self._ended.append(ended)
                self._slowness.end(ended.lease)
            self._wanted = True
            if self._busy:
                return
            self._busy = True
        completed = False
        try:
            while self._begin_round():
                self._round(resources)
            completed = True
        finally:
            if not completed:
                with self._changed:
                    self._busy = False
                    self._changed.notify_all()

    def _begin_round(self) -> bool:
        with self._changed:
            wanted, self._wanted = self._wanted, False
            self._busy = wanted
            self._changed.notify_all()
            return wanted

    def _round(self, resources: Resources) -> None:
        with self._changed:
            ended, self._ended = self._ended, []
            habits = self._slowness.learn_habits()
            in_flight = self._in_flight.copy_without((one.lease for one in ended), habits=habits)
            free = 0 if self._pool is None else in_flight.free
        leases: list[DeliveryLease] = []
        try:
            leases = self._write(resources, ended, in_flight, free)
        except DATABASE_ERRORS:  # what a receiver has answered is known still when the database is there again
            with self._changed:
                self._ended, ended = [*ended, *self._ended], []
            raise
        finally:
            with self._changed:
                self._in_flight = self._in_flight.copy_without(one.lease for one in ended)
                if self._pool is not None:  # or else the leases run out
                    for lease in leases:
                        self._in_flight.enter(lease)
                        self._slowness.begin(lease)
                        self._pool.submit(self._deliver, resources, lease).add_done_callback(_report)

    def _write(
        self, resources: Resources, ended: Sequence[Ended], in_flight: InFlight, free: int
    ) -> list[DeliveryLease]:
        now = resources.clock.now()
        if not ended:
            with resources.database.look() as connection:
                if free <= 0 or not is_any_due(connection, in_flight, now, self._waiting):
                    return []
        with resources.database.write() as session:
            # In the order of their locks, so that two workers cannot wait for each other.
            for one in sorted(ended, key=lambda one: one.lease.subscription_id):
                if one.reply is not None:
                    record_outcome(session, one.lease, one.reply, now, self._rng)
            return lease_due(session, in_flight, now, self._lease, free, self._waiting)


def _report(future: Future[None]) -> None:
    error = future.exception()
    if isinstance(error, DATABASE_ERRORS):
        log.warning("database_unavailable", kind=name_fault(error))
    elif isinstance(error, LeaseLost):
        log.warning("lease_lost", kind="webhooks")
    elif error is not None:
        log.error("webhook_delivery_crashed", exc_info=error)
