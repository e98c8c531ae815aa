"""Searches that textbooks have: Bellman–Ford on log rates, which carries no amounts, and every path there is."""

from __future__ import annotations

import math
from itertools import pairwise

import networkx as nx
import rustworkx as rx

from benchmarks.measure import clock
from benchmarks.peers import Answer
from routing_engine import Market, QuoteRefused, Router, RouteRequest, Token
from routing_engine.markets import ConstantProductPool


def _rates(router: Router) -> dict[tuple[int, int], tuple[float, str]]:
    """Spot rate after fees and pool of the best pool of each ordered pair, by token numbers."""
    best: dict[tuple[int, int], tuple[float, str]] = {}
    for market in router.graph.markets:
        assert isinstance(market, ConstantProductPool)
        for a, b in market.edges():
            pair = router.graph.index[a], router.graph.index[b]
            rate = market.spot_price(a, b)
            if pair not in best or rate > best[pair][0]:
                best[pair] = (rate, market.id)
    return best


class RustworkxBellmanFord:
    """rustworkx's Bellman–Ford from one token, compiled."""

    name = "rustworkx Bellman–Ford"

    def __init__(self, router: Router) -> None:
        self._index, self._rates = router.graph.index, _rates(router)
        self._graph = rx.PyDiGraph()
        self._graph.add_nodes_from(range(len(router.graph.tokens)))
        self._graph.add_edges_from([(u, v, -math.log(rate)) for (u, v), (rate, _) in self._rates.items()])

    def answer(self, request: RouteRequest) -> Answer:
        """Return the path of the best rate for nothing, whatever its length."""
        source, target = self._index[request.token_in], self._index[request.token_out]
        started = clock()
        paths = rx.bellman_ford_shortest_paths(self._graph, source, target, weight_fn=float)
        seconds = clock() - started
        nodes = list(paths[target]) if target in paths else []
        return _answer(nodes, self._rates, request.amount, seconds)


class NetworkxBellmanFord:
    """networkx's Bellman–Ford, in Python."""

    name = "networkx Bellman–Ford"

    def __init__(self, router: Router) -> None:
        self._index, self._rates = router.graph.index, _rates(router)
        self._graph: nx.DiGraph[int] = nx.DiGraph()
        self._graph.add_weighted_edges_from((u, v, -math.log(rate)) for (u, v), (rate, _) in self._rates.items())

    def answer(self, request: RouteRequest) -> Answer:
        """Return the path of the best rate for nothing, whatever its length."""
        source, target = self._index[request.token_in], self._index[request.token_out]
        started = clock()
        try:
            nodes = nx.bellman_ford_path(self._graph, source, target)
        except nx.NetworkXNoPath:
            nodes = []
        return _answer(nodes, self._rates, request.amount, clock() - started)


def _answer(nodes: list[int], rates: dict[tuple[int, int], tuple[float, str]], amount: int, seconds: float) -> Answer:
    path = tuple(rates[pair][1] for pair in pairwise(nodes))
    return Answer(paths=((amount, path),) if path else (), seconds=seconds)


def exhaustive(router: Router, request: RouteRequest) -> Answer:
    """Try every simple path of at most `request.max_hops` markets in exact integers; small markets only."""
    leaving: dict[Token, list[tuple[Market, Token]]] = {}
    for market in router.graph.markets:
        for a, b in market.edges():
            leaving.setdefault(a, []).append((market, b))
    best: tuple[int, tuple[str, ...]] = (0, ())

    def extend(at: Token, amount: int, path: tuple[str, ...], seen: frozenset[Token]) -> None:
        nonlocal best
        if at == request.token_out:
            best = max(best, (amount, path))
            return
        if len(path) == request.max_hops:
            return
        for market, onward in leaving.get(at, []):
            if onward in seen or market.id in path:
                continue
            try:
                hop, _ = market.swap_exact_in(at, onward, amount)
            except QuoteRefused:
                continue
            extend(onward, hop.amount_out, (*path, market.id), seen | {onward})

    started = clock()
    extend(request.token_in, request.amount, (), frozenset({request.token_in}))
    seconds = clock() - started
    return Answer(paths=((request.amount, best[1]),) if best[1] else (), seconds=seconds)
