"""Blueprints of the API: arguments that are checked, answers that are described.

This module is the one that knows flask-smorest, which comes without types.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from copy import deepcopy
from functools import partial, wraps
from threading import Lock
from typing import Any, Protocol, TypeVar, cast

import flask
import flask_smorest
from apispec.ext.marshmallow import MarshmallowPlugin
from flask import Response
from marshmallow import Schema
from werkzeug.exceptions import HTTPException

from api.blueprints.parsing import Parser, read_json
from api.blueprints.repeats import RepeatHeaders, answer_once
from api.bodies.errors import answer_http_error
from api.context import get_resources
from api.openapi.converters import describe_shape, describe_style, describe_words, drop_null_default, name_schema
from api.openapi.document import complete
from api.schemas import refuse_unknown
from api.schemas.errors import ErrorSchema
from api.schemas.routing.stream import StreamMessageSchema
from api.schemas.webhooks.events import WebhookBodySchema
from api.web.compression import answer_with_constant
from api.web.security import needs_key, read_admission

View = TypeVar("View", bound=Callable[..., Any])


class Decorator(Protocol):
    """Returns a view of the same type."""

    def __call__(self, view: View, /) -> View:
        """Decorate `view`."""
        ...


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
