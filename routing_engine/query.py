"""One request on one graph: what searches, divisions, alternatives and Pareto sets share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from routing_engine.budget import Budget
from routing_engine.errors import QuoteRefused
from routing_engine.graph import Graph
from routing_engine.model import Hop
from routing_engine.request import RouteRequest
from routing_engine.route import Route, Side
from routing_engine.search import Candidate, Search, allowed_markets, replay, replay_best
from routing_engine.split import Splitter
from routing_engine.valuation import Valuation

REPEATS = 4
"""How often a search starts again without the markets that refused its candidates' exact amounts."""

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Single:
    """The best single path, exact, and what the same search liked besides.

    Parameters
    ----------
    route : Route
        The path.
    edges : tuple of int
        Its forward edges.
    others : tuple of Candidate
        Paths that were not replayed, best first.
    """

    route: Route
    edges: tuple[int, ...]
    others: tuple[Candidate, ...]


class Query:
    """A request in progress.

    Parameters
    ----------
    search : Search
        On the graph to route over.
    request : RouteRequest
        The question.
    valuation : Valuation
        Of gas, at the snapshot's prices and the request's own.
    budget : Budget
        Running.
    """

    def __init__(self, search: Search, request: RouteRequest, valuation: Valuation, budget: Budget) -> None:
        self.graph: Graph = search.graph
        self.request = request
        self.budget = budget
        self.allowed = allowed_markets(self.graph, request)
        self._search = search
        self._objective = request.objective
        self._valuation = valuation

    def single(self, allowed: Mask, max_hops: int) -> Single | None:
        """Return the best single path over allowed markets; None where a token is unknown here, or nothing serves."""
        request = self.request
        if request.token_in not in self.graph.index or request.token_out not in self.graph.index:
            return None
        for _ in range(REPEATS):
            refused: dict[str, QuoteRefused] = {}
            candidates = self._search.candidates(request, self._valuation.gas_cost, allowed, max_hops)
            replayed = replay_best(self.graph, candidates, request, refused)
            if replayed:
                priced = [(self._route(hops), candidate) for candidate, hops in replayed]
                route, best = min(priced, key=lambda each: self.key(each[0]))
                return Single(route, best.numbers, tuple(each for each in candidates if each is not best))
            if not refused:
                break
            allowed = self.without(allowed, refused)
        return None

    def divided(self, single: Single, allowed: Mask) -> list[Route]:
        """Return the single path's route, and before it a network of several paths where that is better."""
        if self.request.max_splits == 1 or self._objective.time_first or self.budget.is_spent():
            return [single.route]
        splitter = Splitter(self.graph, self.request, self._valuation.gas_cost, allowed, self._search.scratch())
        hops = splitter.split(single.edges, single.route.amount_in)
        return self.ranked([self._route(hops), single.route]) if hops else [single.route]

    def replayed(self, candidate: Candidate) -> list[Route]:
        """Return a candidate as an exact route; nothing where a market declines."""
        try:
            hops = replay(self.graph.edges_ends(candidate.numbers), self.request.side, self.request.amount)
        except QuoteRefused:
            return []
        return [self._route(hops)]

    def without(self, allowed: Mask, market_ids: Iterable[str]) -> Mask:
        """Return `allowed` less these markets."""
        less = allowed.copy()
        less[[self.graph.market_index[market_id] for market_id in market_ids]] = False
        return less

    def ranked(self, routes: Iterable[Route]) -> list[Route]:
        """Sort routes, best first by the request's order."""
        return sorted(routes, key=self.key)

    def key(self, route: Route) -> tuple[float, float]:
        """Sort key of a route; smaller is better."""
        return self._objective.rank(route.net_amount, route.fill_time_s, exact_out=route.side is Side.EXACT_OUT)

    def _route(self, hops: tuple[Hop, ...]) -> Route:
        return self._valuation.route(Side(self.request.side), hops)
