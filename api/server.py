"""The HTTP server."""

from __future__ import annotations

import socket

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from api import order_stream
from api.config import Config
from api.domain.errors import ServiceUnavailable
from api.logs import configure_logging

MESSAGE_BYTES = 64 * 1024
"""Of a websocket. The stream answers more than its 4 kB with an error; beyond this the connection is closed."""

PING_S = 15
GRACE_S = 10


class EndingProtocol(H11Protocol):
    """HTTP whose open streams end when the server does: the browser resumes them elsewhere."""

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
