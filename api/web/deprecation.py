"""Operations that will end: v1 takes nothing away before its callers were told for half a year.

None does yet. A view that will is decorated below its `blueprint.get` or `blueprint.post`::

    @ending(announced=datetime(2030, 1, 1, tzinfo=UTC), ends=datetime(2030, 7, 1, tzinfo=UTC))
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import wraps
from typing import ParamSpec, TypeVar

from flask import Flask, Response, current_app, request
from werkzeug.http import http_date

LEAST_NOTICE = timedelta(days=180)
ENDING = "ending"
"""Attribute of a view whose operation will end."""

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """When the end of an operation was announced, and when it comes.

    Raises
    ------
    ValueError
        If callers would have less than `LEAST_NOTICE`.
    """

    announced: datetime
    ends: datetime

    def __post_init__(self) -> None:
        if self.ends - self.announced < LEAST_NOTICE:
            raise ValueError(f"ends: Callers have {LEAST_NOTICE.days} days at least; choose a later moment")


def ending(*, announced: datetime, ends: datetime) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Tell of an operation's end in each of its answers and in the OpenAPI document."""
    known = Ending(announced=announced, ends=ends)

    def decorate(view: Callable[P, R]) -> Callable[P, R]:
        @wraps(view)
        def told(*args: P.args, **kwargs: P.kwargs) -> R:
            return view(*args, **kwargs)

        # flask-smorest keeps what it will write into the OpenAPI document in this attribute.
        described = deepcopy(getattr(view, "_apidoc", {}))
        described.setdefault("manual_doc", {})["deprecated"] = True
        told.__dict__.update({"_apidoc": described, ENDING: known})
        return told

    return decorate


def install(app: Flask) -> None:
    """Tell callers, also those who are refused."""
    app.after_request(_tell_end)


def _tell_end(response: Response) -> Response:
    """Add `Deprecation` (RFC 9745) and `Sunset` (RFC 8594) where the operation will end."""
    view = current_app.view_functions.get(request.endpoint or "")
    known = getattr(view, ENDING, None)
    if isinstance(known, Ending):
        response.headers["Deprecation"] = f"@{int(known.announced.timestamp())}"
        response.headers["Sunset"] = http_date(known.ends)
    return response
