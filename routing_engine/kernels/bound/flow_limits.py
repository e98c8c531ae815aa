"""Upper bounds of how much of each token can be there: they limit the use of a market with a fixed cost.

`fill_limits` multiplies the amount by the best product of average prices: no allocation brings more to a token. But one
market that sells a dollar's worth at a tenth of the price makes that ten times what can really be had. So
`tighten_limits` looks again. Where many markets sell a token, one that is exhausted at once has no say. What it gives
above the others' rate is added up: the arbitrage surplus.

Let ``r(k, v)`` be such rates: units of v after k hops for a unit of the start. From u to v an edge with input f gives
at most ``f r(k + 1, v) / r(k, u)`` and what it can earn at that price. So the amount at a token, divided by r, never
grows on the way but by what markets earn, each once: of v there is at most ``r(k, v)`` times the amount and all
surplus.
"""

from __future__ import annotations

import numpy as np

from routing_engine.curves.kernels.edge_curve import bound_above, compute_amount_out
from routing_engine.jit.decorators import inner, kernel
from routing_engine.kernels.marginal_price import compute_derivatives, find_arbitrage
from routing_engine.kernels.search.frontier import count_adjacent_edges, count_edges, mark_adjacent

MANY_SELLERS = 8
"""Edges that sell a token from which on one of them may have no say: a token of few markets may have nothing else."""

PROBE, KEPT_PRICE = 1e-2, 0.99
"""Part of the amount after which an edge's marginal price is looked at, and the part of its best price that it must
still have to have a say at that."""

MAX_SURPLUS = 1e-2
"""Surplus, as a part of the amount, from which on no market is left out."""

LOWER = 0.9
"""Part of a limit that a lower one must be to matter."""

UNDIVIDED, EVERY_MARKET, UNEXHAUSTED = np.int64(0), np.int64(1), np.int64(2)
"""Rules. The whole amount goes one way. Or it is split, and every market has a say. Or it is split, and markets that
are exhausted at once have none."""


@inner
def _bound_output(edge, pieces, here, has_many_sellers, rule):
    """Return what an edge gives at most for what is at its token, and whether it may give a surplus beside that."""
    if rule == UNDIVIDED:
        y, _ = compute_amount_out(edge, pieces, min(here, edge["x_max"]))
        return y * bound_above(edge, pieces, here), False
    best, probe = here * edge["max_average_price"], PROBE * here
    if rule == EVERY_MARKET or not has_many_sellers or edge["concave"] == 0 or probe <= edge["x_min"]:
        return best, False
    slope = 0.0
    if probe < edge["x_max"]:
        _, slope, _ = compute_derivatives(edge, pieces, probe)
    if slope >= KEPT_PRICE * edge["max_average_price"]:
        return best, False
    y, _ = compute_amount_out(edge, pieces, min(here, edge["x_max"]))
    return min(best, max(here * slope, y) * bound_above(edge, pieces, here)), True


@inner
def _has_many_sellers(v, problem):
    """Whether so many edges arrive at a token that some of them may have no say; never at the end."""
    first = problem.graph.reverse.first
    return v != problem.end and first[v + 1] - first[v] >= MANY_SELLERS


@inner
def _is_shut(edge, here, problem, rule):
    """Whether an edge takes nothing of what is at its token, surplus included."""
    more = MAX_SURPLUS if rule == UNEXHAUSTED else 0.0
    return not problem.allowed[edge["market"]] or here * (1.0 + more) < edge["x_min"]


@inner
def _follow_edges_from(k, first, last, inflow, problem, is_adjacent, rule):
    """Follow the edges that leave the round's tokens; return how many tokens are reached."""
    graph, most, size = problem.graph, inflow.most, last
    forward = graph.forward
    for i in range(first, last):
        u = inflow.reached[i]
        here = most[k, u]
        if u == problem.end:
            continue
        for e in range(forward.first[u], forward.first[u + 1]):
            edge = forward.edges[e]
            v = edge["other"]
            best = here * edge["max_average_price"]
            if best <= most[k + 1, v] or v == problem.start or _is_shut(edge, here, problem, rule):
                continue
            if k == problem.max_hops - 2 and v != problem.end and not is_adjacent[v]:
                continue
            there, has_surplus = _bound_output(edge, graph.pieces, here, _has_many_sellers(v, problem), rule)
            inflow.has_surplus[k + 1, v] |= has_surplus
            if there <= most[k + 1, v]:
                continue
            if most[k + 1, v] == most[k, v]:
                inflow.reached[size] = v
                size += 1
            most[k + 1, v] = there
    return size


