"""The edges that paths of any number of markets may use, side by side, and their tokens, the best connected ones last.

A path visits no token twice, begins at the start and ends at the end. So tokens that can't be reached, or that lead to
the end nowhere, are left out, and those whose edges all join them to one and the same other token.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from routing_engine.jit.decorators import allocating, inner
from routing_engine.kernels.bound.loss_edges import NONE, SEVERAL, join

DEGREES = 64
"""Numbers of edges that tokens are ordered by; those with more come last, in any order."""


class FlowEdges(NamedTuple):
    """Edges by market, those of the m-th from ``first[m]`` on; ends are numbers of `tokens`, of which the end is last.

    `edge` are the rows of forward edges.
    """

    first: npt.NDArray[np.int64]
    edge: npt.NDArray[np.int64]
    source: npt.NDArray[np.int64]
    target: npt.NDArray[np.int64]
    tokens: npt.NDArray[np.int64]


@inner
def _spread(token, adjacency, problem, is_reached, queue):
    """Mark what is reached from a token over allowed edges; paths go on from neither the start nor the end."""
    is_reached[token] = True
    queue[0], size, done = token, 1, 0
    while done < size:
        u = queue[done]
        done += 1
        for row in range(adjacency.first[u], adjacency.first[u + 1]):
            v = adjacency.edges[row]["other"]
            if is_reached[v] or not problem.allowed[adjacency.edges[row]["market"]]:
                continue
            is_reached[v] = True
            if v != problem.start and v != problem.end:
                queue[size] = v
                size += 1


@inner
def _join_all(v, adjacency, problem, is_on_way, joined):
    """Return the one token that a token is joined to, with what joined it before."""
    for row in range(adjacency.first[v], adjacency.first[v + 1]):
        edge = adjacency.edges[row]
        if is_on_way[edge["other"]] and problem.allowed[edge["market"]]:
            joined = join(joined, edge["other"])
    return joined


@allocating
def mark_tokens_on_way(problem):
    """Return which tokens a path from the start to the end may visit."""
    graph, tokens = problem.graph, problem.units.size
    is_on_way, leads_on = np.zeros(tokens, np.bool_), np.zeros(tokens, np.bool_)
    queue = np.empty(tokens + 1, np.int64)
    _spread(problem.start, graph.forward, problem, is_on_way, queue)
    _spread(problem.end, graph.reverse, problem, leads_on, queue)
    any_is = True
    for v in range(tokens):
        is_on_way[v] &= leads_on[v]
    while any_is:
        any_is = False
        for v in range(tokens):
            if is_on_way[v] and v != problem.start and v != problem.end:
                joined = _join_all(v, graph.forward, problem, is_on_way, NONE)
                if _join_all(v, graph.reverse, problem, is_on_way, joined) != SEVERAL:
                    is_on_way[v] = False
                    any_is = True
    return is_on_way


@allocating
def _number_tokens(problem, is_on_way):
    """Return the tokens on the way in the order of their edges, the end last, and the number of each token."""
    forward, tokens = problem.graph.forward, problem.units.size
    order, number, size = np.empty(tokens, np.int64), np.full(tokens, -1), 0
    for degree in range(1, DEGREES + 1):
        for v in range(tokens):
            edges = min(forward.first[v + 1] - forward.first[v], DEGREES)
            if is_on_way[v] and v != problem.end and max(edges, 1) == degree:
                order[size], number[v] = v, size
                size += 1
    order[size], number[problem.end] = problem.end, size
    return order[: size + 1], number


@allocating
def list_flow_edges(problem):
    """List the edges between tokens on the way that paths may use."""
    graph = problem.graph
    tokens, number = _number_tokens(problem, mark_tokens_on_way(problem))
    first, edge = np.empty(problem.allowed.size + 1, np.int64), np.empty(graph.source.size, np.int64)
    markets, size = 0, 0
    for market in range(problem.allowed.size):
        if not problem.allowed[market]:
            continue
        first[markets] = size
        for place in range(graph.market_first[market], graph.market_first[market + 1]):
            e = graph.market_edges[place]
            u, v = graph.source[e], graph.forward.edges[e]["other"]
            if number[u] >= 0 and number[v] >= 0 and u != problem.end and v != problem.start:
                edge[size] = e
                size += 1
        markets += size > first[markets]
    first[markets] = size
    source, target = np.empty(size, np.int64), np.empty(size, np.int64)
    for place in range(size):
        source[place] = number[graph.source[edge[place]]]
        target[place] = number[graph.forward.edges[edge[place]]["other"]]
    return FlowEdges(first[: markets + 1], edge[:size], source, target, tokens)
