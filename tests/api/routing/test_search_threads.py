"""Searches take turns: many at once make each other slow, and each thread keeps memory of its own."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event, Lock, get_ident
from typing import Any, cast

import pytest

from api.services.market.search_threads import SearchThreads
from routing_engine import InvalidRequest, Router, RouteRequest

ASKED = 8


class SlowRouter:
    """Counts who searches it at the same time."""

    def __init__(self) -> None:
        self.threads: set[int] = set()
        self.most = self._now = 0
        self._lock, self._never = Lock(), Event()

    def find_routes(self, request: Any) -> Any:
        """Give the request back after a while."""
        with self._lock:
            self._now += 1
            self.most = max(self.most, self._now)
            self.threads.add(get_ident())
        self._never.wait(0.01)
        with self._lock:
            self._now -= 1
        if request == "wrong":
            raise InvalidRequest("amount", "is wrong")
        return request


@pytest.mark.parametrize("count", [1, 2])
def test_no_more_are_searched_at_once_than_there_are_threads(count: int) -> None:
    router, searches = SlowRouter(), SearchThreads(count)
    with ThreadPoolExecutor(ASKED) as callers:
        asked = [str(number) for number in range(3 * ASKED)]
        found = callers.map(lambda each: searches.find_routes(cast(Router, router), cast(RouteRequest, each)), asked)
        assert [*found] == asked
    assert router.most <= count
    assert len(router.threads) <= count


def test_a_search_fails_to_who_asked() -> None:
    router, searches = cast(Router, SlowRouter()), SearchThreads()
    with pytest.raises(InvalidRequest, match="is wrong"):
        searches.find_routes(router, cast(RouteRequest, "wrong"))
    assert searches.find_routes(router, cast(RouteRequest, "right")) == "right"
