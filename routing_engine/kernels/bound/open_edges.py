"""Edges that routes of one request can use, listed by token when prices first go through them.

A certificate prices the same tokens again and again, with other multipliers each time. Of the thousands of edges of a
hub few join tokens that the amount reaches, and these are the same each time.
"""

from __future__ import annotations

import numpy as np

from routing_engine.jit.decorators import inlined, inner
from routing_engine.kernels.search.frontier import count_adjacent_edges

ARRIVING, LEAVING = 0, 1
"""Lists of rows of reverse edges, and of forward edges."""

LISTS, ROWS, NEAR_START = 0, 1, 2
"""What `OpenEdges.sizes` counts: lists, rows in all of them, and edges of the start and the tokens adjacent to it."""


@inner
def _is_open(e, u, v, edge, problem, state):
    """Whether forward edge `e` from token u to token v can be on a route: it takes some of what is at u."""
    limit = state.limit[u]
    if limit <= 0.0 or limit < edge["x_min"] or u == problem.end or v == problem.start:
        return False
    return (v == problem.end or state.limit[v] > 0.0) and problem.allowed[edge["market"]] and not state.closed[e]


@inner
def _keep_list(way, token, first, last, lists):
    """Note where the list of a token is."""
    lists.span[way, token, 0], lists.span[way, token, 1] = first, last
    lists.listed[lists.sizes[LISTS], 0], lists.listed[lists.sizes[LISTS], 1] = way, token
    lists.sizes[LISTS] += 1
    lists.sizes[ROWS] = last - 1


@inner
def _make_list_to(v, problem, state):
    """List the open edges that lead to token v."""
    reverse, lists = problem.graph.reverse, state.open_edges
    first = last = lists.sizes[ROWS] + 1
    for row in range(reverse.first[v], reverse.first[v + 1]):
        edge = reverse.edges[row]
        if _is_open(np.int64(edge["twin"]), np.int64(edge["other"]), v, edge, problem, state):
            lists.rows[last] = row
            last += 1
    _keep_list(ARRIVING, v, first, last, lists)


@inner
def _make_list_from(u, problem, state):
    """List the open edges that leave token u."""
    forward, lists = problem.graph.forward, state.open_edges
    first = last = lists.sizes[ROWS] + 1
    for e in range(forward.first[u], forward.first[u + 1]):
        edge = forward.edges[e]
        if _is_open(e, u, np.int64(edge["other"]), edge, problem, state):
            lists.rows[last] = e
            last += 1
    _keep_list(LEAVING, u, first, last, lists)


@inlined
def list_edges_to(v, problem, state):
    """Return where `state.open_edges.rows` lists the open reverse edges of token v: the first place, and past the last.

    Lists hold until `forget_open_edges`: limits, closed edges and allowed markets stay as they are until then.
    """
    span = state.open_edges.span
    if span[ARRIVING, v, 0] == 0:
        _make_list_to(np.int64(v), problem, state)
    return span[ARRIVING, v, 0], span[ARRIVING, v, 1]


@inlined
def list_edges_from(u, problem, state):
    """Return the same of the forward edges of token u."""
    span = state.open_edges.span
    if span[LEAVING, u, 0] == 0:
        _make_list_from(np.int64(u), problem, state)
    return span[LEAVING, u, 0], span[LEAVING, u, 1]


@inlined
def count_edges_near_start(problem, state):
    """Count the edges of the start and of all tokens adjacent to it, the first time that it is asked for."""
    sizes = state.open_edges.sizes
    if sizes[NEAR_START] == 0:
        sizes[NEAR_START] = count_adjacent_edges(problem.graph.forward, problem.start)
    return sizes[NEAR_START]


@inner
def forget_open_edges(state):
    """Undo all lists."""
    lists = state.open_edges
    for i in range(lists.sizes[LISTS]):
        lists.span[lists.listed[i, 0], lists.listed[i, 1], 0] = 0
    for i in range(lists.sizes.size):
        lists.sizes[i] = 0
