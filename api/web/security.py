"""Who is calling, and the headers that keep browsers strict."""

from __future__ import annotations

import re
from collections.abc import Callable
from copy import deepcopy
from functools import wraps
from http import HTTPStatus
from typing import ParamSpec, TypeVar
from urllib.parse import unquote_plus, unquote_to_bytes

from flask import Flask, Response, current_app, g, request

from api.context import get_resources
from api.domain.env import EnvMode
from api.domain.errors import InvalidData, NotFound, Problem, Unauthenticated
from api.domain.scopes import Scope
from api.services.vendors.api_keys import KEY_HEADER, ApiKey, explain_refusal, find_key
from api.services.vendors.key_uses import KeyUses

CSP = "default-src 'none'; frame-ancestors 'none'"
DOCUMENT_CSP = f"{CSP}; base-uri 'none'; form-action 'none'"
"""Only a document has links and forms."""
_DOCUMENTS = frozenset({"text/html", "image/svg+xml"})
_ALWAYS = (
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
)
_OF_PAGES = (
    ("Permissions-Policy", "camera=(), geolocation=(), microphone=()"),
    ("Cross-Origin-Opener-Policy", "same-origin-allow-popups"),
)
"""Only a document has features, and windows that it opens."""
ADMIT = "admit"
"""Attribute of a view: what refuses a call before anything else of it is looked at."""
SCOPE = "scope"
"""Attribute of a view that takes a key: the scope that it needs, or None where any key or no key will do."""
USES = "key_uses"
OTHER_HEADER = "Authorization"
"""Where other services look for a key, and this one does not."""
API_PREFIXES = ("/api/", "/v1/")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")

P = ParamSpec("P")
R = TypeVar("R")


def identify_caller() -> None:
    """Look up the request's API key, before the rate limits, which count by it."""
    _refuse_unstorable_address()
    g.api_key = None
    text = _read_key()
    if text and request.path.startswith(API_PREFIXES):
        resources = get_resources()
        now = resources.clock.now()
        with resources.database.look() as connection:
            g.api_key = key = find_key(connection, text, now)
        if key is not None:
            current_app.extensions[USES].note(resources.database, key.key_id, now)


def refuse_wrong_key() -> None:
    """Refuse a key that is not valid, also where none is needed; after the rate limits, which slow guessing down."""
    text = _read_key()
    if not text or not request.path.startswith(API_PREFIXES) or find_caller_key() is not None:
        return
    with get_resources().database.read() as session:
        message = explain_refusal(session, text, get_resources().clock.now())
    raise Unauthenticated("The API key is not valid", Problem(path=KEY_HEADER, message=message))


def _read_key() -> str:
    """Return the key that was sent, without the blanks and tabs around a header's value, which are no part of it."""
    return request.headers.get(KEY_HEADER, "").strip(" \t")


def find_caller_key() -> ApiKey | None:
    """Return the caller's key, or None for a call without one."""
    key = g.get("api_key")
    return key if isinstance(key, ApiKey) else None


def find_owner() -> tuple[str, EnvMode] | None:
    """Return whose the caller's things are, the vendor and the key's environment, or None for a call without a key."""
    key = find_caller_key()
    return None if key is None else (key.vendor_id, key.env_mode)


def get_caller_key() -> ApiKey:
    """Return the caller's key.

    Raises
    ------
    Unauthenticated
        If the call has none.
    """
    key = find_caller_key()
    if key is None:
        problems = [Problem(path=KEY_HEADER, message="Required")]
        if OTHER_HEADER in request.headers:
            problems.append(Problem(path=OTHER_HEADER, message=f"Is not read here; send the key alone as {KEY_HEADER}"))
        raise Unauthenticated("This address needs an API key", *problems)
    return key


