"""A circuit breaker: a host that keeps failing is left alone for a while, then asked by one caller at a time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum

from adapters.base import AdapterError, VenueUnavailable

FAILURES = 5
COOLDOWN_S = 5.0
MAX_COOLDOWN_S = 300.0
LONGEST_WISH_S = 300.0
"""How long a host is left alone that asks for longer."""


class BreakerState(StrEnum):
    """Where a breaker stands."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


class BreakerOpen(VenueUnavailable):
    """Nobody was asked: the host failed too often a moment ago, or is being tried by somebody else."""

    code = "breaker_open"


class Breaker:
    """Counts failures in a row, and decides who may ask.

    Closed, everybody may, at the same time. After `failures` failures in a row it opens: nobody may for `cooldown_s`.
    Then it is half open: one caller may, the probe. Its success closes the breaker, its failure opens it for twice as
    long. Answers to questions from before a change of state count no more.

    Parameters
    ----------
    name : str
        Of the host, for messages.
    failures : int
        How many in a row open it.
    cooldown_s, max_cooldown_s : float
        First and longest time that it stays open.
    clock : callable
        Seconds, never going back.
    """

    def __init__(
        self,
        name: str,
        *,
        failures: int = FAILURES,
        cooldown_s: float = COOLDOWN_S,
        max_cooldown_s: float = MAX_COOLDOWN_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = name
        self._threshold = failures
        self._first_cooldown_s = cooldown_s
        self._max_cooldown_s = max_cooldown_s
        self._clock = clock
        self._lock = threading.Lock()
        self._is_open = False
        self._is_probed = False
        self._failures = 0
        self._cooldown_s = cooldown_s
        self._until = 0.0
        self._era = 0

    @property
    def state(self) -> BreakerState:
        """Present state."""
        with self._lock:
            if not self._is_open:
                return BreakerState.CLOSED
            return BreakerState.HALF_OPEN if self._is_probed or self._clock() >= self._until else BreakerState.OPEN

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Guard one question to the host.

        `VenueUnavailable` inside counts as a failure, any other `AdapterError` as an answer; whatever else happens
        says nothing about the host.

        Raises
        ------
        BreakerOpen
            If the host is not to be asked now.
        """
        era = self._enter()
        try:
            yield
        except VenueUnavailable as failure:
            self._record_failure(era, failure.retry_after_s)
            raise
        except AdapterError:
            self._record_answer(era)
            raise
        except BaseException:  # interrupted, even by a signal: a trial that nobody ends would stay open
            self._record_interruption(era)
            raise
        self._record_answer(era)

    def _enter(self) -> int:
        with self._lock:
            if self._is_open:
                wait_s = self._until - self._clock()
                if wait_s > 0:
                    raise BreakerOpen(f"{self.name} failed too often; not asked again yet", retry_after_s=wait_s)
                if self._is_probed:
                    raise BreakerOpen(f"{self.name} failed too often; another caller is trying it")
                self._is_probed = True
                self._era += 1
            return self._era

    def _record_answer(self, era: int) -> None:
        with self._lock:
            if era != self._era:
                return
            self._failures = 0
            if self._is_open:
                self._is_open = self._is_probed = False
                self._cooldown_s = self._first_cooldown_s
                self._era += 1

    def _record_failure(self, era: int, retry_after_s: float | None) -> None:
        with self._lock:
            if era != self._era:
                return
            self._failures += 1
            if self._is_open:
                self._cooldown_s = min(2 * self._cooldown_s, self._max_cooldown_s)
            elif self._failures < self._threshold and not retry_after_s:
                return
            asked_s = min(retry_after_s or 0.0, LONGEST_WISH_S)
            # One who names a time is not failing: the count alone decides whether it takes longer.
            own_s = self._cooldown_s if self._is_open or self._failures >= self._threshold else 0.0
            self._until = self._clock() + max(asked_s, own_s)
            self._is_open, self._is_probed = True, False
            self._era += 1

    def _record_interruption(self, era: int) -> None:
        with self._lock:
            if era == self._era:
                self._is_probed = False


class Breakers:
    """One breaker for each host, made when it is first asked for.

    Parameters
    ----------
    make : callable
        Makes the breaker of a host, given its name.
    """

    def __init__(self, make: Callable[[str], Breaker] = Breaker) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._by_host: dict[str, Breaker] = {}

    def find(self, host: str) -> Breaker:
        """Return the breaker of a host."""
        with self._lock:
            breaker = self._by_host.get(host)
            if breaker is None:
                breaker = self._by_host[host] = self._make(host)
            return breaker

    def list_states(self) -> Mapping[str, BreakerState]:
        """Return the state of every host that was asked, for metrics."""
        with self._lock:
            breakers = tuple(self._by_host.values())
        return {breaker.name: breaker.state for breaker in breakers}
