"""What came back over HTTP: read up to a bound, then told apart into documents, refusals and failures."""

from __future__ import annotations

import json
from typing import Any

import requests

from adapters.base import BadPayload, Declined, TooLarge, VenueUnavailable
from routing_engine.nesting import TooDeep, refuse_deep

CHUNK_BYTES = 65_536
MEMORY_SHARE = 14
"""How many times the longest body a document may take; a trace of a thousand calls takes thirteen by this count.

A text of nothing but `{"a":[]}` counts for fifty times its length.
"""
_LIST, _OBJECT, _QUOTE, _COMMA, _COLON = 96, 192, 32, 40, 64
"""At most, in bytes of CPython's memory: a list with its first places, an object, half a text, a place and a number,
and what a key takes of its object's table while that grows."""
_NOTHING = 4_096
"""What parsing takes of its own."""
_ESCAPED, _ESCAPED_FAR = 4, 7
"""Copies of a text that are made of its pieces where a character is escaped: of two bytes, or of four."""


def read(response: requests.Response, host: str, most: int) -> bytes:
    """Read a body to its end, or drop the connection as soon as it is longer than `most`.

    Raises
    ------
    BadPayload
        If it is longer.
    """
    parts, length = [], 0
    whole = False
    try:
        announced = response.headers.get("Content-Length", "")
        if announced.isascii() and announced.isdecimal() and int(announced[:20]) > most:
            raise TooLarge(f"{host}: the answer is longer than {most} bytes")
        for part in response.iter_content(CHUNK_BYTES):
            length += len(part)
            if length > most:
                raise TooLarge(f"{host}: the answer is longer than {most} bytes")
            parts.append(part)
        whole = True
    finally:
        if not whole:
            response.raw.close()  # what is left is not worth reading, so the connection cannot be used again
        response.close()
    return b"".join(parts)


def read_document(host: str, status: int, retry_after: str | None, body: bytes, most: int) -> Any:
    """Return the JSON of a good answer, and tell passing failures from refusals.

    Parameters
    ----------
    most : int
        Of the bytes of memory that the document may take.

    Raises
    ------
    VenueUnavailable
        If the status tells of overload or a breakdown.
    Declined
        If it tells of anything else than success.
    BadPayload
        If a good answer is not JSON, or takes too much memory.
    """
    if status == 429 or status >= 500:
        raise VenueUnavailable(f"{host}: answered with status {status}", retry_after_s=_read_seconds(retry_after))
    if 200 <= status < 300:
        if estimate_memory(body) > most:
            raise TooLarge(f"{host}: the answer would take more than {most} bytes of memory")
        try:
            return parse(body)
        except TooDeep as error:
            raise TooLarge(f"{host}: the answer is {error}") from error
        except (ValueError, RecursionError) as error:
            raise BadPayload(f"{host}: the answer is not JSON: {error}") from error
    try:
        refusal = parse(body)
    except (ValueError, RecursionError):
        refusal = None
    raise Declined(f"{host}: declined with status {status}", status=status, body=refusal)


def parse(body: bytes) -> Any:
    """Return the document of a JSON text.

    Raises
    ------
    TooDeep
        If it is nested beyond any use; see `routing_engine.nesting`.
    ValueError
        If it is not JSON.
    """
    refuse_deep(body)
    return json.loads(body, parse_constant=_refuse_number)


def estimate_memory(body: bytes) -> int:
    """Return at most how many bytes of memory a JSON text takes when it is parsed, by what it is made of.

    What stands within strings counts too. The text itself is decoded, to four bytes a character if one needs as many,
    and its strings are copied out of it. A single escaped character makes its string as wide.
    """
    costs = {b"[": _LIST, b"{": _OBJECT, b'"': _QUOTE, b",": _COMMA, b":": _COLON}
    parts = sum(cost * body.count(sign) for sign, cost in costs.items())
    signs = body.replace(b"\0", b"") if b"\0" in body else body  # of UTF-16 and UTF-32
    is_far = b"\\ud" in signs or b"\\uD" in signs
    copies = 2 * (1 if body.isascii() else 4) + (_ESCAPED_FAR if is_far else _ESCAPED if b"\\u" in signs else 0)
    return _NOTHING + parts + copies * len(body)


def _refuse_number(name: str) -> float:
    raise ValueError(f"{name} is not a JSON number")


def _read_seconds(retry_after: str | None) -> float | None:
    """Read a Retry-After in seconds; a date would need the host's clock to be right, so it counts as none."""
    text = (retry_after or "").strip()
    return float(text) if text.isascii() and text.isdecimal() and len(text) <= 9 else None


def describe(failure: Exception) -> str:
    """Name a failure without the library's inner texts, which repeat the URL."""
    if isinstance(failure, requests.exceptions.SSLError):
        return "the TLS handshake failed"
    if isinstance(failure, requests.exceptions.ConnectTimeout):
        return "the connection was not accepted in time"
    if isinstance(failure, requests.exceptions.Timeout):
        return "no answer in time"
    if isinstance(failure, requests.exceptions.ContentDecodingError):
        return "the answer's compression is damaged"
    return f"the connection failed ({type(failure).__name__})"
