"""Server-sent events: messages that leave one by one, while the next is being worked out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import structlog
from flask import Response

from api.bodies.errors import MESSAGES, build_envelope, build_refusal_envelope
from api.domain.errors import RequestRefused

CONTENT_TYPE = "text/event-stream"
END = "\n\n"
DATA = "data: "
ID = "id: "
RETRY = "retry: 2000"
# Proxies that collect an answer before they pass it on would undo the streaming.
UNBUFFERED = {"X-Accel-Buffering": "no"}

log = structlog.get_logger(__name__)


def stream_events(messages: Iterator[Mapping[str, Any]]) -> Response:
    """Answer with one event for each message; what goes wrong on the way becomes the last one."""
    return Response(_write_events(messages), mimetype=CONTENT_TYPE, headers=UNBUFFERED)


def begin_news(version: str, known: str | None) -> Response:
    """Begin the stream of an order's news, which the event loop goes on with; see `api.serving.order_stream`.

    Parameters
    ----------
    version : str
        The order's present version.
    known : str or None
        What a browser that resumes a stream was told last: the same is no news.
    """
    text = f"{RETRY}{END}" + (f"{ID}{version}{END}" if version == known else encode_news(version))
    return Response(text, mimetype=CONTENT_TYPE, headers=UNBUFFERED)


def encode_news(version: str) -> str:
    """Write the event that says that an order has changed."""
    return f"{ID}{version}\n{DATA}news{END}"


def read_news_version(text: bytes) -> str:
    """Return the version that a stream began with."""
    return next(line for line in text.decode().splitlines() if line.startswith(ID)).removeprefix(ID)


def is_done(event: str) -> bool:
    """Return whether an event of a stream of routes is the last one, and says no error."""
    return event.startswith(f'{DATA}{{"type":"done"')


def build_error_message(body: Mapping[str, Any]) -> dict[str, Any]:
    """Turn an error body into the stream's last message."""
    return {"type": "error", **body}


def encode(message: Mapping[str, Any]) -> str:
    """Write a message as one line of JSON."""
    return json.dumps(message, separators=(",", ":"))


def _write_events(messages: Iterator[Mapping[str, Any]]) -> Iterator[str]:
    for message in _guard(messages):
        yield f"{DATA}{encode(message)}{END}"


def _guard(messages: Iterator[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    try:
        yield from messages
    except RequestRefused as error:
        yield build_error_message(build_refusal_envelope(error))
    except Exception:  # the application's own last handler is out of reach once an answer has begun
        log.exception("stream_failed")
        yield build_error_message(build_envelope(500, MESSAGES[500]))
