"""The HTTP server."""

from __future__ import annotations

import socket

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from api import order_stream
from api.config import Config
from api.domain.errors import ServiceUnavailable
from api.logs import configure_logging

MESSAGE_BYTES = 64 * 1024
"""Of a websocket. The stream answers more than its 4 kB with an error; beyond this the connection is closed."""

HEAD_BYTES = 64 * 1024
"""Of a request: its address and headers."""
PING_S = 15
GRACE_S = 10


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


def serve(config: Config) -> None:
    """Serve until SIGTERM or SIGINT; requests being answered then are finished.

    Raises
    ------
    ServiceUnavailable
        If the port is taken.
    """
    require_free_port(config)
    configure_logging(config.log_level)
    uvicorn.run(
        "api.asgi:build_from_environment",
        factory=True,
        http=f"{__name__}:{EndingProtocol.__name__}",
        host=config.host,
        port=config.port,
        workers=config.web_workers,
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


def require_free_port(config: Config) -> None:
    """Refuse to start where another process listens.

    Raises
    ------
    ServiceUnavailable
        With the remedy.
    """
    with socket.socket(socket.AF_INET6 if ":" in config.host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((config.host, config.port))
        except OSError as error:
            remedy = "choose another, for example PORT=8001"
            raise ServiceUnavailable(
                f"Port {config.port} of {config.host} can't be used ({error.strerror}); {remedy}"
            ) from error
