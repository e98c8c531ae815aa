"""Routes one after the other, each better than the one before, as they are found."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

from api.services.market.source_problems import list_left_out
from api.services.resources import Resources
from api.services.routing.query import RouteQuery
from api.services.routing.routes import make_route_writer, require_routes, unknown_is_no_route, write_routes

MAX_SECONDS = 30


def stream_routes(
    resources: Resources, query: RouteQuery, *, stopwatch: Callable[[], float] = time.monotonic
) -> Iterator[dict[str, Any]]:
    """Yield a message for each better route, then one that says which is the best.

    Parameters
    ----------
    stopwatch : callable
        Seconds; after `MAX_SECONDS` the best route so far is the last.

    Raises
    ------
    RouteNotFound
        If there is no route.
    """
    router, sources = resources.market.current()
    missing = list_left_out(sources)
    deadline = stopwatch() + MAX_SECONDS
    best = ""
    with unknown_is_no_route(router):
        for seq, result in enumerate(router.stream(query.request)):
            writer = make_route_writer(resources, router, query)
            require_routes(result, missing)
            route = write_routes(writer, result)
            best = route["id"]
            yield {"type": "route", "seq": seq, "route": route}
            if stopwatch() >= deadline:
                break
    yield {"type": "done", "best": best, "unavailable": missing}
