"""The HTTP server."""

from __future__ import annotations

import socket
from collections.abc import Callable
from functools import partial

import uvicorn

from api.config import Config
from api.doubtful_settings import log_doubts
from api.logs import configure_logging
from api.serving.asgi import Application
from api.serving.connections import EndingProtocol
from api.serving.ports import choose_family, require_free_port
from api.serving.siblings import Siblings
from api.serving.sockets import EvenProtocol

MESSAGE_BYTES = 64 * 1024
"""Of a websocket. The stream answers more than its 4 kB with an error; beyond this the connection is closed."""
PING_S = 15
GRACE_S = 10
SLACK_S = 5
"""How much longer than its requests a process may take to end before it is killed."""
BACKLOG = 2_048
"""Connections that wait to be taken."""


def serve(config: Config) -> bool:
    """Serve until SIGTERM or SIGINT; requests being answered then are finished.

    Returns
    -------
    bool
        False if a process that was to answer failed.

    Raises
    ------
    ConfigError
        If the operator's market file is missing or damaged.
    ServiceUnavailable
        If the port is taken.
    """
    require_free_port(config)
    configure_logging(config.log_level)
    log_doubts(config)
    application = Application(config)
    application.load(all_of_it=config.web_workers > 1)
    with _listen(config) as listener:
        if config.web_workers == 1:
            answer_requests(application, listener, lambda: None)
            return True
        work = partial(answer_requests, application, listener)
        return Siblings(work, count=config.web_workers, patience_s=GRACE_S + SLACK_S).run(listener.close)


class LivingServer(uvicorn.Server):
    """A server whose loop gives signs of life, ten a second, until it ends."""

    def __init__(self, settings: uvicorn.Config, give_sign: Callable[[], None]) -> None:
        super().__init__(settings)
        self._give_sign = give_sign

    async def on_tick(self, counter: int) -> bool:
        """Do what is due; return whether to end."""
        self._give_sign()
        return await super().on_tick(counter)


def answer_requests(application: Application, listener: socket.socket, give_sign: Callable[[], None]) -> None:
    """Answer what comes to `listener` until SIGTERM or SIGINT, and give signs of life meanwhile."""
    config = application.config
    application.begin()
    settings = uvicorn.Config(
        application.compose(),
        http=EndingProtocol,
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=bool(config.forwarded_allow_ips),
        forwarded_allow_ips=config.forwarded_allow_ips,
        timeout_graceful_shutdown=GRACE_S,
        ws=EvenProtocol,
        ws_max_size=MESSAGE_BYTES,
        ws_ping_interval=PING_S,
    )
    LivingServer(settings, give_sign).run(sockets=[listener])


def _listen(config: Config) -> socket.socket:
    """Open the port. All processes listen to it: while one ends or stands still, the others take what comes."""
    listener = socket.socket(choose_family(config))
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((config.host, config.port))
    listener.listen(BACKLOG)
    return listener
