"""Prices of tokens at which markets earn little beside their gas, found once for each price of gas."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from routing_engine.jit.direct_call import Compiled
from routing_engine.kernels.arrays import GraphArrays
from routing_engine.kernels.bound import settled_prices

_settle_prices = Compiled(settled_prices.settle_prices)

KEPT = 8
"""Gas prices that they are kept for."""

MOST_TOKENS = 2_000
"""Tokens of a graph for which they are worth their time: with 5,000 tokens and 20,000 pools, what rests on them doubled
the time of a division and proved nothing more."""


class SettledPrices:
    """What one graph's tokens are worth, so that markets together earn little."""

    def __init__(self) -> None:
        self._units: dict[bytes, npt.NDArray[np.float64]] = {}

    def find_units(
        self, graph: GraphArrays, prices: npt.NDArray[np.float64], gas_cost: npt.NDArray[np.float64]
    ) -> npt.NDArray[np.float64]:
        """Return the number of each token's smallest units that the root's is worth; 0 where unknown or not settled.

        Parameters
        ----------
        prices : float64 array, shape (tokens,)
            Reference prices, where the search begins.
        gas_cost : float64 array, shape (chains,)
            Worth of one gas unit by chain, in the root's smallest units.
        """
        key = gas_cost.tobytes()
        known = self._units.get(key)
        if known is not None:
            return known
        settled = prices.copy()
        if prices.size > MOST_TOKENS or not gas_cost.any():
            settled.fill(0.0)
        else:
            _settle_prices(graph, settled, gas_cost)
        units = np.divide(1.0, settled, out=np.zeros(settled.size), where=settled > 0)
        if len(self._units) >= KEPT:
            self._units.clear()
        self._units[key] = units
        return units
