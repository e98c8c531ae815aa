"""The threads that search for routes: as many as there are processors for them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from routing_engine import Router, RouteRequest, RouteResult


class SearchThreads:
    """Searches one after the other, however many requests wait for them.

    A search of 20,000 pools goes through 20 MB of its thread's own. Sixteen that take turns on one processor empty its
    caches for each other, take a quarter longer, and all of them end late (ADR 85).

    Parameters
    ----------
    count : int
        How many searches run at once. The threads begin with the first searches, so a process can be forked before.
    """

    def __init__(self, count: int = 1) -> None:
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="search")

    def find_routes(self, router: Router, request: RouteRequest) -> RouteResult:
        """Return what `router` finds, after those who came before; raises as `Router.find_routes`."""
        return self._threads.submit(router.find_routes, request).result()
