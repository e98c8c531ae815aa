"""rustworkx: the same Bellman–Ford on log rates, compiled."""

from __future__ import annotations

from collections.abc import Mapping

import rustworkx as rx

from benchmarks.harness.answer import Answer
from benchmarks.peers.rates import Pair, answer_tokens, find_best_rates, refuse_loops, weigh
from routing_engine import RouteRequest, Side, Snapshot, Token


class RustworkxPaths:
    """The path of the best rate for nothing, whatever its length."""

    name, version = "rustworkx", rx.__version__

    def __init__(self) -> None:
        self._graph: rx.PyDiGraph[Token, float] = rx.PyDiGraph()
        self._index: dict[Token, int] = {}
        self._best: dict[Pair, tuple[float, str]] = {}

    def load(self, snapshot: Snapshot) -> None:
        """Build the graph; a market with loops that gain is not taken."""
        self._best = find_best_rates(snapshot)
        refuse_loops(self._best)
        tokens = dict.fromkeys(token for pair in self._best for token in pair)
        self._index = dict(zip(tokens, self._graph.add_nodes_from(list(tokens)), strict=True))
        index = self._index
        self._graph.add_edges_from(
            [(index[one], index[other], weigh(rate)) for (one, other), (rate, _) in self._best.items()]
        )

    def solve(self, request: RouteRequest, gas_values: Mapping[int, float]) -> Answer | None:
        """Return one path; an output can't be asked for."""
        source, target = (self._index.get(token) for token in (request.token_in, request.token_out))
        if request.side == Side.EXACT_OUT or source is None or target is None:
            return None
        paths = rx.bellman_ford_shortest_paths(self._graph, source, target, weight_fn=float)
        return answer_tokens([self._graph[node] for node in paths[target]], self._best) if target in paths else None
