"""What a label of the search for single paths can still become: it tells which are not worth following.

Backwards from the end the best average prices of markets are multiplied: no path on from a token gives more for a unit
of it. The path that these prices promise is walked with the whole amount, once for each number of hops. A label that
can't become as good as that path, over as few hops, is not kept.

For exact-out the search goes from the target back to the source, which is its end. There the prices say how much of a
token a unit of the source becomes at most, so what is needed of the token costs at least that many times less.
"""

from __future__ import annotations

import numpy as np

from routing_engine.curves.kernels.edge_curve import compute_amount_in, compute_amount_out
from routing_engine.jit.decorators import inlined, inner
from routing_engine.kernels.arrays import FORWARD
from routing_engine.kernels.search.frontier import count_adjacent_edges, count_edges
from routing_engine.kernels.work import spend

SLACK = 1e-5
"""Part by which a path may be worse than the one that is known and still be found: more than what rounding hides."""


@inlined
def carry_over(edge, amount, problem):
    """Return what an edge gives for an amount, or, backwards, what it needs for one; and how many pieces it enters."""
    if problem.direction == FORWARD:
        return compute_amount_out(edge, problem.pieces, amount)
    return compute_amount_in(edge, problem.pieces, amount)


@inlined
def _may_raise_price(k, u, v, link, prospects):
    """Whether an edge from u to v may raise what a unit of u becomes: of most that can't, only the link is read."""
    return prospects.most[k, v] * link["rate"] > prospects.most[k + 1, u]


@inlined
def _raise_price(k, e, u, v, edge, problem, prospects):
    """Let edge `e` raise what a unit of u may become over up to k + 1 hops; return whether it is the round's first."""
    most = prospects.most
    price, known = most[k, v] * edge["max_average_price"], most[k + 1, u]
    if price <= known or not problem.allowed[edge["market"]]:
        return False
    most[k + 1, u], prospects.via[k + 1, u] = price, e
    return known == most[k, u]


@inner
def _look_back_from(k, first, last, problem, prospects):
    """Follow the edges that lead to the round's tokens; return how many tokens are reached."""
    backward, reached, size = problem.backward, prospects.reached, last
    for i in range(first, last):
        v = reached[i]
        spend(problem.work, backward.first[v + 1] - backward.first[v])
        for row in range(backward.first[v], backward.first[v + 1]):
            u = backward.links[row]["other"]
            if u == problem.start or u == problem.end or not _may_raise_price(k, u, v, backward.links[row], prospects):
                continue
            edge = backward.edges[row]
            if _raise_price(k, edge["twin"], u, v, edge, problem, prospects):
                reached[size] = u
                size += 1
    return size


@inner
def _look_back_near_start(k, size, problem, prospects):
    """Follow the edges of the tokens adjacent to the start; return how many tokens are reached."""
    onward, start = problem.onward, problem.start
    for row in range(onward.first[start], onward.first[start + 1]):
        u = onward.links[row]["other"]
        if u == problem.end:
            continue
        found = False
        spend(problem.work, onward.first[u + 1] - onward.first[u])
        for e in range(onward.first[u], onward.first[u + 1]):
            v = onward.links[e]["other"]
            if v != start and _may_raise_price(k, u, v, onward.links[e], prospects):
                found |= _raise_price(k, e, u, v, onward.edges[e], problem, prospects)
        if found:
            prospects.reached[size] = u
            size += 1
    return size


@inner
def _walk_from_start(hops, problem, prospects):
    """Return the score of the path of up to so many hops that prices promise most of; -inf if it is none."""
    edges, links, most, first, best = problem.onward.edges, problem.onward.links, prospects.most, -1, 0.0
    for e in range(problem.onward.first[problem.start], problem.onward.first[problem.start + 1]):
        there = most[hops - 1, links[e]["other"]]
        if there * links[e]["rate"] <= best:
            continue
        price = edges[e]["max_average_price"] * there
        if price > best and problem.allowed[edges[e]["market"]]:
            first, best = e, price
    if first < 0:
        return -np.inf
    e, amount, cost, walk = first, problem.amount, 0.0, prospects.walk
    for place in range(hops):
        edge = edges[e]
        amount, entered = carry_over(edge, amount, problem)
        if not amount > 0.0:
            return -np.inf
        cost += (edge["gas"] + edge["gas_per_piece"] * entered) * problem.weights.gas_cost[edge["chain"]]
        for before in range(place):
            if edges[walk[before]]["other"] == edge["other"] or edges[walk[before]]["market"] == edge["market"]:
                return -np.inf
        if edge["other"] == problem.end:
            return problem.direction * amount - cost * problem.weights.units[problem.end]
        walk[place] = e
        e = prospects.via[hops - 1 - place, edge["other"]]
    return -np.inf


@inner
def fill_prospects(problem, prospects):
    """Fill what a unit of each token may become, and what paths of each number of hops must score to be found.

    Backwards, from the target to the source, it is how much of the token a unit of the source may become.

    Returns
    -------
    int
        Number of tokens in `prospects.reached`, for `clear_prospects`.
    """
    onward, backward, most, reached = problem.onward, problem.backward, prospects.most, prospects.reached
    reached[0] = problem.end
    most[0, problem.end] = 1.0
    last, size = 0, 1  # the round's tokens begin at `last`
    edges_near_start = count_adjacent_edges(onward, problem.start)
    prospects.floor[0] = -np.inf
    for k in range(problem.max_hops):
        score = _walk_from_start(k + 1, problem, prospects)
        prospects.floor[k + 1] = max(prospects.floor[k], score - SLACK * abs(score))
        if k == problem.max_hops - 1:
            break
        for i in range(size):
            most[k + 1, reached[i]] = most[k, reached[i]]
            prospects.via[k + 1, reached[i]] = prospects.via[k, reached[i]]
        first, last = last, size
        is_last = k == problem.max_hops - 2
        if is_last and edges_near_start < count_edges(backward.first, reached[first:], last - first):
            size = _look_back_near_start(k, size, problem, prospects)
        else:
            size = _look_back_from(k, first, last, problem, prospects)
    return size


@inner
def clear_prospects(prospects, size):
    """Undo `fill_prospects`."""
    for i in range(size):
        prospects.most[:, prospects.reached[i]] = 0.0


@inlined
def is_promising(k, v, amount, cost, problem, prospects):
    """Whether `amount` of token v, reached over k hops for `cost`, may become as good as a path that is known."""
    most, spent = prospects.most, cost * problem.weights.units[problem.end]
    for hops in range(problem.max_hops, k - 1, -1):
        price = most[hops - k, v]
        if price <= 0.0:
            return False  # nor over fewer hops
        value = amount * price if problem.direction == FORWARD else -amount / price
        if value - spent >= prospects.floor[hops]:
            return True
    return False
