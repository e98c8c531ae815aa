"""The router: a snapshot in, exact routes out."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from routing_engine.certificate import Certificate
from routing_engine.deadline import Budget, Clock, count_steps
from routing_engine.errors import InvalidRequest, Refusal
from routing_engine.fixed_point import BPS
from routing_engine.graph.gas_valuation import Valuations
from routing_engine.graph.graph import Graph
from routing_engine.jit.ahead import compile_all_once
from routing_engine.model import Token
from routing_engine.request import MAX_ALTERNATIVES, RouteRequest
from routing_engine.resolution import find_token, read_market_ids, require_snapshot, resolve
from routing_engine.result import RouteResult, Status
from routing_engine.route import Route, Side
from routing_engine.search.alternatives import find_alternatives
from routing_engine.search.no_route import explain
from routing_engine.search.pareto import certify_pareto_set, find_pareto_set
from routing_engine.search.paths.path_search import Search
from routing_engine.search.paths.single import Single
from routing_engine.search.single_paths import find_best_single
from routing_engine.search.splits.query import Query
from routing_engine.search.with_less import answer_beyond_paths, answer_single
from routing_engine.snapshot.snapshot import Snapshot

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from routing_engine.batch.executor import Progress
    from routing_engine.batch.quotes import Quotes

TOO_MUCH = Refusal.AMOUNT_TOO_HIGH, Refusal.INSUFFICIENT_LIQUIDITY
"""Reasons of markets that might serve a part of the amount."""


class Router:
    """Find routes on one snapshot.

    Build it once per snapshot and share it: searches are independent, and threads run side by side.

    Parameters
    ----------
    snapshot : Snapshot
        The markets to route over; never changed.
    clock : Clock
        By which budgets of time run, and searches are timed.
    """

    def __init__(self, snapshot: Snapshot, *, clock: Clock = time.perf_counter) -> None:
        require_snapshot(snapshot)
        compile_all_once()
        graph = Graph.compile(snapshot.markets.values(), snapshot.gas_prices)
        self._fill(snapshot, Search(graph), clock)

    def _fill(self, snapshot: Snapshot, search: Search, clock: Clock) -> None:
        self.snapshot = snapshot
        self.graph = search.graph
        self.clock = clock
        self._search = search
        # Computed now rather than by the first search, which would have to wait for it.
        self._valuations = Valuations(search.graph, snapshot.gas_prices)

    def __reduce__(self) -> tuple[object, ...]:
        """Travel to other processes as the snapshot: what is compiled from it is made anew there."""
        return partial(type(self), clock=self.clock), (self.snapshot,)

    def __repr__(self) -> str:
        return f"Router({self.snapshot!r})"

    def follow(self, snapshot: Snapshot) -> Router:
        """Return a router on a later snapshot, at the cost of the markets that changed.

        This router and its searches go on undisturbed. Prices are computed here, so that no search waits for them; the
        snapshot's id is when it is first read, from a result too. Where markets were added or removed, or have other
        edges than before, everything is compiled anew.
        """
        changed = require_snapshot(snapshot).changed_since(self.snapshot)
        graph = None if changed is None else self.graph.apply(changed, snapshot.gas_prices)
        graph = graph or Graph.compile(snapshot.markets.values(), snapshot.gas_prices)
        following = object.__new__(type(self))
        following._fill(snapshot, Search(graph, memory_of=self._search), self.clock)
        return following

    def find_routes(self, request: RouteRequest, *, without: Collection[str] = ()) -> RouteResult:
        """Return the best route and, if asked for, alternatives; a status says when there is none.

        Markets whose ids are in `without` are left out, at no cost; gas is valued as with them.

        Raises
        ------
        InvalidRequest
            If the request names a token, a protocol or a chain that the snapshot does not have, or `without` a market.
        """
        query = self._start_query(request, read_market_ids(without, self.snapshot.markets, "without"))
        single = find_best_single(query, query.allowed, request.max_hops)
        return self._finish(query, single) if single else self._split_or_explain(query)

    def lend_memory(self) -> None:
        """Let other threads have the memory of this one's searches, none of which is under way."""
        self._search.memories.lend()

    def find_pareto_set(self, request: RouteRequest) -> RouteResult:
        """Return the best route for every fill time: no other is both cheaper and faster.

        They come in the request's order; how much time there is to save is for the caller to see. Bridges are what
        takes time, so on one chain there is one such route. Each has a certificate: that of the slowest covers all
        routes, those of the others the routes that are as fast.
        """
        query = self._start_query(request)
        priced = query.weigh_money()
        routes = query.rank(find_pareto_set(priced))
        if not routes:
            return self._split_or_explain(query)
        certificates = certify_pareto_set(priced, routes) if request.certify else []
        return self._make_result(query, routes, len(routes), certificates)

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
        token_in, token_out : Token, str or int, or sequences or arrays of shape (n,) of these
            From and to: tokens, names such as ``WETH@1``, or positions in ``router.graph.tokens``.
        amount : int, or sequence or array of shape (n,) of int
            Smallest units; an array of objects holds what does not fit into 64 bits.
        side : str, or sequence or array of shape (n,) of str
            ``exact_in`` or ``exact_out``.
        executor, workers, progress
            Where to search, and whom to tell: see `batch.executor.answer_requests`. Threads of this process by default.
        **options
            Further fields of `RouteRequest`, for all.

        Raises
        ------
        InvalidRequest
            Naming the field and the position, counted from 0; nothing is searched then.
        """
        from routing_engine.batch.quotes import make_requests, quote_requests

        requests = make_requests(self._find_token, token_in, token_out, amount, side, **options)
        return quote_requests(self, requests, executor=executor, workers=workers, progress=progress)

    def stream(self, request: RouteRequest) -> Iterator[RouteResult]:
        """Yield ever better results, each as soon as it is known, until the search or its budget of time ends.

        First come the best single paths, over one hop and over more, where more are better; then what `find_routes`
        gives, if that is better still. A caller may stop at any time.
        """
        query = self._start_query(request)
        best: Single | None = None
        last: RouteResult | None = None
        for max_hops in range(1, request.max_hops + 1):
            single = find_best_single(query, query.allowed, max_hops)
            if single is None or (best and query.rank_key(single.route) > query.rank_key(best.route)):
                continue
            best, before = single, best
            result = self._make_result(query, [single.route], 1)
            if result.routes and (before is None or query.rank_key(single.route) < query.rank_key(before.route)):
                last = result
                yield result
            if query.budget.is_spent():
                break
        final = self._finish(query, best) if best else self._split_or_explain(query)
        if last is None or (
            final != last and final.routes and query.rank_key(final.best()) <= query.rank_key(last.best())
        ):
            yield final

    def _find_token(self, token: object, field: str) -> Token:
        """Return the token that a column of `quote_many` means."""
        tokens = self.graph.tokens
        if isinstance(token, Token | str):
            return find_token(token, self.snapshot, self.graph, field)
        if isinstance(token, int | np.integer) and not isinstance(token, bool) and 0 <= token < len(tokens):
            return tokens[int(token)]
        raise InvalidRequest(field, f"must be a Token, its name, or its number below {len(tokens)}, not {token!r}")

    def _start_query(self, request: RouteRequest, without: frozenset[str] = frozenset()) -> Query:
        request = resolve(request, self.snapshot, self.graph)
        size = self.graph.source.size
        steps = count_steps(request.work_budget, size), count_steps(1, size)
        budget = Budget(self.clock, request.time_budget_ms, *steps)
        return Query(self._search, request, self._valuations.find(request.gas_prices), budget, without)

    def _finish(self, query: Query, single: Single) -> RouteResult:
        """Make the most of the best single path: a split, alternatives."""
        count, answer = query.request.alternatives, answer_single(query, single)
        routes = answer.routes
        if count or not _accept(query.request, routes):
            others = find_alternatives(query, single, count or MAX_ALTERNATIVES)
            routes = [routes[0], *(route for route in others if route != routes[0])]
        return self._make_result(query, routes, 1 + count, answer.certificates)

    def _make_result(
        self, query: Query, routes: Sequence[Route], most: int, certificates: Sequence[Certificate] = ()
    ) -> RouteResult:
        """Return the first of `routes`, or what is wrong with all of them; certificates are those of the first ones."""
        accepted = _accept(query.request, routes)
        return RouteResult(
            request=query.request,
            snapshot_id=self._name_snapshot(),
            status=Status.FOUND if accepted else Status.PRICE_IMPACT_TOO_HIGH,
            routes=tuple(accepted[:most]),
            refused=() if accepted else tuple(routes),
            is_complete=not query.budget.was_spent,
            certificates=tuple([each for route, each in zip(routes, certificates, strict=False) if route in accepted]),
            markets=tuple([self.snapshot.markets[hop.market_id] for route in accepted[:1] for hop in route.hops]),
        )

    def _split_or_explain(self, query: Query) -> RouteResult:
        """Return a split where no single path takes the whole amount, or say why there is none either."""
        status, unavailable = explain(self.graph, query.request, query.allowed)
        is_too_much = query.request.max_splits > 1 and any(entry.reason in TOO_MUCH for entry in unavailable)
        if is_too_much:
            answer = answer_beyond_paths(query)
            if answer:
                return self._make_result(query, answer.routes, 1, answer.certificates)
        is_cut = query.budget.was_spent and status is not Status.NO_ROUTE  # what one path refuses, several may serve
        return RouteResult(
            request=query.request, snapshot_id=self._name_snapshot(), is_complete=not query.budget.was_spent,
            status=Status.SEARCH_ENDED if is_cut else status, unavailable=unavailable,
        )  # fmt: skip

    def _name_snapshot(self) -> Any:
        """Return the snapshot's id if it is known, else the snapshot, of which a result finds it when it is asked."""
        return vars(self.snapshot).get("id", self.snapshot)


def _accept(request: RouteRequest, routes: Sequence[Route]) -> list[Route]:
    most = request.max_price_impact_bps
    return [*routes] if most is None else [route for route in routes if route.price_impact * BPS <= most]
