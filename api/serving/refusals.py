"""The error body of the service where no application is asked: below it nothing of a request may be known."""

from __future__ import annotations

import json
from http import HTTPStatus

from api.bodies.errors import build_envelope
from api.logs import REQUEST_ID_HEADER, choose_request_id

Headers = tuple[tuple[bytes, bytes], ...]


def write_refusal(status: int, message: str, given_id: str = "") -> tuple[Headers, bytes]:
    """Return the headers and the body that refuse a request.

    Parameters
    ----------
    given_id : str
        What the caller calls its request.
    """
    body = json.dumps(build_envelope(status, message)).encode()
    headers = (
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        (REQUEST_ID_HEADER.lower().encode(), choose_request_id(given_id).encode()),
    )
    return headers, body


def write_whole_refusal(status: int, message: str) -> bytes:
    """Return an answer of HTTP/1.1 as it is sent, after which the connection ends."""
    headers, body = write_refusal(status, message)
    head = (b"%s: %s\r\n" % header for header in (*headers, (b"connection", b"close")))
    return b"HTTP/1.1 %d %s\r\n%s\r\n%s" % (status, HTTPStatus(status).phrase.encode(), b"".join(head), body)
