"""What an operator measures: how webhooks, payments, duties, chains and sources fare at each look.

Most of it is read from the database, since the worker has no address to ask. The sources of the market are those of
this process: none before it has looked at its market.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector
from sqlalchemy import ColumnElement, func, select
from sqlalchemy.exc import InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.orm import Session

from api.domain.env import EnvMode
from api.domain.payments import CHECKED, PaymentState
from api.services.operations.backups import find_last_backup
from api.services.operations.certificates import read_end
from api.services.operations.duty_health import check_worker_health
from api.services.operations.overdue_payments import count_overdue
from api.services.operations.receivers import count_receivers, find_overdue, list_failing
from api.services.operations.redis_health import ask_redis
from api.services.operations.series import COUNTERS, GAUGES
from api.services.operations.unsent_refunds import count_unsent
from api.services.resources import Resources
from api.services.settlement.crediting.unmatched_transfers import count_unmatched
from api.services.settlement.watching.doubtful_blocks import count_doubts, list_unread
from api.services.settlement.watching.endpoint_notes import list_noted
from api.services.webhooks.outbox import DeliveryStatus
from api.storage.tables import Payment, WatchCursor, WebhookDelivery

PROVEN_WITHIN = timedelta(minutes=2)
"""How long a proof may take before the operator should know."""
CERTIFICATE_HOLDS, CERTIFICATE_TIMEOUT_S = timedelta(minutes=10), 2.0
"""How long a look at the certificate holds, and how long it may take: Prometheus waits for it."""
STATM = Path("/proc/self/statm")
"""Second in it are the pages in memory; proc(5)."""

Family = GaugeMetricFamily | CounterMetricFamily


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One value of a series; its labels in the order in which the series names them."""

    name: str
    labels: tuple[str, ...] = ()
    value: float


class MetricsCollector(Collector):
    """Asks for all of it at each look."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources

    def describe(self) -> Iterable[Family]:
        """Name the series without asking the database."""
        return _make_families().values()

    def collect(self) -> Iterable[Family]:
        """Ask, and write down what is found."""
        families = _make_families()
        for read in READERS:
            for sample in read(self._resources):
                families[sample.name].add_metric(sample.labels, sample.value)
        return families.values()


def _make_families() -> dict[str, Family]:
    gauges = {name: GaugeMetricFamily(name, said, labels=labels) for name, (said, labels) in GAUGES.items()}
    return gauges | {name: CounterMetricFamily(name, said, labels=labels) for name, (said, labels) in COUNTERS.items()}


def _read_webhooks(resources: Resources) -> Iterator[Sample]:
    """Count deliveries by status, say how long the oldest one has been waiting, and how receivers fare."""
    now = resources.clock.now()
    with resources.database.read() as session:
        query = select(WebhookDelivery.status, func.count()).group_by(WebhookDelivery.status)
        counts = {DeliveryStatus(status): count for status, count in session.execute(query)}
        waiting_since = session.scalar(
            select(func.min(WebhookDelivery.created_at)).where(WebhookDelivery.status == DeliveryStatus.PENDING)
        )
        overdue, receivers = find_overdue(session, now), count_receivers(session)
        failing = list_failing(session, now)
    for status in DeliveryStatus:
        yield Sample(name="checkout_webhook_deliveries", labels=(status,), value=counts.get(status, 0))
    age_s = (now - waiting_since).total_seconds() if waiting_since else 0
    yield Sample(name="checkout_webhook_oldest_pending_seconds", value=max(age_s, 0))
    yield Sample(name="checkout_webhook_overdue_seconds", value=overdue.total_seconds())
    for (env_mode, state), count in receivers.items():
        yield Sample(name="checkout_webhook_receivers", labels=(env_mode, state), value=count)
    for webhook_id, since in failing:
        name, seconds = "checkout_webhook_receiver_failing_seconds", max(since.total_seconds(), 0)
        yield Sample(name=name, labels=(webhook_id,), value=seconds)


def _read_payments(resources: Resources) -> Iterator[Sample]:
    """Count the payments that need the operator."""
    with resources.database.read() as session:
        counts = {
            "checkout_payments_unmatched": count_unmatched(session),
            "checkout_payments_lost": _count(session, Payment.state == PaymentState.LOST),
            "checkout_payments_unproven": _count(session, *_is_unproven(resources.clock.now())),
            "checkout_refunds_unsent": count_unsent(session, resources.clock.now()),
        }
        overdue = count_overdue(resources, session, resources.clock.now())
    for (mode, chain_id), count in overdue.items():
        yield Sample(name="checkout_payments_overdue", labels=(mode, str(chain_id)), value=count)
    for name, by_env in counts.items():
        for env_mode in EnvMode:
            yield Sample(name=name, labels=(env_mode,), value=by_env.get(env_mode, 0))


def _read_chains(resources: Resources) -> Iterator[Sample]:
    """Say how far behind each chain is, and what is in doubt on it."""
    now = resources.clock.now()
    with resources.database.read() as session:
        doubts, unread = count_doubts(session), list_unread(session)
        cursors = session.scalars(select(WatchCursor)).all()
    for env_mode, chain_id, bridge, tx_hash in unread:
        named = (env_mode, str(chain_id), bridge, tx_hash)
        yield Sample(name="checkout_bridge_events_unread", labels=named, value=1)
    for cursor in cursors:
        labels = (cursor.env_mode, str(cursor.chain_id))
        age_s = max((now - cursor.mined_at).total_seconds(), 0)
        yield Sample(name="checkout_chain_read_seconds", labels=labels, value=age_s)
        doubtful = doubts.get((cursor.env_mode, cursor.chain_id), 0)
        yield Sample(name="checkout_blocks_doubtful", labels=labels, value=doubtful)
        if cursor.can_trace is not None:
            yield Sample(name="checkout_chain_traces", labels=labels, value=cursor.can_trace)


def _read_endpoints(resources: Resources) -> Iterator[Sample]:
    """Say how the endpoints of chains fare, as the workers have noted."""
    with resources.database.read() as session:
        noted = list_noted(resources, session)
    for (env_mode, chain_id, place), state in noted.items():
        labels = (env_mode, str(chain_id), str(place), state.host)
        yield Sample(name="checkout_endpoint_up", labels=labels, value=state.answers)
        yield Sample(name="checkout_endpoint_in_step", labels=labels, value=state.in_step)
        yield Sample(name="checkout_endpoint_of_chain", labels=labels, value=state.is_of_chain)


def _read_backups(resources: Resources) -> Iterator[Sample]:
    """Say how old the newest copy of the database is."""
    with resources.database.read() as session:
        taken_at = find_last_backup(session)
    if taken_at is not None:
        age = resources.clock.now() - taken_at
        yield Sample(name="checkout_backup_age_seconds", value=max(age.total_seconds(), 0))


def _read_redis(resources: Resources) -> Iterator[Sample]:
    """Say whether Redis answers this process."""
    fault = ask_redis(resources.config)
    if fault is not None:
        yield Sample(name="checkout_redis_up", value=not fault)


def _read_surroundings(resources: Resources) -> Iterator[Sample]:
    """Say how long customers' browsers will take the certificate, and how much memory this process has."""
    base_url, now = resources.config.base_url, resources.clock.now()
    ends_at = resources.memory.recall(
        read_end, now, CERTIFICATE_HOLDS, lambda: read_end(base_url, CERTIFICATE_TIMEOUT_S)
    )
    if ends_at is not None:
        yield Sample(name="checkout_certificate_seconds", value=(ends_at - now).total_seconds())
    pages = int(STATM.read_text().split()[1]) if STATM.exists() else 0
    if pages:
        yield Sample(name="checkout_process_resident_bytes", value=pages * os.sysconf("SC_PAGE_SIZE"))