@inner
def _follow_edges_to(k, size, v, inflow, problem, rule):
    """Follow the edges that arrive at a token; return how many tokens are reached."""
    graph, most = problem.graph, inflow.most
    reverse = graph.reverse
    before = most[k + 1, v]
    for row in range(reverse.first[v], reverse.first[v + 1]):
        edge = reverse.edges[row]
        u = edge["other"]
        here = most[k, u]
        best = here * edge["max_average_price"]
        if best <= most[k + 1, v] or u == problem.end or _is_shut(edge, here, problem, rule):
            continue
        there, has_surplus = _bound_output(edge, graph.pieces, here, _has_many_sellers(v, problem), rule)
        inflow.has_surplus[k + 1, v] |= has_surplus
        most[k + 1, v] = max(there, most[k + 1, v])
    if most[k + 1, v] == before:
        return size
    inflow.reached[size] = v
    return size + 1


@inner
def _fill_inflow(inflow, problem, is_adjacent, rule):
    """Fill `inflow` by one rule; return how many tokens are reached.

    The search goes on only from tokens of which there can be more than over fewer hops.
    """
    forward, reverse, most, reached = problem.graph.forward, problem.graph.reverse, inflow.most, inflow.reached
    start, end, max_hops = problem.start, problem.end, problem.max_hops
    mark_adjacent(reverse, end, is_adjacent, True)
    reached[0] = start
    most[0, start] = problem.amount
    last, size = 0, 1  # the round's tokens begin at `last`
    adjacent_edges = count_adjacent_edges(reverse, end)
    for k in range(max_hops):
        for i in range(size):
            most[k + 1, reached[i]] = most[k, reached[i]]
        first, last = last, size
        if k == max_hops - 1:
            size = _follow_edges_to(k, size, end, inflow, problem, rule)
        elif k == max_hops - 2 and adjacent_edges < count_edges(forward.first, reached[first:], last - first):
            size = _follow_edges_to(k, size, end, inflow, problem, rule)
            for row in range(reverse.first[end], reverse.first[end + 1]):
                v = reverse.edges[row]["other"]
                if is_adjacent[v] and v != start:
                    is_adjacent[v] = False  # once, however many edges lead there
                    size = _follow_edges_to(k, size, v, inflow, problem, rule)
            mark_adjacent(reverse, end, is_adjacent, True)
        else:
            size = _follow_edges_from(k, first, last, inflow, problem, is_adjacent, rule)
    mark_adjacent(reverse, end, is_adjacent, False)
    return size


@kernel
def fill_limits(problem, state, is_adjacent, is_single_path):
    """Fill `state.inflow`: what can be at a token after up to k hops, 0 without a path; and `state.limit`.

    Parameters
    ----------
    is_adjacent : bool array, shape (tokens,)
        All False, and again afterwards.
    is_single_path : bool
        Whether the whole amount goes one way: then each market gives no more than for all that is at its token.

    Returns
    -------
    int
        Number of tokens in `state.inflow.reached`, for `clear_limits`.
    """
    inflow, rule = state.inflow, UNDIVIDED if is_single_path else EVERY_MARKET
    size = _fill_inflow(inflow, problem, is_adjacent, rule)
    for i in range(size):
        state.limit[inflow.reached[i]] = inflow.most[problem.max_hops, inflow.reached[i]]
    return size


@inner
def _add_up_surplus(k, v, most, problem):
    """Return what edges to v may give above the rate of round k + 1, as a part of the amount."""
    reverse, there, total = problem.graph.reverse, most[k + 1, v], 0.0
    for row in range(reverse.first[v], reverse.first[v + 1]):
        edge = reverse.edges[row]
        u = edge["other"]
        here = most[k, u]
        best = here * edge["max_average_price"]
        if best > there and u != problem.end and not _is_shut(edge, here, problem, UNEXHAUSTED):
            limit = here * (1.0 + MAX_SURPLUS)
            scale = bound_above(edge, problem.graph.pieces, limit)
            earned, _ = find_arbitrage(edge, problem.graph.pieces, scale, there / here, limit)
            total += earned / there
    return total


@kernel
def tighten_limits(problem, state, is_adjacent):
    """Lower `state.limit` to what unexhausted markets give, and the surplus; `fill_limits` left it for a split amount.

    `state.inflow` stays: the value of all that can be had along the best prices is what rules a token out.

    Returns
    -------
    bool
        Whether some limit is `LOWER` now.
    """
    most, reached = state.supply.most, state.supply.reached
    size = _fill_inflow(state.supply, problem, is_adjacent, UNEXHAUSTED)
    total = 0.0
    for i in range(size):
        for k in range(problem.max_hops):
            if state.supply.has_surplus[k + 1, reached[i]]:
                state.supply.has_surplus[k + 1, reached[i]] = False
                total += _add_up_surplus(k, reached[i], most, problem)
    is_lower = False
    for i in range(size):
        v = reached[i]
        limit = most[problem.max_hops, v] * (1.0 + total)
        if total < MAX_SURPLUS and 0.0 < limit < state.limit[v]:
            is_lower |= limit < LOWER * state.limit[v]
            state.limit[v] = limit
        most[:, v] = 0.0
    return is_lower


@kernel
def clear_limits(state, size):
    """Undo `fill_limits` and `tighten_limits`."""
    for i in range(size):
        state.inflow.most[:, state.inflow.reached[i]] = 0.0
        state.limit[state.inflow.reached[i]] = 0.0
