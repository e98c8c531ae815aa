"""One request on one graph: what searches, allocations, alternatives and Pareto sets share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from routing_engine.certificate import Bounds, Certificate
from routing_engine.deadline import QUOTE, Budget
from routing_engine.errors import QuoteRefused
from routing_engine.graph.gas_valuation import Valuation
from routing_engine.graph.graph import Graph
from routing_engine.jit.direct_call import Compiled
from routing_engine.kernels.bound.payable import bound_payable
from routing_engine.market import UNLIMITED
from routing_engine.model import Hop, Token
from routing_engine.request import MAX_HOPS, USUAL_HOPS, RouteRequest
from routing_engine.route import Route, Side
from routing_engine.search.allocations.allocation import Allocation
from routing_engine.search.paths.path_search import (
    NEAR,
    Candidate,
    Search,
    list_edges,
    mask_allowed_markets,
    replay,
    replay_best,
)
from routing_engine.search.paths.single import Single, turn_around
from routing_engine.search.splits.cost_bounds import bound_cost
from routing_engine.search.splits.rounding import allow_for_rounding
from routing_engine.search.splits.split import Splitter

_bound_payable = Compiled(bound_payable)

WIDE = 0.01
"""Relative gap from which on a bound by what markets can pay is looked at too."""

REPEATS = 4
"""How often a search starts again without the markets that refused its candidates' exact amounts."""

LOOKS = 4
"""How often a better path is looked for from the other end at most; each time but the last, one was found."""

