"""Exact swaps along ways of markets, for routers that try them out, and what their gas is worth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks.harness.replay import run_merged, run_steps
from routing_engine import Market, QuoteRefused, Route, Router, RouteRequest, Side, Token
from routing_engine.graph.gas_valuation import Valuation

Step = tuple[str, Token, Token]
"""Market, token sold, token bought."""

Way = tuple[Step, ...]
Division = tuple[tuple[int, Way], ...]
"""Amounts sold down ways, which may share markets."""

States = Mapping[str, Market]
"""Markets that have moved, by id."""

UNTOUCHED: States = {}


@dataclass(frozen=True, slots=True)
class Run:
    """What a way gives: its output, its gas units, and its markets afterwards."""

    amount_out: int
    gas: int
    after: dict[str, Market]


class Board:
    """The markets of a router, and one request's gas price.

    Parameters
    ----------
    router : Router
        Whose markets and reference prices to use, and nothing else of it.
    request : RouteRequest
        Exact-in.
    """

    def __init__(self, router: Router, request: RouteRequest) -> None:
        self.router, self.request = router, request
        self.markets = router.snapshot.markets
        prices = {**router.snapshot.gas_prices, **(request.gas_prices or {})}
        self._valuation = Valuation(router.graph, prices)
        self._gas_cost = router.graph.gas_cost(prices)
        self._memory: dict[tuple[Step, int], tuple[int, int, Market] | None] = {}

    def value_gas(self, gas: int, token: Token) -> float:
        """Return gas units in smallest units of a token; 0 where no price is known."""
        graph = self.router.graph
        price = float(graph.prices[graph.index[token]])
        return gas * float(self._gas_cost[graph.chain_number[token.chain_id]]) / price if price > 0 else 0.0

    def swap(self, step: Step, amount: int, states: States = UNTOUCHED) -> tuple[int, int, Market] | None:
        """Return output, gas units and the market afterwards; None if it declines. Untouched markets are remembered."""
        moved = states.get(step[0])
        if moved is not None:
            return _swap(moved, step, amount)
        key = (step, amount)
        if key not in self._memory:
            self._memory[key] = _swap(self.markets[step[0]], step, amount)
        return self._memory[key]

    def run(self, way: Way, amount: int, states: States = UNTOUCHED) -> Run | None:
        """Return what a way gives that uses no market twice; None if one declines."""
        gas, after = 0, {}
        for step in way:
            swapped = self.swap(step, amount, states)
            if swapped is None:
                return None
            amount, used, after[step[0]] = swapped
            gas += used
        return Run(amount, gas, after)

    def build_route(self, division: Division) -> Route | None:
        """Return the division as a route, its better form: way after way, or each market once; None if it fails."""
        try:
            hops = run_steps(self.markets, division)
        except QuoteRefused:
            return None
        routes = [self._valuation.build_route(Side.EXACT_IN, hops)]
        if len({hop.market_id for hop in hops}) < len(hops):
            try:
                merged = run_merged(self.markets, self.request.token_in, hops)
            except QuoteRefused:
                merged = None
            routes += [self._valuation.build_route(Side.EXACT_IN, merged)] if merged else []
        return max(routes, key=lambda route: route.amount_out_net)


def _swap(market: Market, step: Step, amount: int) -> tuple[int, int, Market] | None:
    if amount <= 0:
        return None
    try:
        hop, after = market.swap_exact_in(step[1], step[2], amount)
    except QuoteRefused:
        return None
    return hop.amount_out, hop.gas, after
