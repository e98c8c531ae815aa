"""Connections that are kept open between questions, and cut when a question's time is up."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from requests.adapters import HTTPAdapter
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.connection import HTTPConnection, HTTPSConnection

from adapters.http.bounded import BoundedAnswer
from adapters.http.deadline import Deadline

KEPT = 16

_PRESENT: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


@contextmanager
def guard_connections(deadline: Deadline) -> Iterator[None]:
    """Let `deadline` cut whatever connection this thread uses inside."""
    token = _PRESENT.set(deadline)
    try:
        yield
    finally:
        _PRESENT.reset(token)


class GuardedConnections(HTTPAdapter):
    """Requests' transport over connections that the thread's deadline can cut, and that read so much and no more.

    A new connection is handed to the deadline before its TLS handshake, a kept one before it is used again.

    Parameters
    ----------
    body_bytes : int
        Of one answer, as they come: with what frames them, and before they are unpacked.
    """

    def __init__(self, body_bytes: int) -> None:
        super().__init__(pool_connections=KEPT, pool_maxsize=KEPT)
        self.poolmanager.pool_classes_by_scheme = _make_pools(body_bytes)


def _guard(sock: socket.socket | None) -> None:
    deadline = _PRESENT.get()
    if deadline is not None and sock is not None:
        deadline.guard(sock)


class _Plain(HTTPConnection):
    def _new_conn(self) -> socket.socket:
        sock = super()._new_conn()
        _guard(sock)
        return sock

    def request(self, *args: Any, **options: Any) -> None:
        _guard(self.sock)
        super().request(*args, **options)


class _Tls(_Plain, HTTPSConnection):
    pass


def _make_pools(most: int) -> dict[str, type[HTTPConnectionPool]]:
    class Answer(BoundedAnswer):
        body_bytes = most

    class Plain(_Plain):
        response_class = Answer

    class Tls(_Tls):
        response_class = Answer

    class PlainPool(HTTPConnectionPool):
        ConnectionCls = Plain

    class TlsPool(HTTPSConnectionPool):
        ConnectionCls = Tls

    return {"http": PlainPool, "https": TlsPool}