def key_required(scope: Scope | None) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Refuse calls of a view without a key that has `scope`, before their body is looked at.

    Parameters
    ----------
    scope : Scope or None
        None where any valid key will do.
    """

    def admit() -> None:
        key = get_caller_key()
        if scope is not None:
            key.require_scope(scope)

    def guard(view: Callable[P, R]) -> Callable[P, R]:
        return _guard_view(view, [{"ApiKey": [] if scope is None else [str(scope)]}], admit, scope)

    return guard


def key_optional(view: Callable[P, R]) -> Callable[P, R]:
    """Describe `view` as usable with any key, at a higher rate limit, or without; it asks `find_caller_key()`."""
    return _guard_view(view, [{"ApiKey": []}, {}], find_caller_key, None)


def read_admission(view: Callable[..., object]) -> Callable[[], object] | None:
    """Return what a view asks of its callers: `find_caller_key`, a check of a key, or None where nobody said."""
    admission: Callable[[], object] | None = getattr(view, ADMIT, None)
    return admission


def needs_key(view: Callable[..., object]) -> bool:
    """Return whether a view refuses callers without a key."""
    return read_admission(view) not in (None, find_caller_key)


def set_secure_headers(response: Response) -> Response:
    """Add the headers that forbid a browser everything that an answer did not ask for."""
    status, kind = response.status_code, response.mimetype
    wanted = [("Content-Security-Policy", DOCUMENT_CSP if kind in _DOCUMENTS else CSP), *_ALWAYS]
    if kind == "text/html":
        wanted += _OF_PAGES
    is_lasting = status < HTTPStatus.MULTIPLE_CHOICES or status == HTTPStatus.NOT_MODIFIED
    if not is_lasting or request.path.startswith(API_PREFIXES):
        wanted.append(("Cache-Control", "no-store"))
    if get_resources().config.base_url.startswith("https://"):
        wanted.append(("Strict-Transport-Security", "max-age=31536000; includeSubDomains"))
    given = {name.lower() for name, _ in response.headers}
    for name, value in wanted:
        if name.lower() not in given:
            response.headers.add(name, value)
    return response


def install(app: Flask, limits: Callable[[Flask], None]) -> None:
    """Identify, count, refuse: in this order, before every request."""
    app.extensions[USES] = KeyUses()
    app.before_request(identify_caller)
    limits(app)
    app.before_request(refuse_wrong_key)
    app.after_request(set_secure_headers)


def _guard_view(
    view: Callable[P, R], security: list[dict[str, list[str]]], check: Callable[[], object], scope: Scope | None
) -> Callable[P, R]:
    @wraps(view)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
        check()
        return view(*args, **kwargs)

    # flask-smorest keeps what it will write into the OpenAPI document in this attribute.
    described = deepcopy(getattr(view, "_apidoc", {}))
    described.setdefault("manual_doc", {})["security"] = security
    guarded.__dict__.update({"_apidoc": described, ADMIT: check, SCOPE: scope})
    return guarded


def _refuse_unstorable_address() -> None:
    """Refuse NUL in the path or the query, which PostgreSQL would fail on, and in the API's queries what is no text."""
    if _UNSTORABLE.search(request.path):
        raise NotFound("There is nothing at this address")
    if b"%" in request.query_string and request.path.startswith(API_PREFIXES):
        _refuse_undecodable(request.query_string)
    for name, values in request.args.lists():
        if any(_UNSTORABLE.search(text) for text in (name, *values)):
            raise InvalidData.at(name.replace("\x00", ""), "Text must not contain NUL or a lone surrogate")


def _refuse_undecodable(query: bytes) -> None:
    """Refuse bytes that are no UTF-8, whose percent signs werkzeug takes for text: nobody would find by that."""
    for part in query.split(b"&"):
        try:
            unquote_to_bytes(part).decode()
        except UnicodeDecodeError:
            name = unquote_plus(part.partition(b"=")[0].decode("ascii"))
            raise InvalidData.at(name, "Text must be UTF-8 before it is percent-encoded") from None
