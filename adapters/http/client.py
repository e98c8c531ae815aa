"""A client for JSON services that may hang, lie, flood or refuse: bounded in time, size and number of tries."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import requests
from tenacity import RetryCallState, Retrying, retry_if_exception, stop_after_attempt
from urllib3.exceptions import HTTPError

from adapters.base import VenueUnavailable
from adapters.http.circuit_breaker import BreakerOpen, Breakers
from adapters.http.connections import GuardedConnections, guard_connections
from adapters.http.deadline import Deadline
from adapters.http.responses import MEMORY_SHARE, describe, read, read_document

MAX_ERROR_BYTES = 65_536
WIRE_SHARE = 2
"""What frames a body may be as long as the longest body: chunks that are small, but no trailers without end."""
FIRST_PAUSE_S = 0.25
MAX_PAUSE_S = 4.0
USER_AGENT = "crosschain-checkout/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpLimits:
    """What one question may cost.

    Parameters
    ----------
    connect_s, read_s : float
        Longest wait for a connection, and for the next bytes.
    total_s : float
        Longest time for the answer, all tries and pauses included.
    max_bytes : int
        Longest body, after decompression. What it is parsed to takes fourteen times as much memory at most.
    tries : int
        How often a question is put to a host that fails in passing.
    """

    connect_s: float = 3.0
    read_s: float = 10.0
    total_s: float = 20.0
    max_bytes: int = 8 * 2**20
    tries: int = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """What a client has asked and been told so far; bytes are those of bodies."""

    requests: int = 0
    bytes_sent: int = 0
    bytes_received: int = 0


class JsonClient:
    """Asks JSON services; safe to share between threads.

    A question may be put more than once, so it must change nothing on the other side. Redirects are not followed,
    cookies not kept, and neither proxies nor passwords are taken from the environment. Errors name the host only: the
    rest of a URL may hold a key.

    Parameters
    ----------
    limits : HttpLimits
        For each question.
    headers : mapping of str to str
        Sent with each question, such as an API key.
    breakers : Breakers
        Shared with other clients of the same hosts.
    clock : callable
        Seconds, never going back.
    sleep : callable
        Waits for so many seconds.
    rng : random.Random
        Spreads the pauses before further tries.
    """

    def __init__(
        self,
        *,
        limits: HttpLimits | None = None,
        headers: Mapping[str, str] | None = None,
        breakers: Breakers | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        rng: random.Random | None = None,
    ) -> None:
        self.breakers = breakers or Breakers()
        self._limits = limits or HttpLimits()
        self._headers = {"User-Agent": USER_AGENT, "Accept": "application/json", "Accept-Encoding": "gzip"}
        self._headers |= headers or {}
        self._clock, self._sleep = clock, sleep
        self._rng = rng or random.Random()
        self._connections = GuardedConnections(WIRE_SHARE * self._limits.max_bytes)
        self._lock = threading.Lock()
        self._traffic = Traffic()

    @property
    def traffic(self) -> Traffic:
        """What was asked and answered so far."""
        with self._lock:
            return self._traffic

    def get(self, url: str, params: Mapping[str, str | int] | None = None) -> Any:
        """Return the JSON document at `url`; see `post` for errors."""
        return self._ask(requests.Request("GET", url, params=params, headers=self._headers).prepare())

    def post(self, url: str, body: object) -> Any:
        """Send `body` as JSON and return the answer's document.

        Raises
        ------
        VenueUnavailable
            If no complete answer comes in time, or the host is overloaded or broken.
        Declined
            If the host understands and refuses, or redirects.
        BadPayload
            If the answer is too long, or not JSON.
        """
        return self._ask(requests.Request("POST", url, json=body, headers=self._headers).prepare())

    def close(self) -> None:
        """Close the connections that are kept open."""
        self._connections.close()

    def _ask(self, request: requests.PreparedRequest) -> Any:
        host = urlsplit(request.url or "").netloc.rpartition("@")[2]
        ends = self._clock() + self._limits.total_s
        breaker = self.breakers.find(host)

        def ask_once() -> Any:
            with breaker.attempt():
                return self._exchange(request, host, ends - self._clock())

        def has_time(error: BaseException) -> bool:
            if not isinstance(error, VenueUnavailable) or isinstance(error, BreakerOpen):
                return False
            return self._clock() + (error.retry_after_s or 0.0) < ends

        retrying = Retrying(
            stop=stop_after_attempt(self._limits.tries),
            retry=retry_if_exception(has_time),
            wait=self._pause,
            sleep=lambda seconds: self._sleep(max(0.0, min(seconds, ends - self._clock()))),
            reraise=True,
        )
        return retrying(ask_once)

    def _pause(self, state: RetryCallState) -> float:
        """Wait for what the host asked for, and a random part more, so that not everybody comes back at once."""
        error = state.outcome.exception() if state.outcome else None
        asked = error.retry_after_s if isinstance(error, VenueUnavailable) else None
        most = min(MAX_PAUSE_S, FIRST_PAUSE_S * 2.0 ** (state.attempt_number - 1))
        return (asked or 0.0) + self._rng.uniform(0.0, most)

    def _exchange(self, request: requests.PreparedRequest, host: str, seconds: float) -> Any:
        """Ask once, within `seconds`."""
        late = f"{host}: no complete answer within {self._limits.total_s:g} s"
        if seconds <= 0.0:
            raise VenueUnavailable(late)
        with Deadline(seconds) as deadline, guard_connections(deadline):
            try:
                status, retry_after, body = self._send(request, host, deadline)
            except (requests.RequestException, HTTPError, OSError) as failure:
                message = late if deadline.is_over else f"{host}: {describe(failure)}"
                raise VenueUnavailable(message) from failure
            if deadline.is_over:  # to the parser, a connection that was cut may look like the end of an answer
                raise VenueUnavailable(late)
        return read_document(host, status, retry_after, body, MEMORY_SHARE * self._limits.max_bytes)

    def _send(self, request: requests.PreparedRequest, host: str, deadline: Deadline) -> tuple[int, str | None, bytes]:
        timeout = (min(self._limits.connect_s, deadline.remaining_s), min(self._limits.read_s, deadline.remaining_s))
        response = self._connections.send(request, stream=True, timeout=timeout)
        body = b""
        try:
            most = self._limits.max_bytes if response.ok else MAX_ERROR_BYTES
            body = read(response, host, most)
        finally:
            self._count(len(request.body or b""), len(body))
        return response.status_code, response.headers.get("Retry-After"), body

    def _count(self, sent: int, received: int) -> None:
        with self._lock:
            before = self._traffic
            self._traffic = Traffic(
                requests=before.requests + 1,
                bytes_sent=before.bytes_sent + sent,
                bytes_received=before.bytes_received + received,
            )
