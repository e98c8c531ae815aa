"""Requests to addresses that strangers chose, without letting them choose what is behind the firewall.

The host is resolved once, every address it has is checked, and the connection goes to one of those very addresses:
a name server that answers differently the second time gains nothing. Redirects are not followed, proxies and
credentials of the environment are not used.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

import requests
from requests.adapters import HTTPAdapter
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError, NewConnectionError

from adapters.http.bounded import MAX_HEAD_BYTES, AnswerTooLong, BoundedAnswer
from adapters.http.deadline import Deadline
from api.net.addresses import Reach
from api.net.resolver import ResolutionFailed, Resolver, SystemResolver
from api.net.targets import Target, TargetRefused, parse_target, require_reachable

TIMEOUT_S = 15.0
CONNECT_S = 5.0
MAX_ADDRESSES = 4
MAX_RESPONSE_BYTES = 4096
USER_AGENT = "crosschain-checkout-webhooks/1"

Dial = Callable[[HTTPConnection], socket.socket]


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpReply:
    """What came of one request.

    Parameters
    ----------
    status : int or None
        HTTP status; None without an answer.
    excerpt : str
        Beginning of the answer's body.
    retry_after : str or None
        The answer's header, as it came.
    error : str or None
        Why there is no answer.
    """

    status: int | None = None
    excerpt: str = ""
    retry_after: str | None = None
    error: str | None = None
    duration_ms: int = 0


class Transport(Protocol):
    """Sends one request and waits for what comes of it."""

    def post(self, url: str, body: bytes, headers: Mapping[str, str], reach: Reach) -> HttpReply:
        """POST `body` to `url`, no further than `reach`; failures come back as a `HttpReply` too."""
        ...


class SafeClient:
    """The transport to the internet.

    Parameters
    ----------
    resolver : Resolver, optional
        The machine's by default.
    timeout_s : float
        For everything from the name's lookup to the answer's end.
    ca_bundle : str, optional
        File of trusted certificates instead of certifi's.
    """

    def __init__(
        self, resolver: Resolver | None = None, *, timeout_s: float = TIMEOUT_S, ca_bundle: str | None = None
    ) -> None:
        self._resolver = resolver or SystemResolver()
        self._timeout_s = timeout_s
        self._verify = ca_bundle or True

    def post(self, url: str, body: bytes, headers: Mapping[str, str], reach: Reach) -> HttpReply:
        """POST `body` to `url`, no further than `reach`."""
        began = time.monotonic()
        status, excerpt, retry_after, error = None, "", None, None
        with Deadline(self._timeout_s) as deadline:
            try:
                response = self._send(url, body, headers, reach, deadline)
                status, retry_after = response.status_code, response.headers.get("Retry-After")
                excerpt = _excerpt(response)
            except (TargetRefused, ResolutionFailed) as refusal:
                error = str(refusal)
            except (requests.RequestException, HTTPError, OSError) as failure:
                late = f"No complete answer within {self._timeout_s:g} s"
                error = late if deadline.is_over else _describe(failure)
        duration_ms = round((time.monotonic() - began) * 1000)
        return HttpReply(status=status, excerpt=excerpt, retry_after=retry_after, error=error, duration_ms=duration_ms)

    def _send(
        self, url: str, body: bytes, headers: Mapping[str, str], reach: Reach, deadline: Deadline
    ) -> requests.Response:
        target = parse_target(url, reach)
        adapter = _PinnedAdapter(self._dialler(target, reach, deadline))
        prepared = requests.Request("POST", target.url, data=body, headers=_headers(headers)).prepare()
        # The adapter alone: a session would read proxies and passwords from the environment, and redirect's bodies.
        response = adapter.send(prepared, stream=True, timeout=deadline.remaining_s, verify=self._verify)
        if deadline.is_over:
            # To the parser a connection that was cut within the headers looks like the end of the headers.
            response.raw.close()
            raise requests.Timeout
        return response

    def _dialler(self, target: Target, reach: Reach, deadline: Deadline) -> Dial:
        addresses = (target.address,) if target.address else self._resolver.resolve(target.host, deadline.remaining_s)
        for address in addresses:
            require_reachable(address, reach)

        def dial(connection: HTTPConnection) -> socket.socket:
            failure: OSError | None = None
            for address in addresses[:MAX_ADDRESSES]:
                try:
                    timeout = min(CONNECT_S, deadline.remaining_s)
                    sock = socket.create_connection((str(address), target.port), timeout)
                except OSError as error:
                    failure = error
                    continue
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                sock.settimeout(deadline.remaining_s)
                deadline.guard(sock)
                return sock
            raise NewConnectionError(connection, f"{failure}") from failure

        return dial


class _PinnedAdapter(HTTPAdapter):
    """An adapter whose connections are opened by `dial`; names in TLS and headers stay those of the URL."""

    def __init__(self, dial: Dial) -> None:
        super().__init__(pool_connections=1, pool_maxsize=1)
        self.poolmanager.pool_classes_by_scheme = _pools(dial)


def _pools(dial: Dial) -> dict[str, type[HTTPConnectionPool]]:
    class Plain(HTTPConnection):
        response_class = BoundedAnswer

        def _new_conn(self) -> socket.socket:
            return dial(self)

    class Tls(HTTPSConnection):
        response_class = BoundedAnswer

        def _new_conn(self) -> socket.socket:
            return dial(self)

    class PlainPool(HTTPConnectionPool):
        ConnectionCls = Plain

    class TlsPool(HTTPSConnectionPool):
        ConnectionCls = Tls

    return {"http": PlainPool, "https": TlsPool}


def _headers(headers: Mapping[str, str]) -> dict[str, str]:
    return {
        "User-Agent": USER_AGENT,
        "Accept": "*/*",
        "Accept-Encoding": "identity",
        "Connection": "close",
        **headers,
    }


def _excerpt(response: requests.Response) -> str:
    """Read the beginning of the body as text that can be stored; a body that breaks off has a beginning too."""
    taken = b""
    try:
        while len(taken) < MAX_RESPONSE_BYTES:
            part = response.raw.read1(MAX_RESPONSE_BYTES - len(taken))
            if not part:
                break
            taken += part
    except (HTTPError, OSError):
        pass
    finally:
        response.raw.close()  # not `release`, which would read the rest
    return taken.decode("utf-8", "replace").replace("\x00", "\ufffd")


def _describe(failure: Exception) -> str:
    """Name a failure for the delivery log, without the library's inner texts."""
    if isinstance(failure, requests.exceptions.SSLError):
        return "The TLS handshake failed: the certificate must be valid for the host name"
    outer = failure.args[0] if failure.args else None
    if any(isinstance(cause, AnswerTooLong) for cause in getattr(outer, "args", ())):
        return f"The answer's head is too long: more than {MAX_HEAD_BYTES} bytes"
    reason = getattr(outer, "reason", None)
    if isinstance(reason, NewConnectionError):
        cause = reason.__cause__
        return f"The connection was not accepted: {getattr(cause, 'strerror', None) or 'timed out'}"
    return "The connection broke before an answer came"
