"""Edges that routes of one request can use, listed by token when prices first go through them.

Columns and certificates price the same tokens again and again. Of the thousands of edges of a hub few join tokens that
the amount reaches, and few of these are on a route that may be worth enough; they are the same each time.
"""

from __future__ import annotations

import numpy as np

from routing_engine.jit.decorators import inlined, inner
from routing_engine.kernels.bound.outlook import (
    FIRST_MARGIN,
    LEAST,
    MARGIN,
    clear_outlook,
    fill_outlook,
    may_count,
)
from routing_engine.kernels.search.frontier import count_adjacent_edges
from routing_engine.kernels.work import spend

ARRIVING, LEAVING = 0, 1
"""Lists of rows of reverse edges, and of forward edges."""

NARROWER = 1e-3
"""Relative growth of what routes must be worth at which lists are gone through for edges that no longer count."""

LISTS, ROWS, NEAR_START = 0, 1, 2
"""What `OpenEdges.sizes` counts: lists, rows in all of them, and edges of the start and the tokens adjacent to it."""


@inlined
def _may_be_open(u, v, link, problem, state):
    """Whether an edge from token u to token v may be: of most that are not, nothing but the link is read."""
    last = problem.max_hops - 1
    here, there = state.inflow.most[last, u], state.outlook.most[last, v]
    return state.limit[u] > 0.0 and here * link["rate"] * there > state.outlook.scope[LEAST]


@inner
def _is_open(e, u, v, edge, problem, state):
    """Whether forward edge `e` from token u to token v can be on a route: it takes some of what is at u."""
    limit = state.limit[u]
    if limit <= 0.0 or limit < edge["x_min"] or u == problem.end or v == problem.start:
        return False
    if (v != problem.end and state.limit[v] <= 0.0) or not may_count(u, v, edge["max_average_price"], problem, state):
        return False
    return problem.allowed[edge["market"]] and not state.closed[e]


@inner
def _keep_list(way, token, first, last, lists):
    """Note where the list of a token is."""
    lists.span[way, token, 0], lists.span[way, token, 1] = first, last
    lists.lists[lists.sizes[LISTS], 0], lists.lists[lists.sizes[LISTS], 1] = way, token
    lists.sizes[LISTS] += 1
    lists.sizes[ROWS] = last - 1


@inlined
def _put_on_list(place, row, e, edge, listed):
    """Put an edge in a place of a list: a row of one direction's edges, and forward edge `e`."""
    listed[place]["max_average_price"], listed[place]["other"] = edge["max_average_price"], edge["other"]
    listed[place]["row"], listed[place]["edge"], listed[place]["concave"] = row, e, edge["concave"]


@inner
def _make_list_to(v, problem, state):
    """List the open edges that lead to token v."""
    reverse, lists = problem.graph.reverse, state.open_edges
    spend(problem.work, reverse.first[v + 1] - reverse.first[v])
    first = last = lists.sizes[ROWS] + 1
    for row in range(reverse.first[v], reverse.first[v + 1]):
        u = np.int64(reverse.links[row]["other"])
        if not _may_be_open(u, v, reverse.links[row], problem, state):
            continue
        edge = reverse.edges[row]
        if _is_open(np.int64(edge["twin"]), u, v, edge, problem, state):
            _put_on_list(last, row, edge["twin"], edge, lists.listed)
            last += 1
    _keep_list(ARRIVING, v, first, last, lists)


@inner
def _make_list_from(u, problem, state):
    """List the open edges that leave token u."""
    forward, lists = problem.graph.forward, state.open_edges
    spend(problem.work, forward.first[u + 1] - forward.first[u])
    first = last = lists.sizes[ROWS] + 1
    for e in range(forward.first[u], forward.first[u + 1]):
        v = np.int64(forward.links[e]["other"])
        if not _may_be_open(u, v, forward.links[e], problem, state):
            continue
        edge = forward.edges[e]
        if _is_open(e, u, v, edge, problem, state):
            _put_on_list(last, e, e, edge, lists.listed)
            last += 1
    _keep_list(LEAVING, u, first, last, lists)


@inner
def _narrow_lists(problem, state):
    """Take the edges that no longer count off all lists."""
    lists = state.open_edges
    spend(problem.work, lists.sizes[ROWS])
    for i in range(lists.sizes[LISTS]):
        way, token = lists.lists[i, 0], lists.lists[i, 1]
        first, kept = lists.span[way, token, 0], lists.span[way, token, 0]
        for place in range(first, lists.span[way, token, 1]):
            edge = lists.listed[place]
            other = np.int64(edge["other"])
            u, v = (other, token) if way == ARRIVING else (token, other)
            if may_count(u, v, edge["max_average_price"], problem, state):
                lists.listed[kept] = edge
                kept += 1
        lists.span[way, token, 1] = kept


@inner
def open_edges_above(enough, problem, state):
    """Make lists hold for all routes along which the whole amount may be worth more than `enough`."""
    scope, enough = state.outlook.scope, max(0.0, enough)
    if enough < scope[LEAST]:
        forget_open_edges(state)
        clear_outlook(state.outlook)
        fill_outlook(problem, state, enough)
    elif enough > scope[LEAST] * (1.0 + NARROWER):
        scope[LEAST] = enough * (1.0 - FIRST_MARGIN)
        _narrow_lists(problem, state)


@inlined
def list_edges_to(v, problem, state):
    """Return where `state.open_edges.listed` has the open reverse edges of token v: the first place, and past the last.

    Lists hold until `forget_open_edges`: limits, closed edges and allowed markets stay as they are until then. Before
    comes `open_edges_above`.
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
        lists.span[lists.lists[i, 0], lists.lists[i, 1], 0] = 0
    for i in range(lists.sizes.size):
        lists.sizes[i] = 0


@inner
def forget_all(state):
    """Undo all lists and what told which edges count."""
    forget_open_edges(state)
    clear_outlook(state.outlook)
    state.outlook.scope[MARGIN] = FIRST_MARGIN
