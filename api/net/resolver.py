"""Host names to addresses, as a port: a test can answer differently each time, as an attacker's name server does."""

from __future__ import annotations

import queue
import socket
import threading
from ipaddress import ip_address
from typing import Protocol

from api.net.addresses import IpAddress


class ResolutionFailed(Exception):
    """The name has no address, or no answer came in time."""


class Resolver(Protocol):
    """Answers for host names."""

    def resolve(self, host: str, timeout_s: float) -> tuple[IpAddress, ...]:
        """Return every address of a host name, at least one.

        Raises
        ------
        ResolutionFailed
            If there is none, or no answer within `timeout_s`.
        """
        ...


class SystemResolver:
    """Asks the machine's resolver.

    Its call cannot be interrupted, so it runs on a thread of its own, which is left behind when time is up.
    """

    def resolve(self, host: str, timeout_s: float) -> tuple[IpAddress, ...]:
        """Return every address of a host name, in the system's order of preference."""
        answers: queue.SimpleQueue[tuple[IpAddress, ...] | ResolutionFailed] = queue.SimpleQueue()
        threading.Thread(target=lambda: answers.put(_lookup(host)), name="resolve", daemon=True).start()
        try:
            answer = answers.get(timeout=max(timeout_s, 0.001))
        except queue.Empty:
            raise ResolutionFailed(f"{host}: the name server did not answer in time") from None
        if isinstance(answer, ResolutionFailed):
            raise answer
        return answer


def _lookup(host: str) -> tuple[IpAddress, ...] | ResolutionFailed:
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        return ResolutionFailed(f"{host}: {getattr(error, 'strerror', None) or 'no such host'}")
    texts = dict.fromkeys(str(row[4][0]).partition("%")[0] for row in found)
    return tuple(ip_address(text) for text in texts)
