"""Questions that strangers have put to chains: in threads of their own, for which nobody waits long."""

from __future__ import annotations

import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

FRESH_S = 4.0
MOST_AT_ONCE = 4
"""Inquiries at one chain: an endpoint that hangs holds up no more threads than these."""
MOST_KEPT = 4096
MINUTE_S = 60.0

Found = TypeVar("Found")


@dataclass(slots=True)
class Inquiry(Generic[Found]):
    """One inquiry at one chain, under way or done; None is what it has found until it has found something."""

    begun_at: float
    ended_at: float = 0.0
    found: Found | None = None
    done: threading.Event = field(default_factory=threading.Event)

    def wait(self, seconds: float) -> Found | None:
        """Return what was found, or None where nothing is after so many seconds."""
        self.done.wait(max(0.0, seconds))
        return self.found if self.done.is_set() else None


class Inquiries(Generic[Found]):
    """Inquiries of one kind; the same one again within seconds is put to no chain.

    Parameters
    ----------
    chain_ids : collection of int
        The chains that may be asked.
    most_a_minute : int
        Inquiries at one chain, from however many addresses: strangers use up no operator's quota.
    stopwatch : callable
        Monotonic seconds.
    """

    def __init__(
        self, chain_ids: Collection[int], *, most_a_minute: int, stopwatch: Callable[[], float] = time.monotonic
    ) -> None:
        self._most_a_minute, self._stopwatch = most_a_minute, stopwatch
        self._slots = {chain_id: threading.BoundedSemaphore(MOST_AT_ONCE) for chain_id in chain_ids}
        self._lock = threading.Lock()
        self._kept: dict[Hashable, Inquiry[Found]] = {}
        self._begun: defaultdict[int, deque[float]] = defaultdict(deque)

    def begin(self, chain_id: int, question: Hashable, ask: Callable[[], Found | None]) -> Inquiry[Found] | None:
        """Return the inquiry that is under way or fresh, or begin one; None where too many are, or were a while ago.

        Parameters
        ----------
        chain_id : int
            The chain that is asked.
        question : hashable
            All that the answer depends on: whoever puts the same question to the same chain gets the same answer.
        ask : callable
            Asks the chain, in another thread; answers None where nothing is to be had, and raises nothing.
        """
        key, now = (chain_id, question), self._stopwatch()
        with self._lock:
            self._forget(now)
            known = self._kept.get(key)
            if known is not None:
                return known
            slots = self._slots.get(chain_id)
            if slots is None or len(self._kept) >= MOST_KEPT or not self._is_affordable(chain_id, now):
                return None
            if not slots.acquire(blocking=False):
                return None
            self._begun[chain_id].append(now)
            inquiry = self._kept[key] = Inquiry(begun_at=now)
        threading.Thread(target=self._run, args=(inquiry, ask, slots), name="inquiry", daemon=True).start()
        return inquiry

    def wait(self, inquiry: Inquiry[Found], patience_s: float) -> Found | None:
        """Return what an inquiry has found so many seconds after its beginning, or None.

        Whoever asks while it is under way waits no longer than the first: a chain that hangs holds nobody up.
        """
        return inquiry.wait(inquiry.begun_at + patience_s - self._stopwatch())

    def _is_affordable(self, chain_id: int, now: float) -> bool:
        begun = self._begun[chain_id]
        while begun and begun[0] <= now - MINUTE_S:
            begun.popleft()
        return len(begun) < self._most_a_minute

    def _run(self, inquiry: Inquiry[Found], ask: Callable[[], Found | None], slots: threading.BoundedSemaphore) -> None:
        try:
            inquiry.found = ask()
        finally:
            inquiry.ended_at = self._stopwatch()
            inquiry.done.set()
            slots.release()

    def _forget(self, now: float) -> None:
        old = [key for key, each in self._kept.items() if each.done.is_set() and now - each.ended_at > FRESH_S]
        for key in old:
            del self._kept[key]
