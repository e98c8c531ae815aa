"""The HTTP application, put together."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any

from flask import Flask
from flask.json.provider import DefaultJSONProvider

from api import blueprints, logs
from api.blueprints.base import Api
from api.bodies import errors
from api.bodies.request_body import MAX_BODY_BYTES
from api.context import attach_resources
from api.counting.metrics import Metrics
from api.counting.rate_limits import RateLimits
from api.openapi.settings import SETTINGS
from api.services.operations.metrics import MetricsCollector
from api.services.resources import Resources
from api.web import compression, cors, deprecation, kept_pages, page_templates, security, static_files

COMPACT = {"separators": (",", ":")}
"""How Flask asks for an answer's JSON."""


class _Application(Flask):
    """An application of plain functions."""

    def ensure_sync(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function: looking anew whether it is a coroutine costs more than most of them."""
        return func


class _OrderedJson(DefaultJSONProvider):
    """Writes properties in the order in which the interface lists them, with an encoder that is made once."""

    sort_keys = False
    _encoder = json.JSONEncoder(separators=(",", ":"), default=DefaultJSONProvider.default)

    def dumps(self, obj: Any, **options: Any) -> str:
        """Write compact JSON, or as somebody asks for it."""
        return self._encoder.encode(obj) if options == COMPACT else super().dumps(obj, **options)


Mount = Callable[[Flask, Api, RateLimits], None]


def build_app(shared: Resources, *, mount: Mount = blueprints.mount) -> Flask:
    """Wire one application around `shared`.

    Parameters
    ----------
    mount : callable
        Puts the resources into the application.
    """
    app = _Application("api", static_folder=None, template_folder="templates")
    app.config.update(MAX_CONTENT_LENGTH=MAX_BODY_BYTES, **deepcopy(SETTINGS))
    app.json = _OrderedJson(app)
    # An address that is almost right is not there: a redirect would name the host that the caller claims to ask.
    app.url_map.merge_slashes = app.url_map.redirect_defaults = False
    attach_resources(app, shared)
    logs.install(app)
    compression.install(app)
    static_files.install(app)
    page_templates.install(app)
    kept_pages.install(app)
    metrics = Metrics()
    metrics.install(app)
    metrics.registry.register(MetricsCollector(shared))
    limits = RateLimits(shared.config)
    cors.install(app)
    deprecation.install(app)
    security.install(app, limits.install)
    api = Api(app)
    errors.register_error_handlers(app)
    mount(app, api, limits)
    return app
