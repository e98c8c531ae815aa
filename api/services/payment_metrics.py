"""How the chains and the payments on them fare, read from the database: the worker has no address to ask."""

from __future__ import annotations

from collections.abc import Iterable

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from sqlalchemy import func, select

from api.context import Context
from api.domain.env import EnvMode
from api.services.order_store import PaymentState
from api.services.unmatched import count_unmatched
from api.storage.tables import Payment, WatchCursor


class PaymentCollector(Collector):
    """What needs the operator, and how far behind each chain is, at each look."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def describe(self) -> Iterable[GaugeMetricFamily]:
        """Name the series without asking the database."""
        return self._families()

    def collect(self) -> Iterable[GaugeMetricFamily]:
        """Count."""
        unmatched, lost, behind = self._families()
        now = self._context.clock.now()
        gone = select(Payment.env_mode, func.count()).where(Payment.state == PaymentState.LOST)
        with self._context.database.read() as session:
            counts = count_unmatched(session)
            losses = {row[0]: row[1] for row in session.execute(gone.group_by(Payment.env_mode))}
            cursors = session.scalars(select(WatchCursor)).all()
        for env_mode in EnvMode:
            unmatched.add_metric([env_mode], counts.get(env_mode, 0))
            lost.add_metric([env_mode], losses.get(env_mode, 0))
        for cursor in cursors:
            age = (now - cursor.mined_at).total_seconds()
            behind.add_metric([cursor.env_mode, str(cursor.chain_id)], max(age, 0))
        return unmatched, lost, behind

    @staticmethod
    def _families() -> tuple[GaugeMetricFamily, GaugeMetricFamily, GaugeMetricFamily]:
        return (
            GaugeMetricFamily("checkout_payments_unmatched", "Payments that belong to no order", labels=["env_mode"]),
            GaugeMetricFamily(
                "checkout_payments_lost", "Payments that counted, and that their chain has lost", labels=["env_mode"]
            ),
            GaugeMetricFamily(
                "checkout_chain_read_seconds", "Age of the last block read", labels=["env_mode", "chain_id"]
            ),
        )
