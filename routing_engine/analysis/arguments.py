"""What callers give to analyses. Each function raises `InvalidRequest`, which names the argument and the remedy."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from numbers import Real
from typing import Any

from routing_engine.errors import InvalidRequest
from routing_engine.request import RouteRequest
from routing_engine.request_fields import show
from routing_engine.resolution import require_snapshot
from routing_engine.route import Route
from routing_engine.router import Router
from routing_engine.snapshot.snapshot import Snapshot


def require_router(router: object) -> Router:
    """Return a router; refuse anything else, such as a snapshot."""
    if not isinstance(router, Router):
        raise InvalidRequest("router", f"must be a Router, not {show(router)}; make one: Router(snapshot)")
    return router


def require_request(request: object) -> RouteRequest:
    """Return a request; refuse anything else."""
    if not isinstance(request, RouteRequest):
        remedy = "make one: RouteRequest(token_in=…, token_out=…, amount=…)"
        raise InvalidRequest("request", f"must be a RouteRequest, not {show(request)}; {remedy}")
    return request


def require_route(route: object) -> Route:
    """Return a route; refuse anything else, such as a result."""
    if not isinstance(route, Route):
        raise InvalidRequest("route", f"must be a Route, not {show(route)}; a result has one: result.best()")
    return route


def read_snapshots(snapshots: Any) -> list[Snapshot]:
    """Return several snapshots, at least one; refuse anything else, such as a single one."""
    if isinstance(snapshots, Snapshot | str | bytes) or not isinstance(snapshots, Iterable):
        raise InvalidRequest("snapshots", f"must be several, not {show(snapshots)}; give a list: [snapshot]")
    found = [require_snapshot(each) for each in snapshots]
    if not found:
        raise InvalidRequest("snapshots", "are none; give at least one that is later than the route")
    return found


def read_numbers(field: str, numbers: Any, example: str) -> Sequence[float]:
    """Return finite numbers, at least one; refuse anything else, such as a single one, or text."""
    is_list = isinstance(numbers, Iterable) and not isinstance(numbers, str | bytes)
    found: list[Any] = list(numbers) if is_list else []
    are_numbers = all(isinstance(each, Real) for each in found) and bool not in {*map(type, found)}
    if not found or not are_numbers or not all(map(math.isfinite, found)):
        raise InvalidRequest(field, f"must be a list of numbers, such as {example}, not {show(numbers)}")
    return found
