"""The HTTP server."""

from __future__ import annotations

import socket
from functools import partial

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from api import order_stream
from api.asgi import Application
from api.config import Config
from api.domain.errors import ServiceUnavailable
from api.logs import configure_logging
from api.siblings import Siblings

MESSAGE_BYTES = 64 * 1024
"""Of a websocket. The stream answers more than its 4 kB with an error; beyond this the connection is closed."""

HEAD_BYTES = 64 * 1024
"""Of a request: its address and headers."""
PING_S = 15
GRACE_S = 10
SLACK_S = 5
"""How much longer than its requests a process may take to end before it is killed."""
BACKLOG = 2_048
"""Connections that wait to be taken."""


class EndingProtocol(HttpToolsProtocol):
    """HTTP whose open streams end when the server does: the browser resumes them elsewhere.

    A request's head has an end too: the parser would keep one of any length in memory.
    """

    _head_bytes: int | None = None
    """Of a head that is still coming."""

    def data_received(self, data: bytes) -> None:
        """Take what came, unless a head becomes too long."""
        super().data_received(data)
        if self._head_bytes is not None:
            self._head_bytes += len(data)
            if self._head_bytes > HEAD_BYTES and not self.transport.is_closing():
                self._head_bytes = None
                self.send_400_response("The request's head is too long")

    def on_message_begin(self) -> None:
        """Begin to count."""
        self._head_bytes = 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Count no more: how long a body may be is the application's to say."""
        self._head_bytes = None
        super().on_headers_complete()

    def shutdown(self) -> None:
        """Finish what is being answered; a stream of events, which has no end of its own, is closed."""
        super().shutdown()
        if self.scope is not None and order_stream.PATH.fullmatch(self.scope["path"]):
            self.transport.close()


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
    application = Application(config)
    application.load(all_of_it=config.web_workers > 1)
    with _listen(config) as listener:
        if config.web_workers == 1:
            answer_requests(application, listener)
            return True
        work = partial(answer_requests, application, listener)
        return Siblings(work, count=config.web_workers, patience_s=GRACE_S + SLACK_S).run(listener.close)


def answer_requests(application: Application, listener: socket.socket) -> None:
    """Answer what comes to `listener` until SIGTERM or SIGINT."""
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
        ws="websockets-sansio",
        ws_max_size=MESSAGE_BYTES,
        ws_ping_interval=PING_S,
    )
    uvicorn.Server(settings).run(sockets=[listener])


def _listen(config: Config) -> socket.socket:
    """Open the port. All processes listen to it: while one ends or stands still, the others take what comes."""
    listener = socket.socket(_choose_family(config))
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((config.host, config.port))
    listener.listen(BACKLOG)
    return listener


def require_free_port(config: Config) -> None:
    """Refuse to start where another process listens.

    Raises
    ------
    ServiceUnavailable
        With the remedy.
    """
    with socket.socket(_choose_family(config)) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((config.host, config.port))
        except OSError as error:
            remedy = "choose another, for example PORT=8001"
            raise ServiceUnavailable(
                f"Port {config.port} of {config.host} can't be used ({error.strerror}); {remedy}"
            ) from error


def _choose_family(config: Config) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in config.host else socket.AF_INET
