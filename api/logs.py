"""JSON lines on standard error, each with the request's id and without any secret."""

from __future__ import annotations

import logging
import logging.config
import re
import secrets
import time
from collections.abc import Mapping
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

log = structlog.get_logger(__name__)


def configure_logging(level: str) -> None:
    """Send this process's log, also that of libraries, to standard error."""
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    formatter = {
        "()": structlog.stdlib.ProcessorFormatter,
        "foreign_pre_chain": shared,
        "processors": [
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            redact,
            structlog.processors.JSONRenderer(sort_keys=True),
        ],
    }
    logging.config.dictConfig(
        {
            "version": 1,
            "disable_existing_loggers": False,
            "formatters": {"json": formatter},
            "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json"}},
            "root": {"handlers": ["stderr"], "level": level},
            # uvicorn would write every request a second time; urllib3 writes the addresses of webhooks.
            "loggers": {
                "uvicorn.access": {"level": "WARNING"},
                "apscheduler": {"level": "WARNING"},
                # Warns of each run that is left out because the one before goes on; the worker says what is stuck.
                "apscheduler.scheduler": {"level": "ERROR"},
                "urllib3": {"level": "ERROR"},
            },
        }
    )


def redact(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
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
        )
    return response
