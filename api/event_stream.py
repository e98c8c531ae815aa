"""Server-sent events: messages that leave one by one, while the next is being worked out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import structlog
from flask import Response

from api.domain.errors import Refused
from api.errors import MESSAGES, envelope, refusal_envelope

CONTENT_TYPE = "text/event-stream"
END = "\n\n"
DATA = "data: "
# Proxies that collect an answer before they pass it on would undo the streaming.
UNBUFFERED = {"X-Accel-Buffering": "no"}

log = structlog.get_logger(__name__)


def event_stream(messages: Iterator[Mapping[str, Any]]) -> Response:
    """Answer with one event for each message; what goes wrong on the way becomes the last one."""
    return Response(_events(messages), mimetype=CONTENT_TYPE, headers=UNBUFFERED)


def error_message(body: Mapping[str, Any]) -> dict[str, Any]:
    """Turn an error body into the stream's last message."""
    return {"type": "error", **body}


def encode(message: Mapping[str, Any]) -> str:
    """Write a message as one line of JSON."""
    return json.dumps(message, separators=(",", ":"))


def _events(messages: Iterator[Mapping[str, Any]]) -> Iterator[str]:
    for message in _guarded(messages):
        yield f"{DATA}{encode(message)}{END}"


def _guarded(messages: Iterator[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    try:
        yield from messages
    except Refused as error:
        yield error_message(refusal_envelope(error))
    except Exception:  # the application's own last handler is out of reach once an answer has begun
        log.exception("stream_failed")
        yield error_message(envelope(500, MESSAGES[500]))
