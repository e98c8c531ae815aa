"""Blueprints of the API: arguments that are checked, answers that are described.

This module is the one that knows flask-smorest and webargs; both come without types.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, NoReturn, Protocol, TypeVar, cast

import flask
import flask_smorest
from flask import Response
from marshmallow import Schema, ValidationError, fields
from webargs.flaskparser import FlaskParser
from webargs.multidictproxy import MultiDictProxy
from werkzeug.exceptions import HTTPException, RequestEntityTooLarge

from api.blueprints.repeats import RepeatHeaders, answer_once
from api.domain.errors import InvalidData, Problem, UnsupportedMedia
from api.errors import answer_http_error
from api.request_body import GIVEN_TWICE, MAX_BODY_BYTES, parse_object
from api.schemas import AmountField, ChainIdField, problems_of, refuse_unknown
from api.security import ADMIT, get_caller_key
from routing_engine import __version__

View = TypeVar("View", bound=Callable[..., Any])


class Decorator(Protocol):
    """Returns a view of the same type."""

    def __call__(self, view: View, /) -> View:
        """Decorate `view`."""
        ...


OPENAPI = {
    "API_TITLE": "Checkout Payments Service",
    "API_VERSION": __version__,
    "OPENAPI_VERSION": "3.0.3",
    "OPENAPI_URL_PREFIX": "/",
    "OPENAPI_JSON_PATH": "openapi.json",
    "API_SPEC_OPTIONS": {
        "info": {"description": "Payment links, payment orders, cross-chain routes, quotes and webhooks."},
        "components": {
            "securitySchemes": {"ApiKey": {"type": "apiKey", "in": "header", "name": "X-Api-Key"}},
        },
    },
}


class ProblemSchema(Schema):
    """One property of a request and what is wrong with it."""

    path = fields.String(required=True, metadata={"description": "Dotted path; empty for the request as a whole"})
    message = fields.String(required=True)


class ErrorSchema(Schema):
    """Body of every answer of 400 and above."""

    message = fields.String(required=True)
    code = fields.String(required=True, metadata={"description": "HTTP status", "example": "400"})
    error = fields.List(fields.Nested(ProblemSchema), required=True)


class Parser(FlaskParser):
    """Reads arguments and refuses them in the service's own words."""

    DEFAULT_VALIDATION_STATUS = 400

    def load_json(self, req: flask.Request, schema: Schema) -> Any:
        """Parse the body; an empty one counts as an empty object."""
        return read_json(req)

    def load_querystring(self, req: flask.Request, schema: Schema) -> Any:
        """Read the query; a parameter comes twice only where it is a list, or one of the two would be ignored."""
        read = MultiDictProxy(req.args, schema)
        twice = [
            name for name, values in req.args.lists() if len(values) > 1 and name in _names(schema) - read.multiple_keys
        ]
        if twice:
            raise InvalidData(*(Problem(path=name, message=GIVEN_TWICE) for name in twice))
        return read

    def handle_error(self, error: ValidationError, req: flask.Request, schema: Schema, **_: Any) -> NoReturn:
        """Refuse with one problem for each offending property."""
        (by_property,) = cast("dict[str, Any]", error.messages).values()  # webargs wraps them by location
        raise InvalidData(*problems_of(by_property))


def read_json(req: flask.Request) -> dict[str, Any]:
    """Parse the body; an empty one counts as an empty object.

    Raises
    ------
    Refused
        If it is no JSON object, or not said to be JSON.
    RequestEntityTooLarge
        If it is longer than it may be.
    """
    raw = req.get_data(cache=True)
    if req.content_length is None and len(raw) >= MAX_BODY_BYTES:
        raise RequestEntityTooLarge  # werkzeug cuts a body of undeclared length off at the limit
    if raw.strip() and not req.is_json:
        raise UnsupportedMedia("The body must be JSON, sent with Content-Type: application/json")
    return parse_object(raw)


