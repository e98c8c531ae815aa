"""The best single path of a request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any

from routing_engine.request import MAX_HOPS, RouteRequest
from routing_engine.route import Route, Side
from routing_engine.search.allocations.allocation import Part
from routing_engine.search.paths.path_search import Candidate, list_edges
from routing_engine.values import seal, settle_late


@settle_late("price_impact", float, attrgetter("price_impact"))
@seal
@dataclass(frozen=True, slots=True)
class Single:
    """The best single path, exact, and what the same search liked besides.

    Parameters
    ----------
    route : Route
        The path.
    edges : tuple of int
        Its forward edges.
    others : sequence of Candidate
        The paths that are not the best, best first.
    price_impact : float
        The route's; it holds the route until it is first read, as not every request asks, and some ask often.
    """

    route: Route
    edges: tuple[int, ...]
    others: Sequence[Candidate]
    price_impact: float

    def get_part(self) -> Part:
        """Return the path and its input: where a split begins."""
        return self.edges, self.route.amount_in

    def list_starts(self) -> tuple[list[Part], float, list[tuple[int, ...]]]:
        """List where `Splitter.allocate` begins."""
        return [self.get_part()], self.price_impact, self.list_paths()

    def replace_by(self, edges: tuple[int, ...], route: Route) -> Single:
        """Return a better path, found elsewhere, before this one."""
        own = [*self.edges, *[-1] * (MAX_HOPS - len(self.edges))]
        unread: Any = route
        return Single(route, edges, [([0.0, 0.0], own), *self.others], price_impact=unread)

    def list_paths(self) -> list[tuple[int, ...]]:
        """List its edges and those of the others, best first."""
        return [self.edges, *map(list_edges, self.others)]


def turn_around(request: RouteRequest, route: Route) -> RouteRequest | None:
    """Return a request from the other end: to buy what a route gives, or to sell what it takes; None where it is 0."""
    is_exact_in = request.side == Side.EXACT_IN
    amount = route.amount_out if is_exact_in else route.amount_in
    side = Side.EXACT_OUT if is_exact_in else Side.EXACT_IN
    return replace(request, side=side, amount=amount) if amount else None
