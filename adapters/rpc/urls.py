"""Where endpoints are: services behind URLs, and sockets of nodes on this machine."""

from __future__ import annotations

from urllib.parse import urlsplit

SOCKET_SCHEME = "ipc"


def is_socket(url: str) -> bool:
    """Whether a URL names a node's socket, such as ``ipc:///var/run/geth.ipc``."""
    parts = urlsplit(url)
    return parts.scheme == SOCKET_SCHEME and not parts.netloc and parts.path.startswith("/")


def is_endpoint(url: str) -> bool:
    """Whether an endpoint can be asked at `url`: over http or https, or through a socket."""
    try:
        parts = urlsplit(url)
        is_served = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # such as for a port that is no number
        return False
    return not any(map(str.isspace, url)) and (is_served or is_socket(url))
