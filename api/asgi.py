"""One port for everything: the Flask application on a pool of threads, sockets on the event loop."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any
from urllib.parse import quote_from_bytes

from a2wsgi import WSGIMiddleware
from flask import Flask

from api import create_app, order_stream
from api.assets.files import load_assets
from api.blueprints.order_export import PATH as EXPORT_PATH
from api.bridge import WsgiBridge
from api.config import Config, ConfigError
from api.context import get_resources_of
from api.errors import DATABASE_DOWN
from api.logs import configure_logging
from api.order_stream import OrderStream
from api.services.market.market import NoMarket
from api.services.orders.order_versions import read_versions
from api.services.resources import Resources
from api.services.vendors.api_keys import find_key
from api.stream import PATH, AsgiApp, Receive, RouteStream, Scope, Send

STREAM_THREADS = 8
EXPORT_THREADS = 4


def compose(flask_app: Flask, *, threads: int) -> AsgiApp:
    """Serve `flask_app` on `threads` threads, and the streams of routes and of orders' news beside it."""
    http = WsgiBridge(flask_app.wsgi_app, threads=threads)
    wsgi = _flag_end_of_body(flask_app.wsgi_app)
    # Their own Scope type is narrower.
    streams: Any = WSGIMiddleware(wsgi, workers=STREAM_THREADS)
    resources = get_resources_of(flask_app)
    # Whoever reads slowly holds a thread; it is none of those that serve everybody else.
    exports: Any = WSGIMiddleware(wsgi, workers=EXPORT_THREADS)
    stream = RouteStream(streams, key_is_known=_key_lookup(resources))
    news = OrderStream(http, read_versions=partial(read_versions, resources.database))

    async def asgi(scope: Scope, receive: Receive, send: Send) -> None:
        apps = {PATH: stream, EXPORT_PATH: exports}
        app = news if _asks_for_news(scope) else apps.get(scope.get("path", ""), http)
        await app(_encode_query(scope), receive, send)

    return asgi


def build_from_environment() -> AsgiApp:
    """Build the application in a server process, from its environment.

    Raises
    ------
    ConfigError
        If the operator's market file is missing or damaged.
    """
    config = Config.from_env()
    configure_logging(config.log_level)
    load_assets()
    flask_app = create_app(config)
    _load_market(get_resources_of(flask_app))
    return compose(flask_app, threads=config.web_threads)


def _asks_for_news(scope: Scope) -> bool:
    return scope.get("method") == "GET" and order_stream.PATH.fullmatch(scope["path"]) is not None


def _load_market(resources: Resources) -> None:
    """Read the operator's file now, for it may be wrong; build the rest while the first requests come in."""
    if resources.config.market.adapters:
        resources.market.follow()
        return
    if resources.config.market_file is None:
        threading.Thread(target=resources.market.load, name="market", daemon=True).start()
        return
    try:
        resources.market.load()
    except NoMarket as error:
        raise ConfigError(f"MARKET_FILE: {error.reason}") from error


def _key_lookup(resources: Resources) -> Callable[[str], bool]:
    """Return a function that looks API keys up; without a database it calls none wrong."""

    def is_known(text: str) -> bool:
        try:
            with resources.database.look() as connection:
                return find_key(connection, text, resources.clock.now()) is not None
        except DATABASE_DOWN:
            return True

    return is_known


def _flag_end_of_body(app: Callable[..., Iterable[bytes]]) -> Any:
    """Say that reading stops at the body's end; without it a chunked body would count as empty."""

    def with_flag(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        environ["wsgi.input_terminated"] = True
        return app(environ, start_response)

    return with_flag


def _encode_query(scope: Scope) -> Scope:
    """Percent-encode raw bytes in the query, which a2wsgi would fail on."""
    query = scope.get("query_string", b"")
    if query.isascii():
        return scope
    return {**scope, "query_string": quote_from_bytes(query, safe="%&=+;,/?:@!$'()*~-._").encode("ascii")}
