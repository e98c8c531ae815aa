"""One port for everything: the Flask application on a pool of threads, sockets on the event loop."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial

from flask import Flask

from api import create_app
from api.assets.files import load_assets
from api.blueprints.exports import PATHS as EXPORT_PATHS
from api.bodies.errors import DATABASE_DOWN, MESSAGES
from api.config import Config, ConfigError
from api.context import get_resources_of
from api.services.market.market import NoMarket
from api.services.orders.order_versions import read_versions
from api.services.resources import Resources
from api.services.vendors.api_keys import find_key
from api.serving import order_stream
from api.serving.bridge import WsgiBridge
from api.serving.order_stream import OrderStream
from api.serving.pieces import PieceBridge
from api.serving.stream import PATH, AsgiApp, Receive, RouteStream, Scope, Send, refuse_request

HEALTHZ = "/healthz"
HEALTH_THREADS = 2
"""Their own: whoever asks whether this process lives must hear that it does when all others wait for the database."""
STREAM_THREADS = 8
EXPORT_THREADS = 4


def compose(flask_app: Flask, *, threads: int) -> AsgiApp:
    """Serve `flask_app` on `threads` threads, and the streams of routes and of orders' news beside it."""
    http = WsgiBridge(flask_app.wsgi_app, threads=threads)
    resources = get_resources_of(flask_app)
    stream = RouteStream(PieceBridge(flask_app.wsgi_app, threads=STREAM_THREADS), key_is_known=_key_lookup(resources))
    # A page of a file takes its time; the thread is none of those that serve everybody else.
    exports = PieceBridge(flask_app.wsgi_app, threads=EXPORT_THREADS)
    news = OrderStream(http, read_versions=partial(read_versions, resources.database))
    health = WsgiBridge(flask_app.wsgi_app, threads=HEALTH_THREADS)
    apps: dict[str, AsgiApp] = {PATH: stream, HEALTHZ: health, **dict.fromkeys(EXPORT_PATHS, exports)}

    async def asgi(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket" and scope["path"] != PATH:
            await refuse_request(scope, send, 404, MESSAGES[404])
            return
        app = news if _asks_for_news(scope) else apps.get(scope.get("path", ""), http)
        await app(scope, receive, send)

    return asgi


class Application:
    """The application of a server process, made ready before its process is forked.

    Parameters
    ----------
    config : Config
        Its settings.
    """

    def __init__(self, config: Config) -> None:
        self.config = config
        load_assets()
        self._flask = create_app(config)

    def load(self, *, all_of_it: bool) -> None:
        """Load what the processes that are forked later share; start no thread and open no connection.

        Parameters
        ----------
        all_of_it : bool
            Whether to load the built-in market too, unless its kernels have to be compiled first.

        Raises
        ------
        ConfigError
            If the operator's market file is missing or damaged.
        """
        market = get_resources_of(self._flask).market
        try:
            if self.config.market_file is not None:
                market.load()
            elif all_of_it and not self.config.market.adapters:
                from routing_engine.jit.ahead import is_all_compiled  # brings the compiler

                if is_all_compiled():
                    market.load()
        except NoMarket as error:
            raise ConfigError(f"MARKET_FILE: {error.reason}") from error

    def begin(self) -> None:
        """Follow a market that changes; build another one while the first requests come in."""
        market = get_resources_of(self._flask).market
        if self.config.market.adapters:
            market.follow()
        else:
            threading.Thread(target=market.load, name="market", daemon=True).start()

    def compose(self) -> AsgiApp:
        """Return what answers."""
        return compose(self._flask, threads=self.config.web_threads)


def _asks_for_news(scope: Scope) -> bool:
    return scope.get("method") == "GET" and order_stream.PATH.fullmatch(scope["path"]) is not None


def _key_lookup(resources: Resources) -> Callable[[str], bool]:
    """Return a function that looks API keys up; without a database it calls none wrong."""

    def is_known(text: str) -> bool:
        try:
            with resources.database.look() as connection:
                return find_key(connection, text, resources.clock.now()) is not None
        except DATABASE_DOWN:
            return True

    return is_known
