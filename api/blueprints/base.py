"""Blueprints of the API: arguments that are checked, answers that are described.

This module is the one that knows flask-smorest and webargs; both come without types.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from copy import deepcopy
from functools import partial, wraps
from threading import Lock
from typing import Any, NoReturn, Protocol, TypeVar, cast

import flask
import flask_smorest
from apispec.ext.marshmallow import MarshmallowPlugin
from flask import Response
from marshmallow import Schema, ValidationError
from webargs.flaskparser import FlaskParser
from webargs.multidictproxy import MultiDictProxy
from werkzeug.exceptions import HTTPException, RequestEntityTooLarge

from api.blueprints.repeats import RepeatHeaders, answer_once
from api.bodies.errors import answer_http_error
from api.bodies.request_body import GIVEN_TWICE, MAX_BODY_BYTES, parse_object
from api.context import get_resources
from api.domain.env import EnvMode
from api.domain.errors import InvalidData, Problem, UnsupportedMedia
from api.openapi.converters import describe_shape, describe_style, describe_words, drop_null_default, name_schema
from api.openapi.document import complete
from api.schemas import problems_of, refuse_unknown
from api.schemas.errors import ErrorSchema
from api.schemas.fields.deep_objects import fold_deep_objects, is_within_object
from api.schemas.routing.stream import StreamMessageSchema
from api.schemas.webhooks.events import WebhookBodySchema
from api.web.compression import answer_with_constant
from api.web.security import find_caller_key, needs_key, read_admission

View = TypeVar("View", bound=Callable[..., Any])


class Decorator(Protocol):
    """Returns a view of the same type."""

    def __call__(self, view: View, /) -> View:
        """Decorate `view`."""
        ...


class Parser(FlaskParser):
    """Reads arguments and refuses them in the service's own words."""

    DEFAULT_VALIDATION_STATUS = 400

    def load_json(self, req: flask.Request, schema: Schema) -> Any:
        """Parse the body; an empty one counts as an empty object."""
        return read_json(req)

    def load_querystring(self, req: flask.Request, schema: Schema) -> Any:
        """Read the query; a parameter comes twice only where it is a list, or one of the two would be ignored."""
        read = MultiDictProxy(fold_deep_objects(req.args, schema), schema)
        once = _names(schema) - read.multiple_keys
        twice = [
            name
            for name, values in req.args.lists()
            if len(values) > 1 and (name in once or is_within_object(name, schema))
        ]
        if twice:
            raise InvalidData(*(Problem(path=name, message=GIVEN_TWICE) for name in twice))
        return read

    def handle_error(self, error: ValidationError, req: flask.Request, schema: Schema, **_: Any) -> NoReturn:
        """Refuse with one problem for each offending property; of the other environment, the request as a whole."""
        _require_own_environment(error.valid_data)
        (by_property,) = cast("dict[str, Any]", error.messages).values()  # webargs wraps them by location
        raise InvalidData(*problems_of(by_property))


def _require_own_environment(data: object) -> None:
    """Refuse what is of the other environment than the caller's key, whatever else is wrong: its rules are not these.

    Raises
    ------
    Forbidden
        With the remedy.
    """
    key, env_mode = find_caller_key(), data.get("env_mode") if isinstance(data, Mapping) else None
    if key is not None and env_mode in tuple(EnvMode):
        key.require_env(EnvMode(env_mode))


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
    if not raw:
        return {}
    if req.content_length is None and len(raw) >= MAX_BODY_BYTES:
        raise RequestEntityTooLarge  # werkzeug cuts a body of undeclared length off at the limit
    if raw.strip() and not req.is_json:
        raise UnsupportedMedia("The body must be JSON, sent with Content-Type: application/json")
    return parse_object(raw)


class Blueprint(flask_smorest.Blueprint):
    """A resource whose views declare what they take and give; what they do not declare is refused."""

    ARGUMENTS_PARSER = Parser(unknown=None)

    def get(self, rule: str, *, operation: str) -> Decorator:
        """Serve GET at `rule`; generated clients call it `operation`."""
        return self._serve("GET", rule, operation)

    def post(self, rule: str, *, operation: str) -> Decorator:
        """Serve POST at `rule`; generated clients call it `operation`."""
        return self._serve("POST", rule, operation)

    def patch(self, rule: str, *, operation: str) -> Decorator:
        """Serve PATCH at `rule`; generated clients call it `operation`."""
        return self._serve("PATCH", rule, operation)

    def delete(self, rule: str, *, operation: str) -> Decorator:
        """Serve DELETE at `rule`; generated clients call it `operation`."""
        return self._serve("DELETE", rule, operation)

    def body(self, schema: type[Schema] | Schema, **options: Any) -> Decorator:
        """Pass the checked JSON body to the view as its next positional argument."""
        return cast(Decorator, super().arguments(_prepare(schema), location="json", **options))

    def query(self, schema: type[Schema] | Schema, **options: Any) -> Decorator:
        """Pass the checked query parameters to the view as its next positional argument."""
        return cast(Decorator, super().arguments(_prepare(schema), location="query", **options))

    def answer(self, schema: type[Schema] | Schema | Mapping[str, Any], status: int = 200, **options: Any) -> Decorator:
        """Write what the view returns with `schema`, which the OpenAPI document shows.

        A mapping, which is a schema of OpenAPI, is for views that return a response.
        """
        return cast(Decorator, super().response(status, schema, **options))

    def refusal(self, status: int, description: str) -> Decorator:
        """Describe an answer with the error body in the OpenAPI document."""
        return cast(Decorator, super().alt_response(status, schema=ErrorSchema, description=description))

    def note(self, status: int, description: str) -> Decorator:
        """Describe an answer without a body in the OpenAPI document."""
        return cast(Decorator, super().alt_response(status, description=description))

    def register_views_in_doc(self, api: Api, *args: Any, **options: Any) -> None:
        """Have the views described with the document, which few processes are asked for."""
        api.describe_later(partial(super().register_views_in_doc, api, *args, **options))

    def _serve(self, method: str, rule: str, operation: str) -> Decorator:
        def serve(view: View) -> View:
            strict = _refuse_undeclared(view)
            if method == "POST":
                strict = _make_repeatable(strict, is_search=not needs_key(view))  # who needs a key changes something
            named = self.doc(operationId=operation)(_admit_first(strict))
            return cast(View, self.route(rule, methods=[method])(named))

        return serve


