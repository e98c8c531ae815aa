"""Whether the process lives, whether it can serve, and what it has counted."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any, TypeVar

from flask import Blueprint, Response, current_app, request
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from api.context import get_resources
from api.counting.metrics import Metrics
from api.domain.errors import ServiceUnavailable, Unauthenticated
from api.services.market.source_problems import list_broken_packages
from api.services.operations import duty_health
from api.services.resources import Resources
from api.storage import migrations
from api.storage.fault_names import name_fault
from api.storage.migrations.compatibility import SchemaState

blueprint = Blueprint("health", __name__)

DATABASE_ERRORS = (DBAPIError, PoolTimeout)
LOOKED = timedelta(seconds=1)
"""How long a look at the database holds for whoever asks: nobody counts these requests, and a flood of them costs no
more than one a second."""
DATABASE_RETRY_S = 5
GLANCE_S = 0.5
"""How long `/healthz` waits for the database. Who asks it wants to know of the process: one that waits for a database
that hangs would be killed for it, all processes at once, and nothing would be better."""
NOTHING_SEEN = "the database does not answer, or has no schema yet"

Seen = TypeVar("Seen")


@blueprint.get("/healthz")
def healthz() -> dict[str, Any]:
    """Say that the process answers, and what else an operator wants to know; never anything but 200, and soon.

    Without a database nothing is known of the worker and of the chains on which coin sent by contracts can't be seen.
    """
    health = _glance_once(duty_health.check_worker_health)
    problems, untraced = [NOTHING_SEEN], None
    if health is not None:
        problems, untraced = list(health.problems), health.untraced
    problems += list_broken_packages()
    return {"status": "ok", "problems": problems, "chains_without_traces": untraced}


@blueprint.get("/readyz")
def readyz() -> dict[str, Any]:
    """Say whether the service as a whole can take a payment: this process can serve, and somebody does the rest."""
    revision = _require_schema()
    health, fault = _look_once(duty_health.check_worker_health)
    if health is None:
        raise ServiceUnavailable(fault, retry_after_s=DATABASE_RETRY_S)
    if health.is_essential_undone:
        raise ServiceUnavailable("; ".join(health.problems), retry_after_s=DATABASE_RETRY_S)
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
    schema, fault = _look_once(_check_schema)
    if schema is None:
        raise ServiceUnavailable(fault, retry_after_s=DATABASE_RETRY_S)
    if schema.found is None or not schema.is_usable:
        raise ServiceUnavailable(schema.describe(), retry_after_s=DATABASE_RETRY_S)
    return schema.found


def _check_schema(resources: Resources) -> SchemaState:
    return migrations.check_schema(resources.database.engine)


def _look_once(look: Callable[[Resources], Seen]) -> tuple[Seen | None, str]:
    """Return what a look at the database saw within the last second, or None and why it does not answer."""
    shared = get_resources()
    return shared.memory.recall(look, shared.clock.now(), LOOKED, partial(_try_looking, look, shared))


def _glance_once(look: Callable[[Resources], Seen]) -> Seen | None:
    """Return what `_look_once` does where that is seen in a moment, else None."""
    shared = get_resources()
    learn = partial(_try_looking, look, shared)
    seen, _ = shared.memory.recall_soon(look, shared.clock.now(), LOOKED, learn, patience_s=GLANCE_S) or (None, "")
    return seen


def _try_looking(look: Callable[[Resources], Seen], resources: Resources) -> tuple[Seen | None, str]:
    try:
        return look(resources), ""
    except DATABASE_ERRORS as error:
        return None, f"The database does not answer ({name_fault(error)})"
