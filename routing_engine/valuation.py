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
        chains = [self._graph.chain_number[hop.token_in.chain_id] for hop in hops]
        cost = sum(hop.gas * self.gas_cost[chain] for hop, chain in zip(hops, chains, strict=True))
        cost += sum(self._on_top(hop, chain) for hop, chain in zip(hops, chains, strict=True))
        price_in, price_out = self._price(token_in), self._price(token_out)
        priced = all(hop.token_in.chain_id in self._known for hop in hops)
        return Route(
            token_in=token_in,
            token_out=token_out,
            side=side,
            hops=hops,
            gas_cost_in=math.ceil(cost / price_in) if price_in > 0 else 0,
            gas_cost_out=math.ceil(cost / price_out) if price_out > 0 else 0,
            gas_priced=priced and price_in > 0 and price_out > 0,
        )

    def _on_top(self, hop: Hop, chain: int) -> float:
        """Worth of what is paid in the chain's coin beside the input."""
        paid, coin = sum(fee.amount for fee in hop.fees if not fee.included), self._graph.native[chain]
        return paid * float(self._graph.prices[coin]) if paid and coin >= 0 else 0.0

    def _price(self, token: Token) -> float:
        return float(self._graph.prices[self._graph.index[token]])
