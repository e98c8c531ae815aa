"""How the chains and the payments on them fare, read from the database: the worker has no address to ask."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from api.domain.env import EnvMode
from api.domain.payments import CHECKED, PaymentState
from api.services.resources import Resources
from api.services.settlement.crediting.unmatched_transfers import count_unmatched
from api.services.settlement.watching.doubtful_blocks import count_doubts
from api.storage.tables import Payment, WatchCursor

PROVEN_WITHIN = timedelta(minutes=2)
"""How long a proof may take before the operator should know."""


class PaymentCollector(Collector):
    """What needs the operator, and how far behind each chain is, at each look."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources

    def describe(self) -> Iterable[GaugeMetricFamily]:
        """Name the series without asking the database."""
        return self._families()

    def collect(self) -> Iterable[GaugeMetricFamily]:
        """Count."""
        unmatched, lost, unproven, behind, doubtful, traces = self._families()
        now = self._resources.clock.now()
        with self._resources.database.read() as session:
            counts = count_unmatched(session)
            losses = _count(session, Payment.state == PaymentState.LOST)
            waiting = _count(session, *_is_unproven(now))
            doubts = count_doubts(session)
            cursors = session.scalars(select(WatchCursor)).all()
        for env_mode in EnvMode:
            unmatched.add_metric([env_mode], counts.get(env_mode, 0))
            lost.add_metric([env_mode], losses.get(env_mode, 0))
            unproven.add_metric([env_mode], waiting.get(env_mode, 0))
        for cursor in cursors:
            age, labels = (now - cursor.mined_at).total_seconds(), [cursor.env_mode, str(cursor.chain_id)]
            behind.add_metric(labels, max(age, 0))
            doubtful.add_metric(labels, doubts.get((cursor.env_mode, cursor.chain_id), 0))
            if cursor.can_trace is not None:
                traces.add_metric(labels, cursor.can_trace)
        return unmatched, lost, unproven, behind, doubtful, traces

    @staticmethod
    def _families() -> tuple[GaugeMetricFamily, ...]:
        by_env = {
            "checkout_payments_unmatched": "Payments that belong to no order",
            "checkout_payments_lost": "Payments that counted, and that their chain has lost",
            "checkout_payments_unproven": "Payments of orders that no proof was found for in two minutes",
        }
        by_chain = {
            "checkout_chain_read_seconds": "Age of the last block read",
            "checkout_blocks_doubtful": "Blocks that may hold more than was said of them",
            "checkout_chain_traces": "Whether an endpoint traces transactions",
        }
        return (
            *(GaugeMetricFamily(name, said, labels=["env_mode"]) for name, said in by_env.items()),
            *(GaugeMetricFamily(name, said, labels=["env_mode", "chain_id"]) for name, said in by_chain.items()),
        )


def _count(session: Session, *conditions: ColumnElement[bool]) -> dict[str, int]:
    query = select(Payment.env_mode, func.count()).where(*conditions).group_by(Payment.env_mode)
    return {row[0]: row[1] for row in session.execute(query)}


def _is_unproven(now: datetime) -> tuple[ColumnElement[bool], ...]:
    is_bare = ~Payment.has_receipt_proof & ~Payment.has_second_opinion
    return Payment.state.in_(CHECKED), Payment.order_id.is_not(None), is_bare, Payment.seen_at < now - PROVEN_WITHIN
