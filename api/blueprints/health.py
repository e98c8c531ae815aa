"""Whether the process lives, whether it can serve, and what it has counted."""

from __future__ import annotations

import hmac
from contextlib import suppress
from typing import Any

from flask import Blueprint, Response, current_app, request
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from api.context import get_resources
from api.counting.metrics import Metrics
from api.domain.errors import ServiceUnavailable, Unauthenticated
from api.services.market.source_problems import list_broken_packages
from api.services.operations import duty_health
from api.storage import migrations
from api.storage.fault_names import name_fault

blueprint = Blueprint("health", __name__)

DATABASE_ERRORS = (DBAPIError, PoolTimeout)


@blueprint.get("/healthz")
def healthz() -> dict[str, Any]:
    """Say that the process answers, and what else an operator wants to know; never anything but 200.

    Without a database nothing is known of the worker and of the chains on which coin sent by contracts can't be seen.
    """
    problems, untraced = ["the database does not answer, or has no schema yet"], None
    with suppress(*DATABASE_ERRORS):
        health = duty_health.check_worker_health(get_resources())
        problems, untraced = list(health.problems), health.untraced
    problems += list_broken_packages()
    return {"status": "ok", "problems": problems, "chains_without_traces": untraced}


@blueprint.get("/readyz")
def readyz() -> dict[str, Any]:
    """Say whether the service as a whole can take a payment: this process can serve, and somebody does the rest."""
    revision = _require_schema()
    health = duty_health.check_worker_health(get_resources())
    if health.is_essential_undone:
        raise ServiceUnavailable("; ".join(health.problems), retry_after_s=5)
    return {"status": "ready", "revision": revision, "problems": list(health.problems)}


@blueprint.get("/readyz/api")
def readyz_api() -> dict[str, Any]:
    """Say whether this process can serve requests: the database answers, with a schema on which this version works."""
    return {"status": "ready", "revision": _require_schema()}


@blueprint.get("/metrics")
def metrics() -> Response:
    """Give the counters in Prometheus' text format, to whoever has the token; to nobody without one.

    An address proves nothing: behind a proxy on the same machine everybody comes from there.
    """
    token = get_resources().config.metrics_token
    given = request.headers.get("Authorization", "")
    if not token:
        raise Unauthenticated("Metrics are closed: set METRICS_TOKEN, and send it as a bearer token")
    if not hmac.compare_digest(given.encode(), f"Bearer {token}".encode()):
        raise Unauthenticated("Metrics need the bearer token of METRICS_TOKEN")
    return Metrics.of(current_app).exposition()


def _require_schema() -> str:
    engine = get_resources().database.engine
    try:
        schema = migrations.check_schema(engine)
    except DATABASE_ERRORS as error:
        raise ServiceUnavailable(f"The database does not answer ({name_fault(error)})", retry_after_s=5) from error
    if schema.found is None or not schema.is_usable:
        raise ServiceUnavailable(schema.describe(), retry_after_s=5)
    return schema.found
