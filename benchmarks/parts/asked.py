"""Requests asked once each, with both clocks of that first call."""

from __future__ import annotations

import time
from dataclasses import dataclass

from routing_engine import Router, RouteRequest, RouteResult


@dataclass(frozen=True, slots=True)
class Asked:
    """A request, its answer, and what the first call took.

    Parameters
    ----------
    request : RouteRequest
        The question.
    result : RouteResult
        The answer.
    wall_ms, cpu_ms : float
        Of that one call: what the caller waited, and the processor's time for this thread.
    """

    request: RouteRequest
    result: RouteResult
    wall_ms: float
    cpu_ms: float


def ask(router: Router, request: RouteRequest) -> Asked:
    """Ask once, and read both clocks."""
    wall, cpu = time.perf_counter(), time.thread_time()
    result = router.find_routes(request)
    cpu, wall = time.thread_time() - cpu, time.perf_counter() - wall
    return Asked(request, result, 1e3 * wall, 1e3 * cpu)
