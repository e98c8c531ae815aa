"""Gas in the tokens of a route."""

from __future__ import annotations

import math
from collections.abc import Mapping

from routing_engine.graph import Graph
from routing_engine.model import Hop, Token
from routing_engine.route import Route, Side


class Valuation:
    """Value gas by the graph's reference prices, under given gas prices.

    Parameters
    ----------
    graph : Graph
        Whose prices to use.
    gas_prices : mapping of int to int
        Wei per gas unit by chain id; a chain that is missing has free gas, and its routes are marked unpriced.
    """

    def __init__(self, graph: Graph, gas_prices: Mapping[int, int]) -> None:
        self._graph = graph
        self._known = {
            chain_id
            for chain_id, coin in zip(graph.chains, graph.native, strict=True)
            if chain_id in gas_prices and coin >= 0 and graph.prices[coin] > 0
        }
        self.gas_cost = graph.gas_cost(gas_prices)

    def route(self, side: Side, hops: tuple[Hop, ...]) -> Route:
        """Build a route whose gas, with what bridges charge on top, is valued in both of its tokens."""
        token_in, token_out = hops[0].token_in, hops[-1].token_out
        chain_number = {chain_id: number for number, chain_id in enumerate(self._graph.chains)}
        cost = sum(hop.gas * self.gas_cost[chain_number[hop.token_in.chain_id]] for hop in hops)
        cost += sum(self._on_top(hop, chain_number[hop.token_in.chain_id]) for hop in hops)
        priced = all(hop.token_in.chain_id in self._known for hop in hops)
        return Route(
            token_in=token_in,
            token_out=token_out,
            side=side,
            hops=hops,
            gas_cost_in=self._in_units(token_in, cost),
            gas_cost_out=self._in_units(token_out, cost),
            gas_priced=priced and all(self._price(token) > 0 for token in (token_in, token_out)),
        )

    def _on_top(self, hop: Hop, chain: int) -> float:
        """Worth of what is paid in the chain's coin beside the input."""
        paid, coin = sum(fee.amount for fee in hop.fees if not fee.included), self._graph.native[chain]
        return paid * float(self._graph.prices[coin]) if paid and coin >= 0 else 0.0

    def _price(self, token: Token) -> float:
        return float(self._graph.prices[self._graph.index[token]])

    def _in_units(self, token: Token, cost: float) -> int:
        price = self._price(token)
        return math.ceil(cost / price) if price > 0 else 0
