"""What scripts of other sites may ask: routes, quotes and tokens, without a key.

Answers to them are the same for everybody, also where they speak of a wallet, so any site may read them. No credentials
go along: a browser asks first (preflight) whether it may send `X-Api-Key`, and it may not. A vendor's addresses answer
no script of another site.
"""

from __future__ import annotations

from flask import Flask, Response, current_app, request

from api.web.security import find_caller_key, read_admission

ANY = "*"
SENT = "Content-Type, If-None-Match, X-Request-Id"
EXPOSED = "RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After, X-Request-Id, ETag, Deprecation, Sunset"
KEPT_S = 7200
"""How long a browser may keep the answer to its question; none keeps it longer."""


def install(app: Flask) -> None:
    """Answer questions of browsers before anything is counted, and let other sites read what is public."""
    app.before_request(answer_preflight)
    app.after_request(allow_reading)


def answer_preflight() -> Response | None:
    """Answer a browser that asks whether it may send a request; None for everything else."""
    if request.method != "OPTIONS" or "Access-Control-Request-Method" not in request.headers or not _is_public():
        return None
    response = current_app.make_default_options_response()
    response.headers["Access-Control-Allow-Methods"] = response.headers["Allow"]
    response.headers["Access-Control-Allow-Headers"] = SENT
    response.headers["Access-Control-Max-Age"] = str(KEPT_S)
    return response


def allow_reading(response: Response) -> Response:
    """Let scripts of any site read an answer that needs no key, also where it is a refusal."""
    if _is_public():
        response.headers["Access-Control-Allow-Origin"] = ANY
        response.headers["Access-Control-Expose-Headers"] = EXPOSED
    return response


def _is_public() -> bool:
    view = current_app.view_functions.get(request.endpoint or "")
    return view is not None and read_admission(view) is find_caller_key
