"""The router: a snapshot in, exact routes out."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from routing_engine.diagnosis import explain
from routing_engine.errors import QuoteRefused
from routing_engine.graph import Graph
from routing_engine.objective import OBJECTIVES
from routing_engine.parallel import Progress, answers
from routing_engine.quoting import Quotes, requests_of
from routing_engine.request import RouteRequest, RouteResult, Status
from routing_engine.route import Route, Side
from routing_engine.search import Search, allowed_markets, replay_best
from routing_engine.snapshot import Snapshot
from routing_engine.split import Splitter
from routing_engine.valuation import Valuation


@dataclass(frozen=True, slots=True)
class _Priced:
    """A single path, exact, with its forward edges."""

    route: Route
    edges: tuple[int, ...]


REPEATS = 4
"""How often a search starts again without the markets that refused its candidates' exact amounts."""


class Router:
    """Find routes on one snapshot.

    Build it once per snapshot and share it: searches are independent, and threads run side by side.

    Parameters
    ----------
    snapshot : Snapshot
        The markets to route over; never changed.
    clock : callable
        Seconds that only grow; times are measured with it.
    """

    def __init__(self, snapshot: Snapshot, *, clock: Callable[[], float] = time.perf_counter) -> None:
        self.snapshot = snapshot
        self.clock = clock
        self.graph = Graph.compile(snapshot.markets.values(), snapshot.gas_prices)
        self._search = Search(self.graph)

    def find_routes(self, request: RouteRequest) -> RouteResult:
        """Return the best route and, if asked for, alternatives; a status says when there is none."""
        allowed = allowed_markets(self.graph, request)
        paths = self._paths(request, allowed, request.max_hops)
        if not paths:
            return self._failure(request, allowed)
        routes = self._split(request, allowed, paths[0])
        if request.alternatives:
            others = self._alternatives(request, allowed, paths[0].route)
            routes = [routes[0], *(route for route in others if route != routes[0])]
        return self._result(request, routes[: 1 + request.alternatives])

    def quote_many(
        self,
        token_in: object,
        token_out: object,
        amount: object,
        *,
        side: object = Side.EXACT_IN,
        executor: Executor | None = None,
        workers: int | None = None,
        progress: Progress | None = None,
        **options: Any,
    ) -> Quotes:
        """Answer many requests at once, given as columns; one value stands for a whole column.

        Parameters
        ----------
        token_in, token_out : Token or int, or sequences or arrays of shape (n,) of these
            From and to; numbers are positions in ``router.graph.tokens``.
        amount : int, or sequence or array of shape (n,) of int
            Smallest units; an array of objects holds what does not fit into 64 bits.
        side : str, or sequence or array of shape (n,) of str
            ``exact_in`` or ``exact_out``.
        executor, workers, progress
            Where to search, and whom to tell: see `parallel.answers`. Threads of this process by default.
        **options
            Further fields of `RouteRequest`, for all.

        Raises
        ------
        InvalidRequest
            Naming the field and the position; nothing is searched then.
        """
        requests = requests_of(self.graph.tokens, token_in, token_out, amount, side, **options)
        found = answers(self, requests, executor=executor, workers=workers, progress=progress)
        return Quotes.of(list(found))

    def stream(self, request: RouteRequest) -> Iterator[RouteResult]:
        """Yield ever better results: first over few hops, then over more; the last is that of `find_routes`."""
        allowed = allowed_markets(self.graph, request)
        best: Route | None = None
        for max_hops in range(1, request.max_hops):
            paths = self._paths(request, allowed, max_hops)
            if paths and (best is None or self._key(request, paths[0].route) < self._key(request, best)):
                best = paths[0].route
                yield self._result(request, [best])
        final = self.find_routes(request)
        if best is None or final.routes != (best,):
            yield final

    def _paths(self, request: RouteRequest, allowed: npt.NDArray[np.bool_], max_hops: int) -> list[_Priced]:
        """Exact single paths over allowed markets, best first; none where a token is unknown here."""
        graph = self.graph
        if request.token_in not in graph.index or request.token_out not in graph.index:
            return []
        valuation = self._valuation(request)
        for _ in range(REPEATS):
            refused: dict[str, QuoteRefused] = {}
            candidates = self._search.candidates(request, valuation.gas_cost, allowed, max_hops)
            paths = replay_best(candidates, request, refused)
            if paths or not refused:
                break
            allowed = self._less(allowed, refused)
        priced = [_Priced(valuation.route(Side(request.side), hops), candidate.numbers) for candidate, hops in paths]
        return sorted(priced, key=lambda each: self._key(request, each.route))

    def _split(self, request: RouteRequest, allowed: npt.NDArray[np.bool_], single: _Priced) -> list[Route]:
        """Return the single path's route, and before it a network of several paths where that is better."""
        objective = OBJECTIVES[request.order]
        if request.max_splits > 1 and not objective.time_first:
            valuation = self._valuation(request)
            splitter = Splitter(self.graph, request, valuation.gas_cost, allowed, self._search.scratch())
            hops = splitter.split(single.edges, single.route.amount_in)
            if hops:
                return self._ranked(request, [valuation.route(Side(request.side), hops), single.route])
        return [single.route]

    def _valuation(self, request: RouteRequest) -> Valuation:
        return Valuation(self.graph, {**self.snapshot.gas_prices, **(request.gas_prices or {})})

    def _alternatives(self, request: RouteRequest, allowed: npt.NDArray[np.bool_], best: Route) -> list[Route]:
        """Return single paths that avoid, in turn, each market of those found so far, until there are enough."""
        banned: dict[Route, frozenset[str]] = {best: frozenset()}
        waiting = [best]
        while waiting and len(banned) <= request.alternatives:
            route = waiting.pop(0)
            for hop in route.hops:
                without = banned[route] | {hop.market_id}
                for other in self._paths(request, self._less(allowed, without), request.max_hops)[:1]:
                    if all(other.route.fingerprint != known.fingerprint for known in banned):
                        banned[other.route] = without
                        waiting.append(other.route)
            waiting = self._ranked(request, waiting)
        return self._ranked(request, list(banned))

    def _less(self, allowed: npt.NDArray[np.bool_], market_ids: Iterable[str]) -> npt.NDArray[np.bool_]:
        without = allowed.copy()
        without[[self.graph.market_index[market_id] for market_id in market_ids]] = False
        return without

    def _failure(self, request: RouteRequest, allowed: npt.NDArray[np.bool_]) -> RouteResult:
        status, unavailable = explain(self.graph, request, allowed)
        return RouteResult(request=request, snapshot_id=self.snapshot.id, status=status, unavailable=unavailable)

    def _result(self, request: RouteRequest, routes: list[Route]) -> RouteResult:
        return RouteResult(request=request, snapshot_id=self.snapshot.id, status=Status.FOUND, routes=tuple(routes))

    def _ranked(self, request: RouteRequest, routes: list[Route]) -> list[Route]:
        return sorted(routes, key=lambda route: self._key(request, route))

    @staticmethod
    def _key(request: RouteRequest, route: Route) -> tuple[float, float]:
        return OBJECTIVES[request.order].rank(
            route.net_amount, route.fill_time_s, exact_out=route.side is Side.EXACT_OUT
        )
