"""Cross-chain routes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from flask import Response, request
from werkzeug.exceptions import HTTPException

from api.blueprints.base import Blueprint
from api.blueprints.parsing import read_json
from api.bodies.event_stream import CONTENT_TYPE, stream_events
from api.context import get_resources
from api.domain.env import EnvMode
from api.domain.errors import RequestRefused
from api.schemas.routing.legs import FollowedTransactionSchema, RouteStatusQuery
from api.schemas.routing.queries import EXAMPLE, RouteQuerySchema, RouteShapeQuery
from api.schemas.routing.routes import RouteSchema
from api.schemas.routing.stream import StreamMessageSchema
from api.services.execution.executable_routes import find_executable_routes
from api.services.execution.following import follow_transaction
from api.services.execution.streamed_search import StreamedSearch
from api.services.routing.query import RouteQuery
from api.services.routing.routes import find_routes
from api.web.security import find_caller_key, key_optional

blueprint = Blueprint("routes", __name__, url_prefix="/v1/routes", description="Routes between tokens, across chains")

MESSAGE = StreamMessageSchema()


@blueprint.post("", operation="getRoutes")
@key_optional
@blueprint.query(RouteShapeQuery)
@blueprint.body(RouteQuerySchema, example=EXAMPLE)
@blueprint.answer(RouteSchema)
@blueprint.refusal(404, "No route, with each protocol's reason")
def routes(shape: dict[str, str], query: RouteQuery) -> dict[str, Any]:
    """Find the best route.

    The amounts are exact for the market data of `snapshotId`. Each step spends what the steps before it gave.

    With `payer` and `recipient` each route has `legs`: transactions for the payer's wallet, each tried out on its chain
    before it is offered, or the reason why there are none. A key of the test environment tries them on that
    environment's chains. Such requests have a rate limit of their own, a fifth of that for routes.
    """
    asked = replace(query, tokens_once=shape["tokens"] == "once")
    if not query.payer:
        return find_routes(get_resources(), asked)
    env_mode, has_key = _read_caller()
    return find_executable_routes(get_resources(), asked, env_mode, has_key=has_key)


@blueprint.get("/status", operation="getRouteStatus")
@key_optional
@blueprint.query(RouteStatusQuery)
@blueprint.answer(FollowedTransactionSchema)
def status(asked: dict[str, Any]) -> dict[str, Any]:
    """Follow the transaction of a leg by its hash.

    It is looked for on its chain, and over a bridge on the chain that its output arrives on. What is not known in time
    is `unknown`, with the reason. A key of the test environment asks that environment's chains.
    """
    env_mode, has_key = _read_caller()
    chain_id, tx_hash = asked["chain_id"], asked["transaction_hash"]
    return follow_transaction(get_resources(), env_mode, chain_id, tx_hash, has_key=has_key)


@blueprint.get("/stream", operation="streamRoutes")
@key_optional
@blueprint.query(RouteQuerySchema)
@blueprint.answer(StreamMessageSchema, content_type=CONTENT_TYPE, description="One event for each message")
def stream(query: RouteQuery) -> Response:
    """Receive routes as they are found, as server-sent events.

    A `route` message comes for each better route, then `done`, or `error` with the error body. Close the stream then;
    an `EventSource` would ask again by itself.

    With `payer` and `recipient` the bridges of the best route are asked for a firm quote: each that is known is a
    `route`, of steps with `isFirm`, which may give less than the one before. The last `route` has `legs`. Such streams
    have the rate limit of routes with `legs`. A bridge that has not confirmed is named in `unavailable`.

    The same address is a websocket: send the properties of `POST /v1/routes` as JSON in a text frame of at most 4 kB,
    and receive the same messages, one in each frame. Several requests may follow each other on one socket.
    """
    return _stream(query)


@blueprint.post("/stream", operation="streamRoutesForBody")
@key_optional
@blueprint.body(RouteQuerySchema, example=EXAMPLE)
@blueprint.answer(StreamMessageSchema, content_type=CONTENT_TYPE, description="One event for each message")
def stream_for_body(query: RouteQuery) -> Response:
    """Receive routes as they are found, for clients that can send a body."""
    return _stream(query)


def asks_for_trial() -> bool:
    """Return whether the request that is being served names a wallet, for which chains are asked."""
    wallets = {"payer", "recipient"}
    if request.method != "POST":
        return not wallets.isdisjoint(request.args)
    try:
        return not wallets.isdisjoint(read_json(request))
    except (RequestRefused, HTTPException):
        return False  # it is refused in a moment


def _stream(query: RouteQuery) -> Response:
    env_mode, has_key = _read_caller()
    routes = StreamedSearch(resources=get_resources(), query=query, env_mode=env_mode, has_key=has_key)
    return stream_events(map(MESSAGE.dump, routes.tell()))


def _read_caller() -> tuple[EnvMode, bool]:
    """Return on whose chains a wallet acts, without a key on those with real money; and whether there is a key."""
    key = find_caller_key()
    return (EnvMode.LIVE, False) if key is None else (key.env_mode, True)