class Blueprint(flask_smorest.Blueprint):
    """A resource whose views declare what they take and give; what they do not declare is refused."""

    ARGUMENTS_PARSER = Parser(unknown=None)

    def get(self, rule: str, **options: Any) -> Decorator:
        """Serve GET at `rule`."""
        return self._serve("GET", rule, options)

    def post(self, rule: str, **options: Any) -> Decorator:
        """Serve POST at `rule`."""
        return self._serve("POST", rule, options)

    def patch(self, rule: str, **options: Any) -> Decorator:
        """Serve PATCH at `rule`."""
        return self._serve("PATCH", rule, options)

    def delete(self, rule: str, **options: Any) -> Decorator:
        """Serve DELETE at `rule`."""
        return self._serve("DELETE", rule, options)

    def body(self, schema: type[Schema] | Schema, **options: Any) -> Decorator:
        """Pass the checked JSON body to the view as its next positional argument."""
        return cast(Decorator, super().arguments(schema, location="json", **options))

    def query(self, schema: type[Schema] | Schema, **options: Any) -> Decorator:
        """Pass the checked query parameters to the view as its next positional argument."""
        return cast(Decorator, super().arguments(schema, location="query", **options))

    def answer(self, schema: type[Schema] | Schema, status: int = 200, **options: Any) -> Decorator:
        """Write what the view returns with `schema`, which the OpenAPI document shows."""
        return cast(Decorator, super().response(status, schema, **options))

    def refusal(self, status: int, description: str) -> Decorator:
        """Describe an answer with the error body in the OpenAPI document."""
        return cast(Decorator, super().alt_response(status, schema=ErrorSchema, description=description))

    def note(self, status: int, description: str) -> Decorator:
        """Describe an answer without a body in the OpenAPI document."""
        return cast(Decorator, super().alt_response(status, description=description))

    def _make_repeatable(self, view: View) -> View:
        """Answer repetitions of a request alike, and say so in the OpenAPI document."""
        described = self.refusal(409, "A request with this Idempotency-Key is still being carried out")(
            self.refusal(422, "The Idempotency-Key came with another request")(answer_once(view))
        )
        arguments = described.__dict__["_apidoc"].setdefault("arguments", {})
        arguments.setdefault("parameters", []).append({"in": "header", "required": False, "schema": RepeatHeaders})
        return cast(View, described)

    def _serve(self, method: str, rule: str, options: Mapping[str, Any]) -> Decorator:
        def serve(view: View) -> View:
            strict = _refuse_undeclared(view)
            if method == "POST" and getattr(view, ADMIT, None) is get_caller_key:  # who needs a key changes something
                strict = self._make_repeatable(strict)
            return cast(View, self.route(rule, methods=[method], **options)(strict))

        return serve


def _refuse_undeclared(view: View) -> View:
    """Refuse query parameters, or a body, where `view` declares none; a caller who lacks a key is told that first."""
    declared = {each["in"] for each in getattr(view, "_apidoc", {}).get("arguments", {}).get("parameters", ())}
    admit: Callable[[], object] | None = getattr(view, ADMIT, None)

    @wraps(view)
    def strict(*args: Any, **kwargs: Any) -> Any:
        if admit is not None:
            admit()
        if "query" not in declared:
            refuse_unknown(flask.request.args)
        if "json" not in declared:
            refuse_unknown(read_json(flask.request))
        return view(*args, **kwargs)

    return cast(View, strict)


def _names(schema: Schema) -> set[str]:
    return {field.data_key or name for name, field in schema.load_fields.items()}


class Api(flask_smorest.Api):
    """The OpenAPI document, with the service's error body in it."""

    ERROR_SCHEMA = ErrorSchema

    def __init__(self, app: flask.Flask) -> None:
        super().__init__()
        self.register_field(AmountField, "string", None)
        self.register_field(ChainIdField, "string", None)
        self.init_app(app)

    def handle_http_exception(self, error: HTTPException) -> Response:
        """Answer with the service's error body."""
        return answer_http_error(error)
