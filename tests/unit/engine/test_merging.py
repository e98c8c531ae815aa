"""Paths are merged into edges in an order in which flows can run; those that run in a circle are not."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from benchmarks.instances import constant_product_market
from routing_engine import Router
from routing_engine.graph.graph import Graph
from routing_engine.jit.decorators import kernel
from routing_engine.kernels.split.flow_network import create_network
from routing_engine.kernels.split.merging import merge

HOPS = 4


@kernel
def _merge(paths, count, graph, network):  # type: ignore[no-untyped-def]
    return merge(paths, count, graph, network)


def _draw_paths(graph: Graph, count: int) -> npt.NDArray[np.int32]:
    """Return random walks over edges that visit no token twice, -1 past the end."""
    rng = np.random.default_rng(7)
    first, others = graph.forward.first, graph.forward.edges["other"]
    rows = np.full((count, HOPS), -1, np.int32)
    for row in rows:
        token, seen = 0, {0}
        for hop in range(HOPS):
            edges = [e for e in range(first[token], first[token + 1]) if others[e] not in seen]
            if not edges:
                break
            row[hop] = rng.choice(edges)
            token = int(others[row[hop]])
            seen.add(token)
    return rows


def test_edges_come_after_all_that_lead_to_them_and_steps_name_them() -> None:
    graph = Router(constant_product_market(tokens=30, pools=90)).graph
    walks, source, others = _draw_paths(graph, 60), graph.source, graph.forward.edges["other"]
    network, merged = create_network(60, HOPS, np.zeros(1, np.int64)), np.full((60, HOPS), -1, np.int32)
    kept = circles = 0
    for walk in walks:
        merged[kept] = walk
        total = _merge(merged, kept + 1, graph.arrays, network)
        if total < 0:
            circles += 1
            continue
        kept += 1
        edges = network.edge[:total].tolist()
        assert sorted(edges) == sorted({e for path in merged[:kept].tolist() for e in path if e >= 0})
        assert all(others[late] != source[early] for place, early in enumerate(edges) for late in edges[place:])
        for p in range(kept):
            assert [edges[i] for i in network.step[p] if i >= 0] == [e for e in merged[p].tolist() if e >= 0]
            assert all(p in network.who[network.first[i] : network.first[i + 1]] for i in network.step[p] if i >= 0)
    assert kept > 3
    assert circles > 3
