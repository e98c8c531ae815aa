"""Every path there is, tried in exact integers."""

from __future__ import annotations

from routing_engine import Market, QuoteRefused, Router, RouteRequest, Token
from tests.support.peer_routes import Division


def exhaustive(router: Router, request: RouteRequest) -> Division:
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

    extend(request.token_in, request.amount, (), frozenset({request.token_in}))
    return Division(paths=((request.amount, best[1]),) if best[1] else ())
