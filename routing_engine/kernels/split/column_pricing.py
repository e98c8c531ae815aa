"""Paths that would improve an allocation: search backwards from the target, carrying dual prices instead of amounts.

A label of round k at token u holds what one unit of u is worth at the target over k more markets: at the marginal
prices of the markets in use, and at the best net average prices of the others. So a market that is not yet used must
first earn its gas.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from routing_engine.jit.decorators import allocating, inlined, inner
from routing_engine.kernels.bound.arrivals import (
    clear_arrivals,
    fill_arrivals,
    find_arrival,
    get_arrival,
    may_look_ahead,
    weigh_arrivals,
)
from routing_engine.kernels.bound.open_edges import list_edges_from, list_edges_to, open_edges_above
from routing_engine.kernels.marginal_price import bound_net_rate, value_base_gas
from routing_engine.kernels.search.labels import LABELS, Extension, insert
from routing_engine.kernels.split.hopes import ATTEMPTS, hope_anew, hope_for_less, hope_for_promises, weigh_hopes
from routing_engine.kernels.work import spend

BY_SCORE = np.bool_(False)
"""Labels are ranked by their dual price, not by time."""


ROUNDING = 1e-9
"""Part by which a price may be higher than it is found."""


class Columns(NamedTuple):
    """Paths that may be added, one per row of `found`: forward edges, -1 past the end; and each one's dual price.

    `hope` is what `routing_engine.kernels.split.hopes` keeps from one search of an allocation to the next.
    """

    found: npt.NDArray[np.int32]
    price: npt.NDArray[np.float64]
    hope: npt.NDArray[np.float64]


class Threshold(NamedTuple):
    """What a path and a market on it must bring.

    `enough` is what the whole amount must be worth more than along a path. `min_gain` is what a market that is not in
    use must bring at least, even if it costs no gas. Else the many markets of next to nothing at wrong prices would be
    all that is found.
    """

    enough: float
    min_gain: float


@inlined
def _may_extend(k, u, highest, listed, problem, state, threshold):
    """Whether a label of round k, of which `highest` is the best dual price, may count at token u over an open edge.

    Marginal prices of a concave curve are no higher than its best average price.
    """
    here = get_arrival(problem.max_hops - k - 1, u, problem, state)
    value = listed["max_average_price"] * highest * here
    return value * (1.0 + ROUNDING) > threshold.enough or listed["concave"] == 0


@inlined
def _extend(k, v, row, problem, state, threshold, scratch):
    """Extend the labels of round k at token v over an open reverse edge.

    Whether the token reached has its first label by it.
    """
    edge = problem.graph.reverse.edges[row]
    e, u = edge["twin"], edge["other"]
    owner = state.owner[edge["market"]]
    if state.shut[e] or (owner >= 0 and owner != e):
        return False
    # A route that goes on over k + 1 hops has no more than that at u.
    here = find_arrival(problem.max_hops - k - 1, np.int64(u), problem, state)
    in_use, is_first = state.flow[e] > 0.0, False
    highest = state.slope[e] if in_use else edge["max_average_price"]
    cost = max(value_base_gas(edge, problem.gas), threshold.min_gain)
    least_loss = cost / min(state.room[u], edge["x_max"])
    for slot in range(v * LABELS, v * LABELS + np.int64(scratch.counts[k, v])):
        dual_price = scratch.labels[k, slot]["amount"]
        value = highest * dual_price
        if not value * here > threshold.enough:
            break  # nor are labels after this one, which are lower
        if not in_use:
            lowest = -np.inf
            if scratch.counts[k + 1, u] == LABELS:
                lowest = scratch.labels[k + 1, u * LABELS + LABELS - 1]["score"]
            if value <= lowest:
                break
            ceiling = max(0.0, value - least_loss)  # as of `bound_net_rate_soon`
            if ceiling <= lowest or not ceiling * here > threshold.enough:
                continue
            value = bound_net_rate(edge, problem.graph.pieces, dual_price, cost, state.room[u])
            if not value * here > threshold.enough:
                continue
        new = Extension(k, slot, row, value, 0.0, 0.0, value)
        is_first |= insert(scratch, problem.graph.reverse.edges, new, BY_SCORE, problem.end)
    return is_first


@inner
def _extend_from_tokens(k, size, problem, state, threshold, scratch):
    """Fill round k + 1 by the open edges that lead to the `size` tokens of round k; return its size."""
    new_size = 0
    for i in range(size):
        v = np.int64(scratch.touched[k, i])
        if v == problem.start:
            continue
        first, last = list_edges_to(v, problem, state)
        highest = scratch.labels[k, v * LABELS]["amount"]
        spend(problem.work, (last - first) * np.int64(scratch.counts[k, v]))
        for place in range(first, last):
            listed = state.open_edges.listed[place]
            if not _may_extend(k, np.int64(listed["other"]), highest, listed, problem, state, threshold):
                continue
            if _extend(k, v, np.int64(listed["row"]), problem, state, threshold, scratch):
                scratch.touched[k + 1, new_size] = listed["other"]
                new_size += 1
    return new_size


@inner
def _extend_to_start(k, problem, state, threshold, scratch):
    """Fill round k + 1, the last one, by the open edges that leave the start; return its size."""
    edges, start, found = problem.graph.forward.edges, problem.start, False
    first, last = list_edges_from(start, problem, state)
    spend(problem.work, last - first)
    for place in range(first, last):
        listed = state.open_edges.listed[place]
        v, twin = np.int64(listed["other"]), np.int64(edges[listed["edge"]]["twin"])
        found |= _extend(k, v, twin, problem, state, threshold, scratch)
    if found:
        scratch.touched[k + 1, 0] = start
    return np.int64(found)


@inner
def _collect(problem, scratch, columns):
    """Write the labels of the start as paths of forward edges; return their number."""
    start, total = problem.start, 0
    for k in range(1, problem.max_hops + 1):
        for s in range(scratch.counts[k, start]):
            slot = start * LABELS + s
            columns.price[total] = scratch.labels[k, slot]["amount"]
            for layer in range(k, 0, -1):
                label = scratch.labels[layer, slot]
                columns.found[total, k - layer] = problem.graph.reverse.edges[label["edge"]]["twin"]
                slot = label["parent"]
            total += 1
    return total


@inner
def _search(problem, state, threshold, scratch, sizes):
    """Fill all rounds: all labels that may become paths which are worth what is asked, weighed; and their sizes."""
    end, max_hops = problem.end, problem.max_hops
    scratch.touched[0, 0] = end
    sizes[0] = 1
    scratch.labels[0, end * LABELS]["amount"] = 1.0
    scratch.counts[0, end] = 1
    for k in range(max_hops - 1):
        sizes[k + 1] = _extend_from_tokens(k, sizes[k], problem, state, threshold, scratch)
    sizes[max_hops] = _extend_to_start(max_hops - 1, problem, state, threshold, scratch)


@inner
def _forget_labels(scratch, sizes):
    """Undo `_search`."""
    for k in range(sizes.size):
        for i in range(sizes[k]):
            scratch.counts[k, scratch.touched[k, i]] = 0


@allocating
def price_columns(problem, state, threshold, scratch, columns):
    """Find the paths along which one more unit at the start is worth most.

    Of each number of hops at most `LABELS` are found. First, only such are looked for as are worth more than is asked
    by what is hoped for. Where as many are found, they are the best there are.

    Parameters
    ----------
    state : FlowState
        Present flows, and what limits new ones.
    threshold : Threshold
        What paths must bring.
    columns : Columns
        `found`, of shape (max_hops * LABELS, max_hops), is all -1 before. Both are filled, one row per path.
        `hope` is from the last search of the same allocation.

    Returns
    -------
    int
        Number of rows filled.
    """
    sizes, hope = np.zeros(problem.max_hops + 1, np.int64), columns.hope
    open_edges_above(threshold.enough, problem, state)
    looks_ahead = may_look_ahead(problem)
    if looks_ahead:
        hope_for_promises(problem, state, threshold.enough, hope)
        weigh_hopes(problem, hope, state)
        fill_arrivals(problem, state)
    for attempt in range(ATTEMPTS):
        _search(problem, state, threshold, scratch, sizes)
        if not looks_ahead or not hope_for_less(problem, hope, attempt, scratch):
            break
        _forget_labels(scratch, sizes)
        weigh_hopes(problem, hope, state)
        weigh_arrivals(problem, state)
    total = _collect(problem, scratch, columns)
    if looks_ahead:
        hope_anew(problem, threshold.enough, hope, scratch)
    _forget_labels(scratch, sizes)
    clear_arrivals(state)
    state.arrivals.weight[:] = 1.0
    return total
