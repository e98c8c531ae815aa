"""Gas in the tokens of a route."""

from __future__ import annotations

import math
from collections.abc import Mapping

from routing_engine.graph.graph import Graph
from routing_engine.model import Fee, Hop, Token
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
        self._gas_cost = dict(zip(graph.chains, self.gas_cost.tolist(), strict=True))

    def build_route(self, side: Side, hops: tuple[Hop, ...]) -> Route:
        """Build a route whose gas, with what bridges charge on top, is valued in both of its tokens."""
        token_in, token_out = hops[0].token_in, hops[-1].token_out
        cost, coin_fees, priced = 0.0, 0.0, True
        for hop in hops:
            chain_id = hop.token_in.chain_id
            cost += hop.gas * self._gas_cost[chain_id]
            coin_fees += self._value_coin_fees(hop.fees, chain_id)
            priced = priced and chain_id in self._known
        cost += coin_fees
        price_in, price_out = self._find_price(token_in), self._find_price(token_out)
        return Route(
            token_in=token_in,
            token_out=token_out,
            side=side,
            hops=hops,
            gas_cost_in=math.ceil(cost / price_in) if price_in > 0 else 0,
            gas_cost_out=math.ceil(cost / price_out) if price_out > 0 else 0,
            gas_priced=priced and price_in > 0 and price_out > 0,
        )

    def _value_coin_fees(self, fees: tuple[Fee, ...], chain_id: int) -> float:
        """Value of what is paid in the chain's coin on top of the input."""
        paid = sum([fee.amount for fee in fees if not fee.included])
        if not paid:
            return 0.0
        coin = self._graph.native[self._graph.chain_number[chain_id]]
        return paid * float(self._graph.prices[coin]) if coin >= 0 else 0.0

    def _find_price(self, token: Token) -> float:
        return self._graph.prices.item(self._graph.index[token])
