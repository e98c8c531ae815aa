"""Paths that share markets, merged into one network: what they send into one edge shares its output in proportion."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from routing_engine.jit.decorators import inlined, inner, kernel
from routing_engine.kernels.arrays import FULL, GraphArrays
from routing_engine.kernels.marginal_price import compute_derivatives_in, find_piece
from routing_engine.kernels.vectors import copy_first
from routing_engine.kernels.work import spend

INFEASIBLE = -1.0
MAX_EDGES = 256


class FlowNetwork(NamedTuple):
    """Merged paths: memory of `allocate`.

    `edge` lists the different edges such that each comes after all that lead to it; `step[p, s]` is the place in it of
    step s of path p, -1 past the end. Entries ``first[i]`` to ``first[i + 1]`` of `who` and `at` are the paths that
    cross edge i, and at which step. `flow`, `out`, `slope` and `second_derivative` are each edge's input, output,
    marginal price, and the derivative of that. `known` is the input at which these were computed, below 0 where that is
    unknown, and `row` the piece of the curve that it was in. `before[p, s]` is the product of the marginal prices
    before step s, `price[p]` of all; `carried[p]` is what path p delivers. `work` is the steps that are left: see
    `routing_engine.kernels.work`.
    """

    edge: npt.NDArray[np.int64]
    step: npt.NDArray[np.int64]
    first: npt.NDArray[np.int64]
    who: npt.NDArray[np.int64]
    at: npt.NDArray[np.int64]
    flow: npt.NDArray[np.float64]
    out: npt.NDArray[np.float64]
    slope: npt.NDArray[np.float64]
    second_derivative: npt.NDArray[np.float64]
    known: npt.NDArray[np.float64]
    row: npt.NDArray[np.int64]
    before: npt.NDArray[np.float64]
    price: npt.NDArray[np.float64]
    carried: npt.NDArray[np.float64]
    work: npt.NDArray[np.int64]


class Paths(NamedTuple):
    """Rows of forward edge numbers, -1 past the end, and the input of each."""

    rows: npt.NDArray[np.int32]
    x: npt.NDArray[np.float64]


class MergedPaths(NamedTuple):
    """A network that is filled: by `path_count` paths, with `edge_count` different edges of a graph."""

    graph: GraphArrays
    network: FlowNetwork
    path_count: int
    edge_count: int


@kernel
def create_network(capacity, max_hops, work):
    """Allocate for up to `capacity` paths."""
    return FlowNetwork(
        np.zeros(MAX_EDGES, np.int64),
        np.zeros((capacity, max_hops), np.int64),
        np.zeros(MAX_EDGES + 1, np.int64),
        np.zeros(capacity * max_hops, np.int64),
        np.zeros(capacity * max_hops, np.int64),
        np.zeros(MAX_EDGES),
        np.zeros(MAX_EDGES),
        np.zeros(MAX_EDGES),
        np.zeros(MAX_EDGES),
        np.zeros(MAX_EDGES),
        np.zeros(MAX_EDGES, np.int64),
        np.ones((capacity, max_hops)),
        np.zeros(capacity),
        np.zeros(capacity),
        work,
    )


@inlined
def _compute_edge(i, flow, graph, network):
    """Fill in what edge i of the network gives for an input; whether it serves it."""
    edge = graph.forward.edges[network.edge[i]]
    if flow <= 0.0:
        network.out[i], network.slope[i], network.second_derivative[i] = 0.0, edge["a"] / edge["b"], 0.0
        network.known[i] = 0.0
        return True
    if flow < edge["x_min"]:
        return False
    taken, row = min(flow, edge["x_max"]), np.int64(edge["piece"])
    if edge["n_pieces"] > 1:
        row = network.row[i] = find_piece(edge, graph.pieces, taken, network.row[i])
    y, slope, second_derivative = compute_derivatives_in(edge, graph.pieces, row, taken)
    if not y > 0.0:
        return False
    network.out[i], network.slope[i], network.second_derivative[i] = y, slope, second_derivative
    network.known[i] = flow
    return True


@inner
def send_flows(x, merged):
    """Send `x[p]` down each path, filling the network.

    What an edge is given beyond its largest input is wasted, so that Newton's method can approach that from both sides.

    Returns
    -------
    float
        What arrives at the ends together; `INFEASIBLE` where an edge declines a flow that is too small.
    """
    graph, network, count = merged.graph, merged.network, merged.path_count
    first, who, carried = network.first, network.who, network.carried
    spend(network.work, merged.edge_count)
    copy_first(x, carried, count)
    for i in range(merged.edge_count):
        f = 0.0
        for n in range(first[i], first[i + 1]):
            f += carried[who[n]]
        network.flow[i] = f
        if f != network.known[i] and not _compute_edge(i, f, graph, network):
            return INFEASIBLE
        if f <= 0.0:
            continue
        share = network.out[i] / f
        for n in range(first[i], first[i + 1]):
            carried[who[n]] *= share
    result = 0.0
    for p in range(count):
        result += carried[p]
        product = 1.0
        for s in range(network.step.shape[1]):
            i = network.step[p, s]
            if i < 0:
                break
            network.before[p, s] = product
            product *= network.slope[i]
        network.price[p] = product
    return result


@inner
def has_waste(merged):
    """Whether some edge is given more than it takes."""
    graph, network, found = merged.graph, merged.network, False
    for i in range(merged.edge_count):
        found |= network.flow[i] > graph.forward.edges[network.edge[i]]["x_max"]
    return found


@inner
def find_full(merged, full):
    """List the edges at their largest input in `full`, up to its size; return their number.

    No more can be had at the marginal price of a path that crosses one. Such paths can only trade places.
    """
    graph, network, size = merged.graph, merged.network, 0
    for i in range(merged.edge_count):
        if size < full.size and network.flow[i] >= graph.forward.edges[network.edge[i]]["x_max"] * FULL:
            full[size] = i
            size += 1
    return size


@inner
def crosses(network, p, i):
    """Whether path p crosses edge i of the network."""
    found = False
    for s in range(network.step.shape[1]):
        found |= network.step[p, s] == i
    return found


@inner
def is_open(network, p, giver, full, fulls):
    """Whether path p may be given more at the cost of `giver` (-1: of all): every full edge it crosses frees up."""
    for n in range(fulls):
        if crosses(network, p, full[n]) and (giver < 0 or not crosses(network, giver, full[n])):
            return False
    return True