Mask = npt.NDArray[np.bool_]


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
    without : frozenset of str
        Ids of markets that are left out, though the request admits them.
    """

    def __init__(
        self, search: Search, request: RouteRequest, valuation: Valuation, budget: Budget,
        without: frozenset[str] = frozenset(),
    ) -> None:  # fmt: skip
        self.graph: Graph = search.graph
        self.request = request
        self.budget = budget
        self.allowed = mask_allowed_markets(self.graph, request)
        if without:
            self.allowed = self.exclude(self.allowed, without & self.graph.market_index.keys())
        self._search, self._without, self._objective = search, without, request.objective
        self._valuation, self.gas_cost = valuation, valuation.gas_cost

    def find_single(self, allowed: Mask, max_hops: int, amount: int | None = None) -> Single | None:
        """Return the best single path over allowed markets, of this amount or of another; None where nothing serves."""
        if amount == 0:  # a part of an amount, of less than a unit
            return None
        request = self.request if amount is None else replace(self.request, amount=amount)
        if request.token_in not in self.graph.index or request.token_out not in self.graph.index:
            return None
        for _ in range(REPEATS):
            refused: dict[str, QuoteRefused] = {}
            candidates, replayed = self._find_best(request, allowed, max_hops, refused)
            self.budget.spend(QUOTE * max_hops * (len(replayed) + len(refused)))
            if replayed:
                best, hops = replayed[0]
                if len(replayed) == 1:
                    route = self.build_route(hops)
                else:
                    priced = [(self.build_route(hops), candidate) for candidate, hops in replayed]
                    route, best = min(priced, key=lambda each: self.rank_key(each[0]))
                candidates.remove(best)
                unread: Any = route
                single = Single(route, list_edges(best), candidates, price_impact=unread)
                return self._look_from_other_ends(single, request, allowed, max_hops)
            if not refused:
                break
            allowed = self.exclude(allowed, refused)
        return None

    def _look_from_other_ends(self, single: Single, request: RouteRequest, allowed: Mask, max_hops: int) -> Single:
        """Look for a better path from the other end, as long as one is found.

        Each search keeps a few labels for each token, and may lose a path that the other one keeps. Not so where each
        market may be met once only and has two tokens: of three hops, the last two can't have met what they lead to.
        """
        for _ in range(0 if max_hops <= NEAR and self.graph.layout.is_paired else LOOKS):
            before, single = single, self._look_from_other_end(single, request, allowed, max_hops)
            if single is before:
                break
        return single

    def _look_from_other_end(self, single: Single, request: RouteRequest, allowed: Mask, max_hops: int) -> Single:
        """Return what a search from the other end finds for what a path gives, or takes, if it is better."""
        opposite = turn_around(request, single.route)
        if opposite is None or self.budget.is_spent():
            return single
        candidates = self._search.find_candidates(
            opposite, self.gas_cost, allowed, max_hops, self.budget.work, is_narrow=True
        )
        edges = list_edges(candidates[0]) if candidates else single.edges
        if edges in single.list_paths():
            return single
        self.budget.spend(QUOTE * len(edges))
        other = next(iter(self.replay_path(edges, request.amount)), single.route)
        return single.replace_by(edges, other) if self.rank_key(other) < self.rank_key(single.route) else single

    def _find_best(
        self, request: RouteRequest, allowed: Mask, max_hops: int, refused: dict[str, QuoteRefused]
    ) -> tuple[list[Candidate], list[tuple[Candidate, tuple[Hop, ...]]]]:
        """Return candidates, and the best of them replayed; in narrow searches first, unless a market declines."""
        needs_others = request.alternatives > 0 or request.max_price_impact_bps is not None
        is_whole = needs_others or max_hops <= NEAR
        for is_narrow in (False,) if is_whole else (True, False):
            refused.clear()
            candidates = self._search.find_candidates(
                request, self.gas_cost, allowed, max_hops, self.budget.work, is_narrow=is_narrow
            )
            replayed = replay_best(self.graph, candidates, request, refused)
            if not refused:
                break
        return candidates, replayed

    def sell(self, amount: float, ends: tuple[Token, Token] | None = None) -> Query | None:
        """Return the same question, or other tokens', for an amount that is sold; None for no unit or too many."""
        if not 1.0 <= amount <= UNLIMITED:
            return None
        first, last = ends or (self.request.token_in, self.request.token_out)
        request = replace(self.request, side=Side.EXACT_IN, amount=int(amount), token_in=first, token_out=last)
        return Query(self._search, request, self._valuation, self.budget, self._without)

    def shorten(self, max_hops: int, max_splits: int) -> Query:
        """Return the same question with less to choose from."""
        hops, splits = min(max_hops, self.request.max_hops), min(max_splits, self.request.max_splits)
        request = replace(self.request, max_hops=hops, max_splits=splits)
        return Query(self._search, request, self._valuation, self.budget, self._without)

    def weigh_money(self) -> Query:
        """Return the same question by net amount alone, without alternatives and certificates."""
        request = replace(self.request, order="cheapest", value_of_time=None, alternatives=0, certify=False)
        return Query(self._search, request, self._valuation, self.budget, self._without)

    def certify_allocation(self, splitter: Splitter, allocation: Allocation, route: Route) -> Certificate:
        """Judge a route by the bound that its allocation came with."""
        max_hops, gas_aware = allocation.max_hops, route.gas_priced
        if route.side is Side.EXACT_OUT:
            gross = float(route.amount_in_gross)
            least = bound_cost(splitter, allocation, gross)
            least = allow_for_rounding(self.graph, splitter.problem, least, route, allocation.slope)
            return Certificate.of_input(gross, least, max_hops, gas_aware=gas_aware)
        closest = splitter.look_last(allocation)
        net, most = float(route.amount_out_net), Bounds(closest.bound, closest.flow_bound)
        if min(most) > net * (1.0 + WIDE):
            payable = _bound_payable(splitter.problem, float(route.amount_in), min(most))
            most = most._replace(of_flows=min(most.of_flows, payable))
        most = allow_for_rounding(self.graph, splitter.problem, most, route, allocation.slope)
        return Certificate.of_output(net, most, max_hops, gas_aware=gas_aware)

    def certify(self, route: Route, allowed: Mask) -> Certificate:
        """Judge a route by a bound over allowed markets, among which are its own.

        Merged flows, taken apart again, may have paths that are longer than those searched for. The others, scaled up
        to the whole amount, stand for all: they are where the bound begins, and whatever it begins with, it holds.
        """
        paths = [path for path in route.paths if len(path.hops) <= MAX_HOPS][: self.request.max_splits]
        reason = "" if paths else "all paths of the route are longer than those that are searched"
        if self.budget.is_spent():
            reason = "the budget of time or work was spent before the bound was computed"
        if reason:
            return Certificate.missing(reason, self.request.max_hops, gas_aware=route.gas_priced)
        whole = route.amount_in / sum(path.amount_in for path in paths)
        parts = [([*map(self.find_edge, path.hops)], path.amount_in * whole) for path in paths if path.amount_in]
        splitter = self.create_splitter(allowed, max(len(path.hops) for path in paths))
        return self.certify_allocation(splitter, splitter.judge(parts), route)

    def find_edge(self, hop: Hop) -> int:
        """Return the forward edge of a hop."""
        graph, ends = self.graph, (self.graph.index[hop.token_in], self.graph.index[hop.token_out])
        edges = graph.find_edges(hop.market_id)
        return int(next(edge for edge in edges if (graph.source[edge], graph.forward.edges["other"][edge]) == ends))

    def replay_path(self, edges: Iterable[int], amount: int | None = None) -> list[Route]:
        """Return a path of forward edges as an exact route of the amount; nothing where a market declines."""
        try:
            hops = replay(self.graph.edges_ends(edges), self.request.side, amount or self.request.amount)
        except QuoteRefused:
            return []
        return [self.build_route(hops)]

    def exclude(self, allowed: Mask, market_ids: Iterable[str]) -> Mask:
        """Return `allowed` less these markets."""
        less = allowed.copy()
        less[[self.graph.market_index[market_id] for market_id in market_ids]] = False
        return less

    def rank(self, routes: Iterable[Route]) -> list[Route]:
        """Sort routes, best first by the request's order."""
        routes = list(routes)
        if not self._objective.weighs_time:
            scores = [self._score(route, 0)[0] for route in routes]
            if len(set(scores)) == len(scores):  # times, which take longer to find, only tell equal ones apart
                return [routes[place] for place in sorted(range(len(scores)), key=scores.__getitem__)]
        return sorted(routes, key=self.rank_key)

    def rank_key(self, route: Route) -> tuple[float, float]:
        """Sort key of a route; smaller is better."""
        return self._score(route, route.fill_time_s)

    def _score(self, route: Route, fill_time_s: int) -> tuple[float, float]:
        return self._objective.rank(route.net_amount, fill_time_s, exact_out=route.side is Side.EXACT_OUT)

    def create_splitter(self, allowed: Mask, hops: int, gas_rate: float | None = None) -> Splitter:
        """Create what splits this request's amount over allowed markets, beginning with paths of so many hops.

        Gas is valued by reference prices, or in the input, of which a unit is taken for so much of the output.
        """
        usual, memory = max(min(self.request.max_hops, USUAL_HOPS), hops), self._search.get_memory()
        return Splitter(self._valuation, self.request, allowed, memory, self.budget, usual, gas_rate)

    def build_route(self, hops: tuple[Hop, ...]) -> Route:
        """Return a route of the request's side, its gas valued."""
        return self._valuation.build_route(Side(self.request.side), hops)
