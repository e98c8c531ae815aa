"""Read the arguments of requests, and refuse them in the service's own words.

This module is the one that knows webargs, which comes without types.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn, cast

import flask
from marshmallow import Schema, ValidationError
from webargs.flaskparser import FlaskParser
from webargs.multidictproxy import MultiDictProxy
from werkzeug.exceptions import RequestEntityTooLarge

from api.bodies.request_body import GIVEN_TWICE, MAX_BODY_BYTES, parse_object
from api.domain.env import EnvMode
from api.domain.errors import InvalidData, Problem, UnsupportedMedia
from api.schemas import problems_of
from api.schemas.fields.deep_objects import fold_deep_objects, is_within_object
from api.web.security import find_caller_key


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


def _names(schema: Schema) -> set[str]:
    return {field.data_key or name for name, field in schema.load_fields.items()}