def _make_repeatable(view: View, *, is_search: bool) -> View:
    """Answer repetitions of a request alike, and describe their header in the OpenAPI document."""
    repeatable = answer_once(view, is_search=is_search)
    described = deepcopy(getattr(view, "_apidoc", {}))
    parameters = described.setdefault("arguments", {}).setdefault("parameters", [])
    parameters.append({"in": "header", "required": False, "schema": RepeatHeaders})
    repeatable.__dict__["_apidoc"] = described
    return cast(View, repeatable)


def _admit_first(view: View) -> View:
    """Refuse a caller who lacks a key or its scope before all else: also before an answer that was given to another."""
    admit = read_admission(view)
    if admit is None:
        return view

    @wraps(view)
    def admitted(*args: Any, **kwargs: Any) -> Any:
        admit()
        return view(*args, **kwargs)

    return cast(View, admitted)


def _refuse_undeclared(view: View) -> View:
    """Refuse query parameters, or a body, where `view` declares none."""
    declared = {each["in"] for each in getattr(view, "_apidoc", {}).get("arguments", {}).get("parameters", ())}

    @wraps(view)
    def strict(*args: Any, **kwargs: Any) -> Any:
        if "query" not in declared:
            refuse_unknown(flask.request.args)
        if "json" not in declared:
            refuse_unknown(read_json(flask.request))
        return view(*args, **kwargs)

    return cast(View, strict)


def _prepare(schema: type[Schema] | Schema) -> Schema:
    """Make a schema ready once: of a class, one would be made for each request."""
    return schema() if isinstance(schema, type) else schema


def _names(schema: Schema) -> set[str]:
    return {field.data_key or name for name, field in schema.load_fields.items()}


class Api(flask_smorest.Api):
    """The OpenAPI document, with the service's error body in it.

    Describing all views takes half as long as building the application, so it waits for the first who asks.
    """

    ERROR_SCHEMA = ErrorSchema
    DEFAULT_ERROR_RESPONSE_NAME = None

    def __init__(self, app: flask.Flask) -> None:
        super().__init__()
        self._documents: dict[str, str] = {}
        self._undescribed: list[Callable[[], object]] = []
        self._describing = Lock()
        plugin = MarshmallowPlugin(schema_name_resolver=name_schema)
        self.init_app(app, spec_kwargs={"marshmallow_plugin": plugin})
        for describe in (describe_shape, describe_words, drop_null_default):
            self.ma_plugin.converter.add_attribute_function(describe)
        self.ma_plugin.converter.add_parameter_attribute_function(describe_style)
        for schema in (WebhookBodySchema, StreamMessageSchema):
            self.describe_later(partial(self.spec.components.schema, name_schema(schema), schema=schema))

    def describe_later(self, describe: Callable[[], object]) -> None:
        """Have something described, in the order of these calls, once the document is asked for."""
        self._undescribed.append(describe)

    def handle_http_exception(self, error: HTTPException) -> Response:
        """Answer with the service's error body."""
        return answer_http_error(error)

    def build_document(self, base_url: str) -> dict[str, Any]:
        """Build the document that is served."""
        with self._describing:  # or a second thread would find half of it
            while self._undescribed:
                self._undescribed.pop(0)()
        schemas = {name: key[0] for key, name in self.ma_plugin.converter.refs.items()}
        return complete(deepcopy(self.spec.to_dict()), schemas, base_url)

    def _register_pagination_header(self) -> None:
        """Leave out a header, and its schema, that no answer has."""

    def _openapi_json(self) -> Response:
        base_url = get_resources().config.base_url
        if base_url not in self._documents:
            self._documents[base_url] = json.dumps(self.build_document(base_url), ensure_ascii=False)
        return answer_with_constant(self._documents[base_url], "application/json")
