"""A few paths walked side by side, to know of a good one before all labels are made.

The one path that average prices promise most of may cross a market that is too small for the amount. So from every hop
on the few tokens are kept that promise most for what has really arrived there. What such paths give at the end is what
others must come up to.
"""

from __future__ import annotations

import numpy as np

from routing_engine.jit.decorators import inlined, inner
from routing_engine.kernels.arrays import FORWARD
from routing_engine.kernels.search.prospects import SLACK, carry_over
from routing_engine.kernels.vectors import copy_first
from routing_engine.kernels.work import spend

WIDTH = 16
"""Tokens that are kept after each hop."""

LARGE = 16_384
"""Edges of a market from which on a beam saves more than it costs."""

PLACE = np.dtype(
    [
        ("amount", np.float64),
        ("cost", np.float64),  # gas so far, in the root's units
        ("promise", np.float64),  # what the whole path may score at most
        ("token", np.int32),
        ("edge", np.int32),  # last edge
        ("parent", np.int32),  # place that it came from, after a hop less
    ],
    align=True,
)
"""A token that is kept, and how it was come by."""


@inlined
def _score(amount, price, cost, problem):
    """Score an amount of which a unit becomes, or backwards is had for, this much of the end's token."""
    value = amount * price if problem.direction == FORWARD else -amount / price
    return value - cost * problem.weights.units[problem.end]


@inner
def _is_simple(hops, parent, edge, problem, beam):
    """Whether an edge leads from a place to a token, over a market, that its path has not met."""
    edges = problem.onward.edges
    for back in range(hops, 0, -1):
        before = beam[back, parent]
        if before["token"] == edge["other"] or edges[before["edge"]]["market"] == edge["market"]:
            return False
        parent = before["parent"]
    return edge["other"] != problem.start


@inner
def _keep(size, place, kept):
    """Keep a place in order, in that of its token if there is one; return how many are kept."""
    at = min(size, WIDTH - 1)
    for i in range(size):
        if kept[i]["token"] == place["token"]:
            if kept[i]["promise"] >= place["promise"]:
                return size
            at = i
    grown = size + 1 if at == size else size
    while at > 0 and kept[at - 1]["promise"] < place["promise"]:
        kept[at] = kept[at - 1]
        at -= 1
    kept[at] = place
    return grown


@inner
def _follow_edges_from(hops, parent, size, problem, prospects):
    """Extend a place over all edges of its token; return how many places of a hop more there are."""
    onward, beam, here = problem.onward, prospects.beam, prospects.beam[hops, parent]
    most, place = prospects.most[problem.max_hops - hops - 1], prospects.beam[hops + 1, WIDTH]
    first, last = onward.first[here["token"]], onward.first[here["token"] + 1]
    spend(problem.work, last - first)
    for e in range(first, last):
        v, rate = onward.links[e]["other"], onward.links[e]["rate"]
        if most[v] <= 0.0:
            continue
        lowest = beam[hops + 1, WIDTH - 1]["promise"] if size == WIDTH else -np.inf
        lowest = prospects.floor[hops + 1] if v == problem.end else lowest
        most_there = here["amount"] * rate if problem.direction == FORWARD else here["amount"] / rate
        if _score(most_there, most[v], here["cost"], problem) <= lowest:
            continue
        edge = onward.edges[e]
        if not problem.allowed[edge["market"]] or not _is_simple(hops, parent, edge, problem, beam):
            continue
        amount, entered = carry_over(edge, here["amount"], problem)
        if not amount > 0.0:
            continue
        cost = here["cost"] + (edge["gas"] + edge["gas_per_piece"] * entered) * problem.weights.gas_cost[edge["chain"]]
        promise = _score(amount, most[v], cost, problem)
        if v == problem.end:
            prospects.floor[hops + 1] = max(prospects.floor[hops + 1], promise - SLACK * abs(promise))
        elif promise > lowest:
            place["amount"], place["cost"], place["promise"] = amount, cost, promise
            place["token"], place["edge"], place["parent"] = v, e, parent
            size = _keep(size, place, beam[hops + 1])
    return size


@inner
def raise_floors(problem, prospects):
    """Ask of paths what the best of a beam gives, over as few hops; `prospects.least` keeps what was asked before."""
    floor, beam, size = prospects.floor, prospects.beam, 1
    copy_first(floor, prospects.least, floor.size)
    beam[0, 0]["amount"], beam[0, 0]["cost"], beam[0, 0]["token"] = problem.amount, 0.0, problem.start
    for hops in range(problem.max_hops):
        floor[hops + 1] = max(floor[hops + 1], floor[hops])
        before, size = size, 0
        for parent in range(before):
            size = _follow_edges_from(hops, parent, size, problem, prospects)
