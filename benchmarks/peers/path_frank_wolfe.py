"""Fynd's ``path_frank_wolfe``, re-created: see `benchmarks.peers.fynd`. In Python, so that its times say nothing."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.harness.answer import Answer
from benchmarks.peers.fynd.path_frank_wolfe import PathFrankWolfe
from benchmarks.peers.this_router import answer_route
from routing_engine import Router, RouteRequest, Side, Snapshot


class PathFrankWolfeSolver:
    """Up to three markets in series, as its own benchmark has it; an output can't be asked for."""

    name, version = "path_frank_wolfe", "re-created"

    def __init__(self) -> None:
        self._solver: PathFrankWolfe | None = None

    def load(self, snapshot: Snapshot) -> None:
        """Take markets and reference prices from a router, and nothing else of it."""
        self._solver = PathFrankWolfe(Router(snapshot))

    def solve(self, request: RouteRequest, gas_values: Mapping[int, float]) -> Answer | None:
        """Return its best division."""
        assert self._solver is not None
        route = None if request.side == Side.EXACT_OUT else self._solver.find_route(request)
        return answer_route(route) if route else None
