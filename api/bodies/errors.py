"""The one error body of the service, whatever went wrong."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any

import structlog
from flask import Flask, Response, json
from sqlalchemy.exc import InterfaceError, InternalError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from werkzeug.exceptions import HTTPException

from api.domain import errors as domain
from api.domain.errors import Problem, RequestRefused
from api.storage.fault_names import name_fault

STATUS: Mapping[type[RequestRefused], HTTPStatus] = {
    domain.InvalidData: HTTPStatus.BAD_REQUEST,
    domain.Unauthenticated: HTTPStatus.UNAUTHORIZED,
    domain.Forbidden: HTTPStatus.FORBIDDEN,
    domain.NotFound: HTTPStatus.NOT_FOUND,
    domain.Gone: HTTPStatus.GONE,
    domain.Conflict: HTTPStatus.CONFLICT,
    domain.UnsupportedMedia: HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
    domain.TooManyRequests: HTTPStatus.TOO_MANY_REQUESTS,
    domain.Unprocessable: HTTPStatus.UNPROCESSABLE_ENTITY,
    domain.ServiceUnavailable: HTTPStatus.SERVICE_UNAVAILABLE,
}

MESSAGES: Mapping[int, str] = {
    400: "Invalid request data",
    404: "There is nothing at this address; /docs has all that there is",
    405: "This address does not take this method; see the Allow header",
    413: "The request body is larger than 64 kB",
    429: "Too many requests; wait as long as the Retry-After header says",
    500: "Something went wrong on our side; give the X-Request-Id when you report it",
}

DATABASE_DOWN = (OperationalError, InterfaceError, PoolTimeout)
DATABASE_RETRY_S = 2
NOT_OURS = frozenset({"25006", "25P03"})
"""PostgreSQL's words for what it counts as errors of whoever asks and are none of ours: it became read-only, as a
standby is after a fail-over, or this process hung within a transaction until it was ended."""

log = structlog.get_logger(__name__)


def build_envelope(status: int, message: str, problems: Iterable[Problem] = ()) -> dict[str, Any]:
    """Build the error body: the same over HTTP and on the stream."""
    rows = [{"path": problem.path, "message": problem.message} for problem in problems]
    return {"message": message, "code": str(int(status)), "error": rows}


def build_refusal_envelope(error: RequestRefused) -> dict[str, Any]:
    """Build the error body of a refusal."""
    status = next(STATUS[kind] for kind in type(error).__mro__ if kind in STATUS)
    return build_envelope(status, error.message, error.problems)


def register_error_handlers(app: Flask) -> None:
    """Answer every failure of `app` with the error body."""
    app.register_error_handler(RequestRefused, _answer_refused)
    app.register_error_handler(HTTPException, answer_http_error)
    for kind in DATABASE_DOWN:
        app.register_error_handler(kind, _answer_database_down)
    app.register_error_handler(InternalError, _answer_internal_error)


def answer_http_error(error: HTTPException) -> Response:
    """Put the error body into a response of the web framework; its headers, such as Allow, stay."""
    status = error.code or 500
    headers = {name: value for name, value in error.get_headers() if name.lower() not in {"content-type"}}
    return _answer(
        build_envelope(status, MESSAGES.get(status) or HTTPStatus(status).description or error.name), headers
    )


def _answer_refused(error: RequestRefused) -> Response:
    retry = {} if error.retry_after_s is None else {"Retry-After": str(error.retry_after_s)}
    return _answer(build_refusal_envelope(error), retry)


def _answer_database_down(error: Exception) -> Response:
    # The text of the driver's error may quote the statement's values.
    log.warning("database_unavailable", kind=name_fault(error))
    message = "The database does not answer at the moment; send the request again"
    return _answer_refused(domain.ServiceUnavailable(message, retry_after_s=DATABASE_RETRY_S))


def _answer_internal_error(error: InternalError) -> Response:
    if getattr(error.orig, "sqlstate", None) in NOT_OURS:
        return _answer_database_down(error)
    raise error


def _answer(body: Mapping[str, Any], headers: Mapping[str, str]) -> Response:
    response = Response(json.dumps(body), int(body["code"]), mimetype="application/json")
    response.headers.update(headers)
    return response
