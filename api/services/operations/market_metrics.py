"""How the sources of the live market fare, as far as this process knows."""

from __future__ import annotations

from collections.abc import Iterable

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from api.services.resources import Resources


class MarketCollector(Collector):
    """One series for each source; none before this process has looked at its market."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources

    def describe(self) -> Iterable[Metric]:
        """Name the series."""
        return self._families()

    def collect(self) -> Iterable[Metric]:
        """Write down what the sources' reports say."""
        families = up, remaining, seconds, readings, failures, refused = self._families()
        now = self._resources.clock.now().timestamp()
        for source in self._resources.market.sources:
            labels = [source.name]
            up.add_metric(labels, not source.trouble)
            remaining.add_metric(labels, source.expires_at - now)
            seconds.add_metric(labels, source.seconds)
            readings.add_metric(labels, source.readings)
            failures.add_metric(labels, source.failures)
            for reason, count in source.refused.items():
                refused.add_metric([*labels, reason], count)
        return families

    @staticmethod
    def _families() -> tuple[
        GaugeMetricFamily,
        GaugeMetricFamily,
        GaugeMetricFamily,
        CounterMetricFamily,
        CounterMetricFamily,
        GaugeMetricFamily,
    ]:
        label = ["source"]
        return (
            GaugeMetricFamily("checkout_source_up", "Whether nothing is wrong with a source of rates", labels=label),
            GaugeMetricFamily("checkout_source_fresh_seconds", "Until its rates are left out", labels=label),
            GaugeMetricFamily("checkout_source_reading_seconds", "What its last reading took", labels=label),
            CounterMetricFamily("checkout_source_readings", "Readings", labels=label),
            CounterMetricFamily("checkout_source_failures", "Readings in vain", labels=label),
            GaugeMetricFamily(
                "checkout_source_refused_pools", "Pools left out, by protocol and reason", labels=[*label, "reason"]
            ),
        )
