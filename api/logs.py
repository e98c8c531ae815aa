"""JSON lines on standard error, each with the request's id and without any secret."""

from __future__ import annotations

import json
import logging
import logging.config
import math
import re
import secrets
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, TextIO

import structlog
from flask import Flask, Response, g, request
from structlog.typing import EventDict, WrappedLogger

from api.storage.fault_names import find_section

REQUEST_ID_HEADER = "X-Request-Id"
REDACTED = "[redacted]"

_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,128}", re.ASCII)
_SECRET_NAME = re.compile(r"api[-_]?key$|secret|authorization|password|cookie|webhook-signature", re.IGNORECASE)
_SECRET_TEXT = re.compile(r"(sk_(?:test|live)_|whsec_)[A-Za-z0-9+/=_-]+|(?<=://)[^/@\s]+(?=@)")

FOLD_S = 60.0
"""For how long the same warning is counted instead of written."""
MOST_FOLDED = 500
"""Different warnings that are remembered."""

CHAIN_REMEDY = "`checkout doctor` asks each endpoint; runbook.md, A chain is not read"
DATABASE_REMEDY = "`checkout doctor` says what is wrong with it; runbook.md, {}"

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
            "handlers": {"stderr": {"()": FoldingHandler, "formatter": "json"}},
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


class FoldingHandler(logging.StreamHandler[TextIO]):
    """Writes a warning at once, and counts the same one for a minute: then it is written again with `repeated`.

    A database that is away has every duty of a worker say so several times a second. Whose request it was is no part of
    what makes two lines the same; below a warning each line is written. `logging` has one thread emit at a time.

    Parameters
    ----------
    stream : file
        Where to; standard error without it.
    stopwatch : callable
        Monotonic seconds.
    """

    def __init__(self, stream: TextIO | None = None, stopwatch: Callable[[], float] = time.monotonic) -> None:
        super().__init__(stream)
        self._stopwatch = stopwatch
        self._folded: dict[str, _Folded] = {}

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line or count it, and write what has been counted for long enough."""
        now = self._stopwatch()
        self._write_counted(now - FOLD_S)
        if record.levelno >= logging.WARNING:
            key = _find_sameness(record)
            known = self._folded.get(key)
            if known is not None:
                known.last, known.count = record, known.count + 1
                return
            if len(self._folded) < MOST_FOLDED:
                self._folded[key] = _Folded(since=now)
        super().emit(record)

    def close(self) -> None:
        """Write what has been counted, and end."""
        with self.lock or nullcontext():
            self._write_counted(math.inf)
        super().close()

    def _write_counted(self, since: float) -> None:
        """Write the last of each warning that was written first at `since` or before."""
        for key in [key for key, each in self._folded.items() if each.since <= since]:
            folded = self._folded.pop(key)
            if folded.last is not None:
                folded.last.repeated = folded.count
                super().emit(folded.last)


@dataclass(slots=True, kw_only=True)
class _Folded:
    """A warning that was written, how often it came again since, and the last of these."""

    since: float
    count: int = 0
    last: logging.LogRecord | None = None


def _find_sameness(record: logging.LogRecord) -> str:
    """Return what two lines have in common that say the same."""
    said = record.msg
    if not isinstance(said, dict):
        said = {"event": record.getMessage(), "exception": record.exc_info and record.exc_info[1]}
    told = sorted((name, repr(value)) for name, value in said.items() if name != "request_id")
    return repr((record.name, record.levelno, told))


class JsonLines(logging.Formatter):
    """Writes each line, of the service and of libraries, as one JSON object with its properties in order."""

    def format(self, record: logging.LogRecord) -> str:
        """Write a line."""
        event = record.msg if isinstance(record.msg, dict) else self._describe(record)
        if (remedy := find_remedy(event)) is not None:
            event["remedy"] = remedy
        if (repeated := getattr(record, "repeated", 0)) > 0:
            event["repeated"] = repeated
        event["level"], event["logger"] = record.levelname.lower(), record.name
        event["timestamp"] = datetime.fromtimestamp(record.created, UTC).isoformat().replace("+00:00", "Z")
        return _ENCODER.encode(redact(event))

    def _describe(self, record: logging.LogRecord) -> dict[str, Any]:
        """Return what a library says, with the request that it says it in."""
        event = {**structlog.contextvars.get_contextvars(), "event": record.getMessage()}
        if record.exc_info:
            event["exception"] = self.formatException(record.exc_info)
        return event


def find_remedy(event: Mapping[str, Any]) -> str | None:
    """Return what to do about an event that several places write."""
    match event.get("event"):
        case "chain_unavailable":
            return CHAIN_REMEDY
        case "database_unavailable" | "leases_unavailable":
            return DATABASE_REMEDY.format(find_section(str(event.get("kind"))))
    return None


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
