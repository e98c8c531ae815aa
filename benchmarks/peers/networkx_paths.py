"""networkx: Bellman–Ford on log rates, in Python. It carries no amounts."""

from __future__ import annotations

from collections.abc import Mapping

import networkx as nx

from benchmarks.harness.answer import Answer
from benchmarks.peers.rates import Pair, answer_tokens, find_best_rates, refuse_loops, weigh
from routing_engine import RouteRequest, Side, Snapshot, Token


class NetworkxPaths:
    """The path of the best rate for nothing, whatever its length."""

    name, version = "networkx", nx.__version__

    def __init__(self) -> None:
        self._graph: nx.DiGraph[Token] = nx.DiGraph()
        self._best: dict[Pair, tuple[float, str]] = {}

    def load(self, snapshot: Snapshot) -> None:
        """Build the graph; a market with loops that gain is not taken."""
        self._best = find_best_rates(snapshot)
        refuse_loops(self._best)
        self._graph.add_weighted_edges_from((one, other, weigh(rate)) for (one, other), (rate, _) in self._best.items())

    def solve(self, request: RouteRequest, gas_values: Mapping[int, float]) -> Answer | None:
        """Return one path; an output can't be asked for."""
        if request.side == Side.EXACT_OUT:
            return None
        try:
            tokens = nx.bellman_ford_path(self._graph, request.token_in, request.token_out)
        except (nx.NetworkXNoPath, nx.NodeNotFound):
            return None
        return answer_tokens(tokens, self._best)
