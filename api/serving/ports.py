"""The port that the service listens to."""

from __future__ import annotations

import errno
import socket

from api.address_settings import HOST_FORM
from api.config import Config, ConfigError
from api.domain.errors import ServiceUnavailable
from api.setting_values import describe


def require_free_port(config: Config) -> None:
    """Refuse to start where another process listens.

    Raises
    ------
    ServiceUnavailable
        With the remedy.
    ConfigError
        If this machine does not have the address.
    """
    with socket.socket(choose_family(config)) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((config.host, config.port))
        except OSError as error:
            if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
                raise ConfigError(f"HOST is {describe(config.host)}, {HOST_FORM} ({error.strerror})") from error
            remedy = "choose another, for example PORT=8001"
            raise ServiceUnavailable(
                f"Port {config.port} of {config.host} can't be used ({error.strerror}); {remedy}"
            ) from error


def choose_family(config: Config) -> socket.AddressFamily:
    """Return the family of the address that the service listens to."""
    return socket.AF_INET6 if ":" in config.host else socket.AF_INET
