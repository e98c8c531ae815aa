"""Searches for routes take turns: as many at once as there are processors for them."""

from __future__ import annotations

from collections import deque
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from routing_engine import Router, RouteRequest, RouteResult


class SearchTurns:
    """Lets few threads search at once, in the order in which they came, each within the thread that asks.

    A search of 20,000 pools goes through 20 MB of its own. Sixteen that take turns on one processor empty its caches
    for each other, take a quarter longer, and all of them end late (ADR 85). To wake a thread that does nothing but
    search, and to be woken by it, takes as long as a short search (ADR 141).

    Parameters
    ----------
    count : int
        How many search at once.
    """

    def __init__(self, count: int = 1) -> None:
        self._free = count
        self._lock = Lock()
        self._line: deque[Lock] = deque()

    def find_routes(self, router: Router, request: RouteRequest) -> RouteResult:
        """Return what `router` finds, after those who came before; raises as `Router.find_routes`."""
        self._wait_for_turn()
        try:
            return router.find_routes(request)
        finally:
            router.lend_memory()
            self._pass_turn()

    def _wait_for_turn(self) -> None:
        with self._lock:
            if self._free > 0:
                self._free -= 1
                return
            place = Lock()
            place.acquire()
            self._line.append(place)
        place.acquire()

    def _pass_turn(self) -> None:
        """Give the turn to the first in the line."""
        with self._lock:
            if self._line:
                self._line.popleft().release()
            else:
                self._free += 1
