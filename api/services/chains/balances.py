"""What somebody holds on real chains: all chains at once, and no chain waits for another."""

from __future__ import annotations

import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import structlog

from adapters.base import AdapterError
from adapters.transactions.simulation import PaymentChain
from routing_engine import Token

PATIENCE_S = 1.5
"""How long a customer waits for the slowest chain; what comes later is there for the next question."""
FRESH_S = 4.0
MOST_AT_ONCE = 4
"""Readings of one chain: an endpoint that hangs holds up no more threads than these."""
MOST_KEPT = 4096
MOST_A_MINUTE = 300
"""Readings of one chain, from however many addresses they are asked for: strangers use up no operator's quota."""
MINUTE_S = 60.0

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class _Reading:
    """One reading of one chain, under way or done; None is what it has found until it has found something."""

    begun_at: float
    ended_at: float = 0.0
    found: Mapping[Token, int] | None = None
    done: threading.Event = field(default_factory=threading.Event)


class BalanceReader:
    """Reads balances; the same question again within seconds is put to no chain.

    Parameters
    ----------
    chains : mapping of int to PaymentChain
        By chain id.
    stopwatch : callable
        Monotonic seconds.
    """

    def __init__(self, chains: Mapping[int, PaymentChain], *, stopwatch: Callable[[], float] = time.monotonic) -> None:
        self._chains, self._stopwatch = chains, stopwatch
        self._slots = {chain_id: threading.BoundedSemaphore(MOST_AT_ONCE) for chain_id in chains}
        self._lock = threading.Lock()
        self._readings: dict[tuple[int, str, tuple[Token, ...]], _Reading] = {}
        self._begun: defaultdict[int, deque[float]] = defaultdict(deque)

    def read(
        self, wanted: Mapping[int, tuple[Token, ...]], holder: str, patience_s: float
    ) -> Mapping[int, Mapping[Token, int]]:
        """Return what somebody holds, by chain; a chain that has not answered in time is missing.

        Parameters
        ----------
        wanted : mapping of int to tuple of Token
            By chain id; the chain's coin among them, if it is wanted.
        holder : str
            Address in lower case.
        patience_s : float
            How long a reading may take, and so all of them together, which begin at once.
        """
        readings = {chain_id: self._begin(chain_id, tokens, holder) for chain_id, tokens in wanted.items()}
        found: dict[int, Mapping[Token, int]] = {}
        for chain_id, reading in readings.items():
            if reading is None:
                continue
            # Whoever asks while it is under way waits no longer than the first: a chain that hangs holds nobody up.
            reading.done.wait(max(0.0, reading.begun_at + patience_s - self._stopwatch()))
            if reading.done.is_set() and reading.found is not None:
                found[chain_id] = reading.found
        return found

    def _begin(self, chain_id: int, tokens: tuple[Token, ...], holder: str) -> _Reading | None:
        """Return the reading that is under way or fresh, or begin one; None where too many are under way."""
        key, now = (chain_id, holder, tokens), self._stopwatch()
        with self._lock:
            self._forget(now)
            known = self._readings.get(key)
            if known is not None:
                return known
            slots = self._slots.get(chain_id)
            if slots is None or len(self._readings) >= MOST_KEPT or not self._is_affordable(chain_id, now):
                return None
            if not slots.acquire(blocking=False):
                return None
            self._begun[chain_id].append(now)
            reading = self._readings[key] = _Reading(begun_at=now)
        threading.Thread(target=self._read, args=(key, reading), name="balances", daemon=True).start()
        return reading

    def _is_affordable(self, chain_id: int, now: float) -> bool:
        begun = self._begun[chain_id]
        while begun and begun[0] <= now - MINUTE_S:
            begun.popleft()
        return len(begun) < MOST_A_MINUTE

    def _read(self, key: tuple[int, str, tuple[Token, ...]], reading: _Reading) -> None:
        chain_id, holder, tokens = key
        try:
            reading.found = self._chains[chain_id].read_balances(tokens, holder)
        except AdapterError as error:
            log.info("balances_unknown", chain_id=chain_id, reason=str(error))
        finally:
            reading.ended_at = self._stopwatch()
            reading.done.set()
            self._slots[chain_id].release()

    def _forget(self, now: float) -> None:
        old = [key for key, each in self._readings.items() if each.done.is_set() and now - each.ended_at > FRESH_S]
        for key in old:
            del self._readings[key]