def _read_duties(resources: Resources) -> Iterator[Sample]:
    """Say since when duties and chains are neglected; what never was is infinitely long ago."""
    health = check_worker_health(resources)
    yield Sample(name="checkout_database_writable", value=not health.write_fault)
    for share, since in health.shares.items():
        yield Sample(name="checkout_duty_lapsed_seconds", labels=(share,), value=_count_seconds(since))
    for worker, silent_since in health.workers.items():
        yield Sample(name="checkout_worker_silent_seconds", labels=(worker,), value=silent_since.total_seconds())
    for (env_mode, chain_id), since in health.chains.items():
        labels = (env_mode, str(chain_id))
        yield Sample(name="checkout_chain_unread_seconds", labels=labels, value=_count_seconds(since))


def _read_sources(resources: Resources) -> Iterator[Sample]:
    """Say what the reports of the market's sources say."""
    now = resources.clock.now().timestamp()
    for source in resources.market.sources:
        labels = (source.name,)
        yield Sample(name="checkout_source_up", labels=labels, value=not source.trouble)
        yield Sample(name="checkout_source_fresh_seconds", labels=labels, value=source.expires_at - now)
        yield Sample(name="checkout_source_reading_seconds", labels=labels, value=source.seconds)
        yield Sample(name="checkout_source_readings", labels=labels, value=source.readings)
        yield Sample(name="checkout_source_failures", labels=labels, value=source.failures)
        for reason, count in source.refused.items():
            yield Sample(name="checkout_source_refused_pools", labels=(*labels, reason), value=count)


_DATABASE_READERS: tuple[Callable[[Resources], Iterator[Sample]], ...] = (
    _read_webhooks,
    _read_payments,
    _read_chains,
    _read_endpoints,
    _read_duties,
    _read_backups,
)


def _read_database(resources: Resources) -> Iterator[Sample]:
    """Say all that the database knows; where it does not answer, that alone, so that the rest is told nevertheless."""
    found: list[Sample] = []
    try:
        for read in _DATABASE_READERS:
            found += read(resources)
    except (OperationalError, InterfaceError, PoolTimeout):
        found = []
    yield from found
    yield Sample(name="checkout_database_up", value=bool(found))


READERS = (_read_database, _read_redis, _read_sources, _read_surroundings)


def _count(session: Session, *conditions: ColumnElement[bool]) -> dict[str, int]:
    query = select(Payment.env_mode, func.count()).where(*conditions).group_by(Payment.env_mode)
    return {row[0]: row[1] for row in session.execute(query)}


def _is_unproven(now: datetime) -> tuple[ColumnElement[bool], ...]:
    is_bare = ~Payment.has_receipt_proof & ~Payment.has_second_opinion
    return Payment.state.in_(CHECKED), Payment.order_id.is_not(None), is_bare, Payment.seen_at < now - PROVEN_WITHIN


def _count_seconds(since: timedelta | None) -> float:
    return float("inf") if since is None else since.total_seconds()
