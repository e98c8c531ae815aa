"""Cross-chain routes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from flask import Response

from api.blueprints.base import Blueprint
from api.context import get_resources
from api.event_stream import CONTENT_TYPE, stream_events
from api.schemas.routes import EXAMPLE, RouteQuerySchema, RouteSchema, RouteShapeQuery
from api.schemas.stream import StreamMessageSchema
from api.security import key_optional
from api.services.routing.query import RouteQuery
from api.services.routing.routes import find_routes
from api.services.routing.stream import stream_routes

blueprint = Blueprint("routes", __name__, url_prefix="/v1/routes", description="Routes between tokens, across chains")


@blueprint.post("", operation="getRoutes")
@key_optional
@blueprint.query(RouteShapeQuery)
@blueprint.body(RouteQuerySchema, example=EXAMPLE)
@blueprint.answer(RouteSchema)
@blueprint.refusal(404, "No route, with each protocol's reason")
def routes(shape: dict[str, str], query: RouteQuery) -> dict[str, Any]:
    """Find the best route.

    The amounts are exact for the market data of `snapshotId`. Each step spends what the steps before it gave.
    """
    return find_routes(get_resources(), replace(query, tokens_once=shape["tokens"] == "once"))


@blueprint.get("/stream", operation="streamRoutes")
@key_optional
@blueprint.query(RouteQuerySchema)
@blueprint.answer(StreamMessageSchema, content_type=CONTENT_TYPE, description="One event for each message")
def stream(query: RouteQuery) -> Response:
    """Receive routes as they are found, as server-sent events.

    A `route` message comes for each better route, then `done`, or `error` with the error body. Close the stream then;
    an `EventSource` would ask again by itself.

    The same address is a websocket: send the properties of `POST /v1/routes` as JSON in a text frame of at most 4 kB,
    and receive the same messages, one in each frame. Several requests may follow each other on one socket.
    """
    return stream_events(stream_routes(get_resources(), query))


@blueprint.post("/stream", operation="streamRoutesForBody")
@key_optional
@blueprint.body(RouteQuerySchema, example=EXAMPLE)
@blueprint.answer(StreamMessageSchema, content_type=CONTENT_TYPE, description="One event for each message")
def stream_for_body(query: RouteQuery) -> Response:
    """Receive routes as they are found, for clients that can send a body."""
    return stream_events(stream_routes(get_resources(), query))
