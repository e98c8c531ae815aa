"""Whether the process lives, whether it can serve, and what it has counted."""

from __future__ import annotations

import hmac
from typing import Any

from flask import Blueprint, Response, current_app, request
from sqlalchemy.exc import SQLAlchemyError

from api import context
from api.domain.env import EnvMode
from api.domain.errors import Unauthenticated, Unavailable
from api.metrics import Metrics
from api.services.settlement.traces import chains_without_traces
from api.storage import migrations

blueprint = Blueprint("health", __name__)


@blueprint.get("/healthz")
def healthz() -> dict[str, Any]:
    """Say that the process answers, and on which chains coin sent by contracts can't be seen.

    It answers without a database too; then nothing is known of the chains.
    """
    return {"status": "ok", "chains_without_traces": _chains_without_traces()}


@blueprint.get("/readyz")
def readyz() -> dict[str, Any]:
    """Say whether requests can be served: the database answers and its schema is this version's."""
    engine = context.current().database.engine
    found, wanted = migrations.current_revision(engine), migrations.latest_revision(engine)
    if found != wanted:
        message = (
            f"The database is at revision {found or 'none'}, this version needs {wanted}: run `checkout db upgrade`"
        )
        raise Unavailable(message, retry_after_s=5)
    return {"status": "ready", "revision": found}


@blueprint.get("/metrics")
def metrics() -> Response:
    """Give the counters in Prometheus' text format."""
    token = context.current().config.metrics_token
    given = request.headers.get("Authorization", "")
    if token and not hmac.compare_digest(given.encode(), f"Bearer {token}".encode()):
        raise Unauthenticated("Metrics need the bearer token of METRICS_TOKEN")
    return Metrics.of(current_app).exposition()


def _chains_without_traces() -> dict[str, list[int]] | None:
    try:
        with context.current().database.read() as session:
            return {env_mode: sorted(chains_without_traces(session, env_mode)) for env_mode in EnvMode}
    except SQLAlchemyError:
        return None
