"""Paths that carry most of what all flows would, at prices of tokens that suit them.

At such prices each market does what is best for it, and as much comes to a token as leaves it. So what all markets do
together is nearly the best division of an amount, over more markets than paths may use. It is taken apart from the
widest path on: the one that carries most value.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from routing_engine.jit.decorators import allocating, inner, kernel
from routing_engine.kernels.bound.all_flows.balanced_prices import (
    MANY_TOKENS,
    ROOM,
    ROUNDED,
    begin_prices,
    settle_prices,
)
from routing_engine.kernels.bound.all_flows.flow_edges import list_flow_edges
from routing_engine.kernels.bound.all_flows.flow_value import trade
from routing_engine.kernels.work import is_overdrawn, spend

SHARPEST = 3e-4
"""The least rounding of corners at which markets are asked: with sharper ones straight edges take all or nothing."""

NOTHING = 1e-9
"""The part of what an edge carried that is as good as nothing."""


class MarketFlows(NamedTuple):
    """What each market does: its place among the edges, what it takes, and what a unit of that gives.

    `left` is what no path carries yet.
    """

    place: npt.NDArray[np.int64]
    left: npt.NDArray[np.float64]
    taken: npt.NDArray[np.float64]
    rate: npt.NDArray[np.float64]


@allocating
def _list_flows(edges, problem, price, cap, rounded):
    """List what each market does at prices of tokens, those that do nothing left out."""
    markets, graph = edges.first.size - 1, problem.graph
    place, left, rate, size = np.empty(markets, np.int64), np.empty(markets), np.empty(markets), 0
    for m in range(markets):
        most_earned = 0.0
        for each in range(edges.first[m], edges.first[m + 1]):
            edge, u, v = graph.forward.edges[edges.edge[each]], edges.source[each], edges.target[each]
            most = min(edge["x_max"], cap[u])
            earned, taken, given, _ = trade(edge, graph.pieces, price[u], price[v], most, rounded)
            if earned > most_earned:
                most_earned = earned
                place[size], left[size], rate[size] = each, taken, given / taken
        size += most_earned > 0.0
    return MarketFlows(place[:size], left[:size], left[:size].copy(), rate[:size])


@inner
def _find_widest_path(edges, flows, price, start, width, via, path):
    """Fill the places among the flows of the path that carries most value; return how many there are."""
    hops, end = path.size, edges.tokens.size - 1
    width[:] = 0.0
    width[0, start] = np.inf
    best, most = 0, 0.0
    for h in range(hops):
        for k in range(flows.place.size):
            u, v = edges.source[flows.place[k]], edges.target[flows.place[k]]
            wide = min(width[h, u], flows.left[k] * price[u])
            if u != end and wide > width[h + 1, v]:
                width[h + 1, v], via[h + 1, v] = wide, k
        if width[h + 1, end] > most:
            best, most = h + 1, width[h + 1, end]
    v = end
    for h in range(best, 0, -1):
        path[h - 1] = via[h, v]
        v = edges.source[flows.place[path[h - 1]]]
    return best


@inner
def _take(edges, flows, path, hops):
    """Take as much as a path carries off its flows; return how much that is at its start, 0 if it runs in a circle."""
    amount, here = np.inf, 1.0
    for i in range(hops):
        k = path[i]
        amount = min(amount, flows.left[k] / here)
        here *= flows.rate[k]
    here, is_simple = amount, True
    for i in range(hops):
        k = path[i]
        v = edges.target[flows.place[k]]
        flows.left[k] -= here
        if flows.left[k] <= NOTHING * flows.taken[k]:
            flows.left[k] = 0.0
        here *= flows.rate[k]
        for j in range(i + 1):
            is_simple &= edges.source[flows.place[path[j]]] != v
    return amount if is_simple else 0.0


@kernel
def find_flow_paths(paths, problem, known):
    """Fill the widest paths of all flows of an amount, and what each takes; return how many there are.

    Parameters
    ----------
    paths : Paths
        Filled; its rows are as many paths as there may be, of as many hops.
    problem : SplitProblem
        Of its `work` is spent what this takes.
    known : float
        A net output that is known.

    Returns
    -------
    int
        0 where there are no such prices. The paths take less than the amount together.
    """
    if problem.units.size > MANY_TOKENS:
        return 0
    edges = list_flow_edges(problem)
    matrix, start, price = begin_prices(edges, problem)
    if start < 0:
        return 0
    cap = ROOM * price[start] * problem.amount / price
    for rounded in ROUNDED:
        if rounded < SHARPEST or is_overdrawn(problem.work):
            break
        settle_prices(edges, problem, start, price, cap, rounded, matrix, known)
    flows = _list_flows(edges, problem, price, cap, SHARPEST)
    hops, count = problem.max_hops, 0
    width, via = np.empty((hops + 1, price.size)), np.zeros((hops + 1, price.size), np.int64)
    path = np.zeros(hops, np.int64)
    while count < paths.x.size and not is_overdrawn(problem.work):
        spend(problem.work, flows.place.size * hops)
        length = _find_widest_path(edges, flows, price, start, width, via, path)
        if length == 0:
            break
        amount = _take(edges, flows, path, length)
        if amount > 0.0:
            paths.rows[count, :] = -1
            for i in range(length):
                paths.rows[count, i] = edges.edge[flows.place[path[i]]]
            paths.x[count] = amount
            count += 1
    return count
