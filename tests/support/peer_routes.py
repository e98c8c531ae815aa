"""Amounts down paths of markets as routes that can be compared with the router's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks.harness.replay import run_merged, run_steps
from routing_engine import Hop, Market, QuoteRefused, Route, Router, RouteRequest, Side, Token
from routing_engine.graph.gas_valuation import Valuation


@dataclass(frozen=True, slots=True, kw_only=True)
class Division:
    """Amounts down paths of markets.

    Parameters
    ----------
    paths : tuple of (int, tuple of str)
        Smallest units of the token sold, and market ids in series; empty where nothing was found.
    """

    paths: tuple[tuple[int, tuple[str, ...]], ...]


def routes_of(router: Router, request: RouteRequest, answer: Division) -> list[Route]:
    """Return the division as routes: path after path; and, where paths share markets, merged. None if one declines."""
    if not answer.paths:
        return []
    valuation = Valuation(router.graph, {**router.snapshot.gas_prices, **(request.gas_prices or {})})
    markets = router.snapshot.markets
    try:
        hops = run_in_turn(markets, request.token_in, answer.paths)
    except QuoteRefused:
        return []
    found = [valuation.build_route(Side.EXACT_IN, hops)]
    if len({hop.market_id for hop in hops}) < len(hops):
        try:
            merged = run_merged(markets, request.token_in, hops)
        except QuoteRefused:
            return found
        found += [valuation.build_route(Side.EXACT_IN, merged)] if merged else []
    return found


def run_in_turn(
    markets: Mapping[str, Market], token_in: Token, paths: tuple[tuple[int, tuple[str, ...]], ...]
) -> tuple[Hop, ...]:
    """Run each path on the markets as the paths before it left them.

    Raises
    ------
    QuoteRefused
        By the first market that declines.
    """
    divided = []
    for amount, path in paths:
        token, steps = token_in, []
        for market_id in path:
            other = next(b for a, b in markets[market_id].edges() if a == token)
            steps.append((market_id, token, other))
            token = other
        divided.append((amount, tuple(steps)))
    return run_steps(markets, tuple(divided))
