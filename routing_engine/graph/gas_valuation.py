"""Gas in the tokens of a route."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property

import numpy as np
import numpy.typing as npt

from routing_engine.graph.graph import Graph
from routing_engine.model import Hop
from routing_engine.route import Route, Side

KEPT = 8
"""Gas prices of requests for which what values gas is kept."""


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
        self.graph = graph
        self._known = {
            chain_id
            for chain_id, coin in zip(graph.chains, graph.native, strict=True)
            if chain_id in gas_prices and coin >= 0 and graph.prices[coin] > 0
        }
        self.gas_cost = graph.gas_cost(gas_prices)
        self.is_free = not self.gas_cost.any()
        self._gas_cost = dict(zip(graph.chains, self.gas_cost.tolist(), strict=True))

    @cached_property
    def settled_units(self) -> npt.NDArray[np.float64]:
        """See `Graph.settled_units`."""
        return self.graph.settled_units(self.gas_cost)

    def build_route(self, side: Side, hops: tuple[Hop, ...]) -> Route:
        """Build a route whose gas, with what bridges charge on top, is valued in both of its tokens."""
        token_in, token_out = hops[0].token_in, hops[-1].token_out
        cost, coin_fees, priced = 0.0, 0.0, True
        for hop in hops:
            chain_id, in_coin = hop.token_in.chain_id, 0
            for fee in hop.fees:
                if not fee.included:
                    in_coin += fee.amount
            if in_coin:
                coin_fees += in_coin * self._find_coin_price(chain_id)
            cost += hop.gas * self._gas_cost[chain_id]
            priced = priced and chain_id in self._known
        cost += coin_fees
        index, prices = self.graph.index, self.graph.prices
        price_in, price_out = prices.item(index[token_in]), prices.item(index[token_out])
        return Route(
            token_in=token_in,
            token_out=token_out,
            side=side,
            hops=hops,
            gas_cost_in=math.ceil(cost / price_in) if price_in > 0 else 0,
            gas_cost_out=math.ceil(cost / price_out) if price_out > 0 else 0,
            gas_priced=priced and price_in > 0 and price_out > 0,
        )

    def _find_coin_price(self, chain_id: int) -> float:
        """Worth of the smallest unit of a chain's coin, in which bridges charge on top of the input."""
        coin = self.graph.native[self.graph.chain_number[chain_id]]
        return float(self.graph.prices[coin]) if coin >= 0 else 0.0


class Valuations:
    """Value gas at one snapshot's prices, and at those that requests bring.

    Safe to use from many threads.

    Parameters
    ----------
    graph, gas_prices
        As of `Valuation`, which is made at once for these prices.
    """

    def __init__(self, graph: Graph, gas_prices: Mapping[int, int]) -> None:
        self._graph, self._gas_prices = graph, gas_prices
        self._usual = Valuation(graph, gas_prices)
        self._others: dict[tuple[tuple[int, int], ...], Valuation] = {}

    def find(self, gas_prices: Mapping[int, int] | None) -> Valuation:
        """Return what values gas where some prices are others; made once for requests that bring the same."""
        if not gas_prices:
            return self._usual
        asked = tuple(gas_prices.items())
        known = self._others.get(asked)
        if known is None:
            known = Valuation(self._graph, {**self._gas_prices, **gas_prices})
            if len(self._others) >= KEPT:
                self._others.clear()
            self._others[asked] = known
        return known
