"""One request on one graph: what searches, allocations, alternatives and Pareto sets share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from routing_engine.certificate import Certificate
from routing_engine.deadline import Budget
from routing_engine.errors import QuoteRefused
from routing_engine.graph.gas_valuation import Valuation
from routing_engine.graph.graph import Graph
from routing_engine.model import Hop
from routing_engine.request import USUAL_HOPS, RouteRequest
from routing_engine.route import Route, Side
from routing_engine.search.allocation import Allocation, Part
from routing_engine.search.allocation_replay import replay_allocation
from routing_engine.search.approach import approach_amount
from routing_engine.search.path_search import Candidate, Search, mask_allowed_markets, replay, replay_best
from routing_engine.search.split import Splitter

REPEATS = 4
"""How often a search starts again without the markets that refused its candidates' exact amounts."""

PARTS, SMALLEST_PART = 4, 4**8
"""Where one path is not enough, one for a quarter is looked for, then for a quarter of that: down to this part."""

HOPELESS_IMPACT = 0.9999
"""Part of the price that a single path may lose. Where it is more, the amount is so far beyond all that there is to buy
that it is not divided: nearly all of it would be lost."""

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


@dataclass(frozen=True, slots=True)
class CertifiedRoutes:
    """Routes of a request, best first, and how far the first can be from the best there is."""

    routes: list[Route]
    certificate: Certificate


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
        self.allowed = mask_allowed_markets(self.graph, request)
        self._search = search
        self._objective = request.objective
        self._valuation = valuation

    def find_single(self, allowed: Mask, max_hops: int, amount: int | None = None) -> Single | None:
        """Return the best single path over allowed markets, of the request's amount or of another.

        None where a token is unknown here, or nothing serves.
        """
        request = self.request if amount is None else replace(self.request, amount=amount)
        if request.token_in not in self.graph.index or request.token_out not in self.graph.index:
            return None
        for _ in range(REPEATS):
            refused: dict[str, QuoteRefused] = {}
            candidates = self._search.find_candidates(request, self._valuation.gas_cost, allowed, max_hops)
            replayed = replay_best(self.graph, candidates, request, refused)
            if replayed:
                priced = [(self._build_route(hops), candidate) for candidate, hops in replayed]
                route, best = min(priced, key=lambda each: self.rank_key(each[0])) if len(priced) > 1 else priced[0]
                return Single(route, best.numbers, tuple(each for each in candidates if each is not best))
            if not refused:
                break
            allowed = self.exclude(allowed, refused)
        return None

    def split_single(self, single: Single, allowed: Mask) -> CertifiedRoutes:
        """Return the single path's route, and before it several paths where that is better."""
        splitter = self._create_splitter(allowed, len(single.edges))
        starts = [(single.edges, single.route.amount_in)]
        is_exact_out = self.request.side == Side.EXACT_OUT
        is_hopeless = not is_exact_out and single.route.price_impact > HOPELESS_IMPACT
        whole = self.request.max_splits == 1 or self._objective.time_first or self.budget.is_spent() or is_hopeless
        paths = (single.edges, *(candidate.numbers for candidate in single.others))
        if whole:
            allocation = splitter.judge(starts)
        elif is_exact_out:
            allocation = approach_amount(splitter, starts, single.route.price_impact, paths)
        else:
            allocation = splitter.allocate(starts, single.route.price_impact, paths)
        longer = allocation if whole else splitter.extend(allocation)
        hops = self._replay_other(splitter, longer, single)
        if hops is None and longer is not allocation:  # what rounding leaves of a full market may have no other way
            longer, hops = allocation, self._replay_other(splitter, allocation, single)
        routes = self.rank([self._build_route(hops), single.route]) if hops else [single.route]
        return CertifiedRoutes(routes, self._certify(splitter, longer, routes[0]))

    def _replay_other(self, splitter: Splitter, allocation: Allocation, single: Single) -> tuple[Hop, ...] | None:
        """Replay an allocation that is not just the single path; None where it is, or where a market declines."""
        is_same = allocation.count == 1 and (*allocation.list_parts()[0][0],) == single.edges
        return None if is_same else replay_allocation(splitter, allocation)

    def split_parts(self, parts: Sequence[Part], allowed: Mask) -> CertifiedRoutes | None:
        """Return a split that begins with paths which together take the amount; None where it cannot be replayed."""
        splitter = self._create_splitter(allowed, max(len(edges) for edges, _ in parts))
        # Where markets are full they take no more: the parts leave room, and may serve as they are.
        for find in (splitter.judge if self.request.max_splits == 1 else splitter.allocate, splitter.judge):
            found = self._certify_replay(splitter, find(parts))
            if found:
                return found
        return None

    def split_by_steps(self, allowed: Mask) -> CertifiedRoutes | None:
        """Return a split that grows from the best path of a part of the amount; None where none is found."""
        part, single = self.request.amount, None
        while single is None and part * SMALLEST_PART >= self.request.amount and not self.budget.is_spent():
            part //= PARTS
            single = self.find_single(allowed, self.request.max_hops, part) if part else None
        if single is None:
            return None
        splitter = self._create_splitter(allowed, len(single.edges))
        paths = tuple(candidate.numbers for candidate in single.others)
        starts = [(single.edges, single.route.amount_in)]
        return self._certify_replay(splitter, approach_amount(splitter, starts, single.route.price_impact, paths))

    def _certify_replay(self, splitter: Splitter, allocation: Allocation) -> CertifiedRoutes | None:
        hops = replay_allocation(splitter, allocation)
        if not hops:
            return None
        route = self._build_route(hops)
        return CertifiedRoutes([route], self._certify(splitter, allocation, route))

    def _certify(self, splitter: Splitter, allocation: Allocation, route: Route) -> Certificate:
        max_hops, gas_aware = allocation.max_hops, route.gas_priced
        if route.side is Side.EXACT_OUT:
            least = splitter.bound_input(allocation, float(route.amount_in_gross))
            return Certificate.of_input(float(route.amount_in_gross), least, max_hops, gas_aware=gas_aware)
        return Certificate.of_output(float(route.amount_out_net), allocation.bound, max_hops, gas_aware=gas_aware)

    def certify(self, route: Route, allowed: Mask) -> Certificate:
        """Judge a route by a bound over allowed markets, among which are its own."""
        if self.budget.is_spent():
            reason = "the budget of time was spent before the bound was computed"
            return Certificate.missing(reason, self.request.max_hops, gas_aware=route.gas_priced)
        paths = route.paths[: self.request.max_splits]
        whole = route.amount_in / sum(path.amount_in for path in paths)
        parts = [([*map(self._find_edge, path.hops)], path.amount_in * whole) for path in paths if path.amount_in]
        splitter = self._create_splitter(allowed, max(len(path.hops) for path in paths))
        return self._certify(splitter, splitter.judge(parts), route)

    def _find_edge(self, hop: Hop) -> int:
        """Return the forward edge of a hop."""
        graph, ends = self.graph, (self.graph.index[hop.token_in], self.graph.index[hop.token_out])
        edges = graph.find_edges(hop.market_id)
        return int(next(edge for edge in edges if (graph.source[edge], graph.forward.edges["other"][edge]) == ends))

    def replay_candidate(self, candidate: Candidate) -> list[Route]:
        """Return a candidate as an exact route; nothing where a market declines."""
        try:
            hops = replay(self.graph.edges_ends(candidate.numbers), self.request.side, self.request.amount)
        except QuoteRefused:
            return []
        return [self._build_route(hops)]

    def exclude(self, allowed: Mask, market_ids: Iterable[str]) -> Mask:
        """Return `allowed` less these markets."""
        less = allowed.copy()
        less[[self.graph.market_index[market_id] for market_id in market_ids]] = False
        return less

    def rank(self, routes: Iterable[Route]) -> list[Route]:
        """Sort routes, best first by the request's order."""
        return sorted(routes, key=self.rank_key)

    def rank_key(self, route: Route) -> tuple[float, float]:
        """Sort key of a route; smaller is better."""
        return self._objective.rank(route.net_amount, route.fill_time_s, exact_out=route.side is Side.EXACT_OUT)

    def _create_splitter(self, allowed: Mask, hops: int) -> Splitter:
        usual_hops = max(min(self.request.max_hops, USUAL_HOPS), hops)
        gas_cost, memory = self._valuation.gas_cost, self._search.get_memory()
        return Splitter(self.graph, self.request, gas_cost, allowed, memory, self.budget, usual_hops)

    def _build_route(self, hops: tuple[Hop, ...]) -> Route:
        return self._valuation.build_route(Side(self.request.side), hops)
