"""Cross-chain routes for the API."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from api.domain.errors import NotFound, Problem
from api.services.market.source_problems import list_left_out
from api.services.resources import Resources
from api.services.routing.query import RouteQuery
from api.services.routing.serializers import RouteWriter
from routing_engine import InvalidRequest, Route, RouteResult, Status, Unavailable
from routing_engine.result import NO_PATH

if TYPE_CHECKING:
    from routing_engine import Router, Snapshot


class RouteNotFound(NotFound):
    """No route serves the request; one problem for each protocol: its name, and why it could not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundRoutes:
    """What a search has found.

    Parameters
    ----------
    result : RouteResult
        The routes, best first.
    snapshot : Snapshot
        The market that was searched.
    body : dict
        The best route as the interface shows it, with the others as `alternatives` if they were asked for.
    """

    result: RouteResult
    snapshot: Snapshot
    body: dict[str, Any]


def find_routes(resources: Resources, query: RouteQuery) -> dict[str, Any]:
    """Return the best route that is found, with `alternatives` if they were asked for.

    Raises
    ------
    RouteNotFound
        If there is none.
    """
    return search_routes(resources, query).body


def search_routes(resources: Resources, query: RouteQuery) -> FoundRoutes:
    """Return the routes found, and how they are written; raises as `find_routes`."""
    router, sources = resources.market.current()
    missing = list_left_out(sources)
    with unknown_is_no_route(router):
        result = resources.searches.find_routes(router, query.request)
    require_routes(result, missing)
    body = write_routes(make_route_writer(resources, router, query), result)
    return FoundRoutes(
        result=result, snapshot=router.snapshot, body={**body, "unavailable": missing} if missing else body
    )


@contextmanager
def unknown_is_no_route(router: Router) -> Iterator[None]:
    """Turn what the market does not have, a listed token or what it lost meanwhile, into `RouteNotFound`."""
    try:
        yield
    except InvalidRequest as error:
        problems = (Problem(path=protocol, message=NO_PATH) for protocol in sorted(router.graph.protocols))
        raise RouteNotFound(error.message, *problems) from error


def make_route_writer(resources: Resources, router: Router, query: RouteQuery) -> RouteWriter:
    """Prepare to write what `router` answers to `query`."""
    snapshot = router.snapshot
    return RouteWriter(
        query=query, snapshot_id=snapshot.id, gas_prices=snapshot.gas_prices, at=resources.clock.now()
    )  # fmt: skip


def write_routes(writer: RouteWriter, result: RouteResult) -> dict[str, Any]:
    """Return the first of the routes found, with the others as its `alternatives` if they were asked for."""
    first, *others = result.routes
    body = writer.route(first, result.certificate) | {"incompleteReason": explain_incomplete(result)}
    if result.request.alternatives:
        body["alternatives"] = [*map(writer.route, others)]
    if writer.tokens:
        body["tokens"] = writer.tokens
    return body


def explain_incomplete(result: RouteResult) -> str:
    """Say why a search ended before all was looked at; nothing where it ended by itself."""
    if result.is_complete:
        return ""
    work = result.request.work_budget
    return f"the search ended with its budget of work ({work} units); a better route may exist"


def require_routes(result: RouteResult, missing: Sequence[Mapping[str, str]] = ()) -> tuple[Route, ...]:
    """Return the routes found, best first.

    Parameters
    ----------
    result : RouteResult
        Of the search.
    missing : sequence of mapping
        The sources that could not be searched, as `list_left_out` gives them.

    Raises
    ------
    RouteNotFound
        If there is none.
    """
    if result.routes:
        return result.routes
    absent = (Problem(path=source["protocol"], message=source["reason"]) for source in missing)
    raise RouteNotFound(_write_message(result), *map(_write_problem, result.unavailable), *absent)


def _write_message(result: RouteResult) -> str:
    request = result.request
    if result.status is Status.SEARCH_ENDED:
        return f"No route from {request.token_in} to {request.token_out} was found: {explain_incomplete(result)}"
    if result.status is Status.INSUFFICIENT_LIQUIDITY:
        return f"No route from {request.token_in} to {request.token_out} can take this amount"
    return f"No route of at most {request.max_hops} steps leads from {request.token_in} to {request.token_out}"


def _write_problem(entry: Unavailable) -> Problem:
    return Problem(path=entry.protocol, message=f"{entry.reason}: {entry.detail}" if entry.detail else entry.reason)
