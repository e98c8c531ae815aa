"""How long bridges take, and the least that any path over one of them takes over bridges in all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from routing_engine.graph.graph import Graph
    from routing_engine.model import Token
    from routing_engine.search.splits.query import Mask

Times = npt.NDArray[np.float64]


class BridgeTimes:
    """The times of a graph's bridges.

    Parameters
    ----------
    graph : Graph
        Of the markets.

    Attributes
    ----------
    alone : float64 array, shape (markets,)
        Seconds that each market takes between chains, its block before it included; 0 for pools.
    """

    def __init__(self, graph: Graph) -> None:
        edges = graph.forward.edges
        crossing = edges["time"] > 0.0
        # The twin is the same edge among those by what they give.
        chain_of = np.array([graph.chain_number[token.chain_id] for token in graph.tokens], np.int64)
        self._chains = graph.chain_number
        self._market, self._time = edges["market"][crossing], edges["time"][crossing].astype(np.float64)
        self._begin, self._end = chain_of[graph.source[crossing]], chain_of[graph.target[crossing]]
        self.alone: Times = np.zeros(len(graph.markets))
        self.alone[self._market] = self._time

    def measure_paths(self, token_in: Token, token_out: Token, allowed: Mask) -> Times:
        """Return the least that paths over each market take over bridges in all.

        Chains are what counts here: a path that no pool connects is as good as any, so that no path takes less.

        Parameters
        ----------
        token_in, token_out : Token
            Ends of the paths.
        allowed : bool array, shape (markets,)
            What paths may use.

        Returns
        -------
        float64 array, shape (markets,)
            Seconds; 0 for pools, infinite for bridges that lead nowhere.
        """
        count, used = len(self._chains), allowed[self._market]
        between = np.full((count, count), np.inf)
        np.fill_diagonal(between, 0.0)
        np.minimum.at(between, (self._begin[used], self._end[used]), self._time[used])
        for over in range(count):
            np.minimum(between, between[:, over, None] + between[over], out=between)
        first, last = (self._chains.get(token.chain_id) for token in (token_in, token_out))
        if first is None or last is None:
            return self.alone
        whole = between[first, self._begin] + self._time + between[self._end, last]
        least = np.full(self.alone.size, np.inf)
        np.minimum.at(least, self._market, whole)
        return np.where(self.alone > 0.0, least, 0.0)
