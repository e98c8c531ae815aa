"""What a network remembers of its edges changes nothing: flows sent after others are what they are when sent first."""

from __future__ import annotations

import numpy as np

from routing_engine import Router, Snapshot
from routing_engine.jit.decorators import kernel
from routing_engine.kernels.split.flow_network import FlowNetwork, MergedPaths, create_network, send_flows
from routing_engine.kernels.split.merging import merge

HOPS, PATHS, TURNS = 3, 12, 200


@kernel
def _merge(paths, count, graph, network):  # type: ignore[no-untyped-def]
    return merge(paths, count, graph, network)


@kernel
def _send(x, graph, network, total):  # type: ignore[no-untyped-def]
    return send_flows(x, MergedPaths(graph, network, x.size, total))


def _read(network: FlowNetwork, total: int) -> list[list[float]]:
    columns = network.flow, network.out, network.slope, network.second_derivative
    return [each[:total].tolist() for each in columns] + [network.price.tolist(), network.carried.tolist()]


def test_flows_that_follow_others_are_those_of_a_new_network() -> None:
    graph = Router(Snapshot.sandbox()).graph
    rng, source, others = np.random.default_rng(3), graph.source, graph.forward.edges["other"]
    assert (graph.forward.edges["n_pieces"] > 3).sum() > 100
    used, work = create_network(PATHS, HOPS, np.zeros(1, np.int64)), np.zeros(1, np.int64)
    rows = np.full((PATHS, HOPS), -1, np.int32)
    token, count = int(np.bincount(source).argmax()), 0
    while count < PATHS:
        e = int(rng.choice(np.flatnonzero(source == token)))
        onward = np.flatnonzero((source == others[e]) & (others != token))
        rows[count] = e, rng.choice(onward) if onward.size else -1, -1
        count += _merge(rows, count + 1, graph.arrays, used) >= 0
    total = _merge(rows, count, graph.arrays, used)
    amounts, sent = 10.0 ** rng.uniform(15, 22, (3, PATHS)), 0
    amounts[0] = 0.0
    x = amounts[1].copy()
    for _ in range(TURNS):
        changed = rng.integers(0, PATHS, 2)
        x[changed] = amounts[rng.integers(0, 3, 2), changed]
        new = create_network(PATHS, HOPS, work)
        _merge(rows, count, graph.arrays, new)
        value = _send(x, graph.arrays, used, total)
        assert value == _send(x, graph.arrays, new, total)
        if value > 0.0:
            assert _read(used, total) == _read(new, total)
            sent += 1
    assert sent > TURNS / 4
