"""What a batch asks of a router, so that the router can call the batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from routing_engine.deadline import Clock
from routing_engine.request import RouteRequest
from routing_engine.result import RouteResult
from routing_engine.snapshot.snapshot import Snapshot


class Searcher(Protocol):
    """Answers requests on one snapshot; `routing_engine.router.Router` is one."""

    @property
    def snapshot(self) -> Snapshot:
        """The markets that it searches."""

    @property
    def clock(self) -> Clock:
        """By which searches are timed."""

    def find_routes(self, request: RouteRequest) -> RouteResult:
        """Return the best routes."""


BuildSearcher = Callable[[Snapshot], Searcher]
"""Makes one on a snapshot; other processes are sent it by name, so it is a class or a function of a module."""
