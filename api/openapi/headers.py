"""Headers of answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def _describe(description: str, kind: str, example: object) -> dict[str, Any]:
    return {"description": description, "schema": {"type": kind, "example": example}}


HEADERS: Mapping[str, Mapping[str, Any]] = {
    "X-Request-Id": _describe("Id of this request; give it when you report a problem", "string", "7f3b9c1e4d5a4e0f"),
    "RateLimit-Limit": _describe("Requests a minute, of the limit that is nearest", "integer", 300),
    "RateLimit-Remaining": _describe("How many of them are left", "integer", 299),
    "RateLimit-Reset": _describe("Seconds until all of them are there again", "integer", 60),
    "Retry-After": _describe("Seconds to wait before the request is sent again", "integer", 2),
    "ETag": _describe("Tag of this content; send it as `If-None-Match`", "string", 'W/"6f2d"'),
}
EVERYWHERE = ("X-Request-Id", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset")
WAITS = frozenset({"409", "429", "503"})
"""Statuses that may say how long to wait."""
IF_NONE_MATCH: Mapping[str, Any] = {
    "in": "header",
    "name": "If-None-Match",
    "description": "The `ETag` of an earlier answer; the answer is 304 without a body while it holds",
    "schema": {"type": "string", "example": 'W/"6f2d"'},
}


def refer_to_headers(status: str, more: Iterable[str] = ()) -> dict[str, dict[str, str]]:
    """Return references to the headers of an answer."""
    names = [*EVERYWHERE, *(["Retry-After"] if status in WAITS else []), *more]
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}
