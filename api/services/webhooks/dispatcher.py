"""Sends what the outbox holds, several deliveries side by side."""

from __future__ import annotations

import random
import threading
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog
from sqlalchemy import ColumnElement, true
from sqlalchemy.exc import InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from standardwebhooks import Webhook

from api.net.addresses import Reach
from api.net.client import TIMEOUT_S, HttpReply, SafeClient, Transport
from api.secrets.keys import SecretKeyFault
from api.services.resources import Resources
from api.services.webhooks.leases import DeliveryLease, InFlight, is_any_due, lease_due
from api.services.webhooks.outcomes import record_outcome
from api.services.webhooks.secrets import name_purpose
from api.storage.fencing import LeaseLost

THREADS = 16
LEASE = timedelta(seconds=3 * TIMEOUT_S)
"""Outlasts the request and the waits for the database around it, or a slow delivery would be sent twice."""

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
    process was sending is sent again when its lease is over: at least once, never lost.

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
        What holds for the deliveries that this one sends; all by default.
    """

    def __init__(
        self,
        transport: Transport | None = None,
        *,
        threads: int = THREADS,
        lease: timedelta = LEASE,
        rng: random.Random | None = None,
        mine: ColumnElement[bool] | None = None,
    ) -> None:
        self._transport = transport
        self._threads = threads
        self._lease = lease
        self._rng = rng or random.Random()
        self._mine = true() if mine is None else mine
        self._in_flight = InFlight()
        self._changed = threading.Condition()
        self._ended: list[Ended] = []
        self._busy = self._wanted = False
        self._pool: ThreadPoolExecutor | None = None

    def run(self, resources: Resources) -> None:
        """Start sending what is due."""
        with self._changed:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(self._threads, "webhook")
        self._turn(resources)

    def end(self) -> None:
        """Start nothing more, and wait until everything under way has ended."""
        with self._changed:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=True)

    def wait_idle(self) -> None:
        """Wait until nothing is under way."""
        with self._changed:
            self._changed.wait_for(lambda: self._in_flight.count == 0 and not self._busy)

    def _deliver(self, resources: Resources, lease: DeliveryLease) -> None:
        reply = None
        try:
            reply = self._send(resources, lease)
        finally:
            self._turn(resources, Ended(lease=lease, reply=reply))

    def _send(self, resources: Resources, lease: DeliveryLease) -> HttpReply:
        transport = self._transport or SafeClient(resources.resolver)
        reach = Reach.of(resources.config, lease.env_mode)
        box, purpose = resources.box, name_purpose(lease.subscription_id)
        secrets = [box.open(ciphertext, purpose) for ciphertext in lease.secrets]
        if not secrets:
            raise SecretKeyFault(f"There is no secret to sign for {lease.subscription_id}")
        headers = sign_headers(lease, secrets, resources.clock.now())
        return transport.post(lease.url, lease.payload.encode(), headers, reach)

    def _turn(self, resources: Resources, ended: Ended | None = None) -> None:
        """Write down what ended and start what is due, unless a thread is at it: then that one goes round again.

        So one thread writes, and the busier it is, the more it writes in one transaction.
        """
        with self._changed:
            if ended is not None:
                self._ended.append(ended)
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
            in_flight = self._in_flight.copy_without(one.lease for one in ended)
            free = 0 if self._pool is None else self._threads - in_flight.count
        leases: list[DeliveryLease] = []
        try:
            leases = self._write(resources, ended, in_flight, free)
        finally:
            with self._changed:
                self._in_flight = self._in_flight.copy_without(one.lease for one in ended)
                if self._pool is not None:  # or else the leases run out
                    for lease in leases:
                        self._in_flight.enter(lease.subscription_id, lease.order_id)
                        self._pool.submit(self._deliver, resources, lease).add_done_callback(_report)

    def _write(
        self, resources: Resources, ended: Sequence[Ended], in_flight: InFlight, free: int
    ) -> list[DeliveryLease]:
        now = resources.clock.now()
        if not ended:
            with resources.database.read() as session:
                if free <= 0 or not is_any_due(session, now, self._mine):
                    return []
        with resources.database.write() as session:
            # In the order of their locks, so that two workers cannot wait for each other.
            for one in sorted(ended, key=lambda one: one.lease.subscription_id):
                if one.reply is not None:
                    record_outcome(session, one.lease, one.reply, now, self._rng)
            return lease_due(session, in_flight, now, self._lease, free, self._mine)


def sign_headers(lease: DeliveryLease, secrets: Sequence[str], now: datetime) -> dict[str, str]:
    """Compose the headers of Standard Webhooks; the id stays the same over all attempts."""
    signatures = [Webhook(secret).sign(lease.event_id, now, lease.payload) for secret in secrets]
    return {
        "Content-Type": "application/json",
        "webhook-id": lease.event_id,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": " ".join(signatures),
    }


def _report(future: Future[None]) -> None:
    error = future.exception()
    if isinstance(error, DATABASE_ERRORS):
        log.warning("database_unavailable", kind=type(error).__name__)
    elif isinstance(error, LeaseLost):
        log.warning("lease_lost", kind="webhooks")
    elif error is not None:
        log.error("webhook_delivery_crashed", exc_info=error)
