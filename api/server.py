"""The HTTP server."""

from __future__ import annotations

import socket

import uvicorn

from api.config import Config
from api.domain.errors import ServiceUnavailable
from api.logs import configure_logging

MESSAGE_BYTES = 64 * 1024
"""Of a websocket. The stream answers more than its 4 kB with an error; beyond this the connection is closed."""

PING_S = 15
GRACE_S = 10


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
