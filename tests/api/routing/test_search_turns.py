"""Searches take turns: many at once make each other slow, and each needs memory of its own."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event, Lock
from typing import Any, cast

import pytest

from api.services.market.search_turns import SearchTurns
from routing_engine import InvalidRequest, Router, RouteRequest

ASKED = 8


class SlowRouter:
    """Counts who searches it at the same time, and notes in which order."""

    def __init__(self) -> None:
        self.asked: list[Any] = []
        self.most = self.lent = self._now = 0
        self._lock, self._never = Lock(), Event()

    def find_routes(self, request: Any) -> Any:
        """Give the request back after a while."""
        with self._lock:
            self.asked.append(request)
            self._now += 1
            self.most = max(self.most, self._now)
        self._never.wait(0.01)
        with self._lock:
            self._now -= 1
        if request == "wrong":
            raise InvalidRequest("amount", "is wrong")
        return request

    def lend_memory(self) -> None:
        """Note that a thread has given its memory away."""
        self.lent += 1


def search(searches: SearchTurns, router: SlowRouter, asked: str) -> Any:
    return searches.find_routes(cast(Router, router), cast(RouteRequest, asked))


@pytest.mark.parametrize("count", [1, 2])
def test_no_more_are_searched_at_once_than_there_are_turns(count: int) -> None:
    router, searches = SlowRouter(), SearchTurns(count)
    with ThreadPoolExecutor(ASKED) as callers:
        asked = [str(number) for number in range(3 * ASKED)]
        found = callers.map(lambda each: search(searches, router, each), asked)
        assert [*found] == asked
    assert router.most == count
    assert router.lent == len(asked)


def test_who_came_first_is_first() -> None:
    router, searches = SlowRouter(), SearchTurns()
    with ThreadPoolExecutor(ASKED) as callers:
        searches._wait_for_turn()
        found = []
        for number in range(ASKED):
            found.append(callers.submit(search, searches, router, str(number)))
            while len(searches._line) <= number:
                Event().wait(0.001)
        searches._pass_turn()
        assert [each.result() for each in found] == router.asked == [str(number) for number in range(ASKED)]
    assert router.most == 1


def test_a_search_fails_to_who_asked() -> None:
    router, searches = SlowRouter(), SearchTurns()
    with pytest.raises(InvalidRequest, match="is wrong"):
        search(searches, router, "wrong")
    assert search(searches, router, "right") == "right"
