"""JSON lines on standard error, each with the request's id and without any secret."""

from __future__ import annotations

import json
import logging
import logging.config
import re
import secrets
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import structlog
from flask import Flask, Response, g, request
from structlog.typing import EventDict, WrappedLogger

REQUEST_ID_HEADER = "X-Request-Id"
REDACTED = "[redacted]"

_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,128}", re.ASCII)
_SECRET_NAME = re.compile(r"api[-_]?key$|secret|authorization|password|cookie|webhook-signature", re.IGNORECASE)
_SECRET_TEXT = re.compile(r"(sk_(?:test|live)_|whsec_)[A-Za-z0-9+/=_-]+|(?<=://)[^/@\s]+(?=@)")

REMEDIES: Mapping[str, str] = {
    "chain_unavailable": "`checkout doctor` asks each endpoint; runbook.md, A chain is not read",
    "database_unavailable": "`checkout doctor` says what is wrong with it; runbook.md, Nobody answers",
}
"""What to do about an event that several places write."""

_ENCODER = json.JSONEncoder(sort_keys=True, default=repr)

log = structlog.get_logger(__name__)


def configure_logging(level: str) -> None:
    """Send this process's log, also that of libraries, to standard error."""
    structlog.configure(
        processors=[structlog.contextvars.merge_contextvars, structlog.processors.format_exc_info, _hand_over],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    # Each line would be asked for what none says: its thread and its process.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    logging.config.dictConfig(
        {
            "version": 1,
            "disable_existing_loggers": False,
            "formatters": {"json": {"()": JsonLines}},
            "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json"}},
            "root": {"handlers": ["stderr"], "level": level},
            # uvicorn would write every request a second time; urllib3 writes the addresses of webhooks.
            "loggers": {
                "uvicorn.access": {"level": "WARNING"},
                "apscheduler": {"level": "WARNING"},
                # Warns of each run that is left out because the one before goes on; the worker says what is stuck.
                "apscheduler.scheduler": {"level": "ERROR"},
                "urllib3": {"level": "ERROR"},
                # Two lines each time the schema is looked at, which every probe does.
                "alembic.runtime.migration": {"level": "WARNING"},
            },
        }
    )


class JsonLines(logging.Formatter):
    """Writes each line, of the service and of libraries, as one JSON object with its properties in order."""

    def format(self, record: logging.LogRecord) -> str:
        """Write a line."""
        event = record.msg if isinstance(record.msg, dict) else self._describe(record)
        if (remedy := REMEDIES.get(str(event.get("event")))) is not None:
            event["remedy"] = remedy
        event["level"], event["logger"] = record.levelname.lower(), record.name
        event["timestamp"] = datetime.fromtimestamp(record.created, UTC).isoformat().replace("+00:00", "Z")
        return _ENCODER.encode(redact(event))

    def _describe(self, record: logging.LogRecord) -> dict[str, Any]:
        """Return what a library says, with the request that it says it in."""
        event = {**structlog.contextvars.get_contextvars(), "event": record.getMessage()}
        if record.exc_info:
            event["exception"] = self.formatException(record.exc_info)
        return event


def redact(event: Mapping[str, Any]) -> dict[str, Any]:
    """Take secrets out of a log line: by the name of the field, and by their form within any text."""
    return {name: REDACTED if _is_secret(name) else _strip_secrets(value) for name, value in event.items()}


def choose_request_id(given: str) -> str:
    """Return the id that a caller gave its request, or a new one where that is none."""
    return given if _REQUEST_ID.fullmatch(given) else f"req_{secrets.token_hex(12)}"


def install(app: Flask) -> None:
    """Give every request of `app` an id, and every answer a log line."""
    app.before_request(_begin_request)
    app.after_request(_end_request)


@lru_cache(maxsize=1_024)
def _is_secret(name: str) -> bool:
    return _SECRET_NAME.search(name) is not None


def _strip_secrets(value: Any) -> Any:
    if isinstance(value, str):
        return _SECRET_TEXT.sub(lambda match: f"{match[1] or ''}{REDACTED}", value)
    if isinstance(value, Mapping):
        return {name: REDACTED if _is_secret(str(name)) else _strip_secrets(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_strip_secrets(item) for item in value]
    return value


def _hand_over(_logger: WrappedLogger, _method: str, event: EventDict) -> tuple[tuple[EventDict], dict[str, Any]]:
    """Give an event to Python's logging as it is, for `JsonLines` to write."""
    return (event,), {}


def _begin_request() -> None:
    g.request_id = choose_request_id(request.headers.get(REQUEST_ID_HEADER, ""))
    g.began = time.perf_counter()
    structlog.contextvars.clear_contextvars()
    structlog.contextvars.bind_contextvars(request_id=g.request_id)


def _end_request(response: Response) -> Response:
    response.headers[REQUEST_ID_HEADER] = g.request_id
    if request.path not in {"/healthz", "/readyz", "/readyz/api", "/metrics"}:
        key = g.get("api_key")
        log.info(
            "request",
            method=request.method,
            path=request.path,
            status=response.status_code,
            ms=round((time.perf_counter() - g.began) * 1000, 1),
            vendor_id=key.vendor_id if key else None,
            key_id=key.key_id if key else None,
        )
    return response
