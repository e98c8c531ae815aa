"""Divisions over two paths, tried on a grid in exact integers: what a divided route may never fall short of."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from benchmarks.harness.replay import run_merged
from routing_engine import QuoteRefused, Route, Router, RouteRequest, Side, Token
from routing_engine.graph.gas_valuation import Valuation
from routing_engine.market import Market
from routing_engine.model import Hop
from routing_engine.search.paths.path_search import Edge, replay

PARTS = 16
"""The amount is divided in sixteenths."""

PATHS = 12
"""How many of the best paths are paired."""


def simple_paths(markets: list[Market], request: RouteRequest) -> Iterator[tuple[Edge, ...]]:
    """Yield every path within the hops of the request that meets no token and no market twice."""
    edges = [(market, *edge) for market in markets for edge in market.edges()]

    def extend(path: tuple[Edge, ...], at: Token, seen: frozenset[Token]) -> Iterator[tuple[Edge, ...]]:
        if at == request.token_out:
            yield path
        elif len(path) < request.max_hops:
            used = {market.id for market, *_ in path}
            for edge in edges:
                if edge[1] == at and edge[2] not in seen and edge[0].id not in used:
                    yield from extend((*path, edge), edge[2], seen | {edge[2]})

    yield from extend((), request.token_in, frozenset({request.token_in}))


def best_on_the_grid(router: Router, request: RouteRequest) -> Route | None:
    """Return the best route over one path or two, by net amount; None where no path serves the amount."""
    markets = list(router.snapshot.markets.values())
    valuation = Valuation(router.graph, router.snapshot.gas_prices)
    side = Side(request.side)
    paths = _best_paths(markets, request)
    routes = [valuation.build_route(side, hops) for path in paths for hops in _hops([(path, request.amount)], request)]
    for first, second in combinations(paths, 2):
        for part in range(1, PARTS):
            share = request.amount * part // PARTS
            for hops in _hops([(first, share), (second, request.amount - share)], request):
                routes.append(valuation.build_route(side, hops))
    if not routes:
        return None
    return (
        min(routes, key=lambda r: r.net_amount) if side is Side.EXACT_OUT else max(routes, key=lambda r: r.net_amount)
    )


def _best_paths(markets: list[Market], request: RouteRequest) -> list[tuple[Edge, ...]]:
    """Paths that are best for half of the amount."""
    scored = []
    for path in simple_paths(markets, request):
        try:
            hops = replay(path, request.side, max(1, request.amount // 2))
        except QuoteRefused:
            continue
        score = hops[0].amount_in if request.side == Side.EXACT_OUT else -hops[-1].amount_out
        scored.append((score, len(scored), path))
    return [path for *_, path in sorted(scored)[:PATHS]]


def _hops(parts: list[tuple[tuple[Edge, ...], int]], request: RouteRequest) -> Iterator[tuple[Hop, ...]]:
    """Yield the hops of paths that share no market; for exact-in also of those that share some, merged."""
    ids = [market.id for path, _ in parts for market, *_ in path]
    markets = {market.id: market for path, _ in parts for market, *_ in path}
    try:
        if len(set(ids)) == len(ids):
            yield tuple(hop for path, amount in parts for hop in replay(path, request.side, amount))
        elif request.side == Side.EXACT_IN:
            apart = tuple(hop for path, amount in parts for hop in replay(path, request.side, amount))
            merged = run_merged(markets, request.token_in, apart)
            if merged:
                yield merged
    except QuoteRefused:
        return
