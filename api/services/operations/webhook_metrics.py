"""How the webhooks fare, read from the database: the worker that sends them has no address to ask."""

from __future__ import annotations

from collections.abc import Iterable

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from sqlalchemy import func, select

from api.services.resources import Resources
from api.services.webhooks.outbox import DeliveryStatus
from api.storage.tables import WebhookDelivery


class DeliveryCollector(Collector):
    """Deliveries by status, and how long the oldest one has been waiting, at each look."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources

    def describe(self) -> Iterable[GaugeMetricFamily]:
        """Name the series without asking the database."""
        return self._families()

    def collect(self) -> Iterable[GaugeMetricFamily]:
        """Count."""
        deliveries, oldest = self._families()
        with self._resources.database.read() as session:
            query = select(WebhookDelivery.status, func.count()).group_by(WebhookDelivery.status)
            counts = dict.fromkeys(DeliveryStatus, 0)
            counts |= {DeliveryStatus(status): count for status, count in session.execute(query)}
            waiting_since = session.scalar(
                select(WebhookDelivery.created_at)
                .where(WebhookDelivery.status == DeliveryStatus.PENDING)
                .order_by(WebhookDelivery.created_at)
                .limit(1)
            )
        for status in DeliveryStatus:
            deliveries.add_metric([status], counts[status])
        age = (self._resources.clock.now() - waiting_since).total_seconds() if waiting_since else 0
        oldest.add_metric([], max(age, 0))
        return deliveries, oldest

    @staticmethod
    def _families() -> tuple[GaugeMetricFamily, GaugeMetricFamily]:
        return (
            GaugeMetricFamily("checkout_webhook_deliveries", "Webhook deliveries", labels=["status"]),
            GaugeMetricFamily("checkout_webhook_oldest_pending_seconds", "Age of the oldest undelivered event"),
        )
