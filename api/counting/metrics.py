"""Counters of the HTTP processes of one port."""

from __future__ import annotations

import os
import time

from flask import Flask, Response, g, request
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from api.counting.shared_metrics import FOLDER

EXTENSION = "checkout.metrics"
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """Requests by method, route and status, and how long they took.

    The label is the route's pattern, never the path, so that ids make no new series.
    """

    def __init__(self) -> None:
        self.registry, own = CollectorRegistry(), CollectorRegistry()
        self.requests = Counter(
            "checkout_http_requests_total", "Requests answered", ("method", "route", "status"), registry=own
        )
        self.seconds = Histogram(
            "checkout_http_request_seconds", "Time to answer", ("route",), buckets=BUCKETS, registry=own
        )
        self._counted = own

    @classmethod
    def of(cls, app: Flask) -> Metrics:
        """Return the metrics of an application; other modules add collectors to its registry."""
        metrics = app.extensions[EXTENSION]
        if not isinstance(metrics, Metrics):
            raise TypeError("the application was not built by create_app")
        return metrics

    def install(self, app: Flask) -> None:
        """Count every request of `app`."""
        app.extensions[EXTENSION] = self
        app.before_request(_start)
        app.after_request(self._count)

    def exposition(self) -> Response:
        """Write everything counted in Prometheus' text format; what processes count together, of all of them."""
        counted = self._counted
        if FOLDER in os.environ:
            counted = CollectorRegistry()
            MultiProcessCollector(counted)  # type: ignore[no-untyped-call]  # it has no types
        return Response(generate_latest(counted) + generate_latest(self.registry), content_type=CONTENT_TYPE_LATEST)

    def _count(self, response: Response) -> Response:
        route = request.url_rule.rule if request.url_rule else "unknown"
        self.requests.labels(request.method, route, str(response.status_code)).inc()
        self.seconds.labels(route).observe(time.perf_counter() - g.started)
        return response


def _start() -> None:
    g.started = time.perf_counter()
