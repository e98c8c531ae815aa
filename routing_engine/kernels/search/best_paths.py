"""Layered search for the best path that carries amounts.

Round k holds, for every token, the few best labels that reach it over exactly k markets (the shape of RAPTOR: rounds on
flat arrays instead of a priority queue). A label knows its amount, the gas it has cost, its fill time and the label it
came from; so the amount that enters a market is the amount that really arrives there, and prices depend on size.

Exact-out runs the same rounds backwards: from the target over reversed edges, carrying the input that is required.
"""

from __future__ import annotations

import numpy as np

from routing_engine.curves.kernels.edge_curve import amount_in, amount_out
from routing_engine.jit.decorators import inner, kernel
from routing_engine.kernels.arrays import FORWARD
from routing_engine.kernels.search.frontier import edges_beside, edges_of, mark_beside
from routing_engine.kernels.search.labels import LABELS, insert


@inner
def _relax(k, slot, e, direction, edges, tables, allowed, weights, start, end, labels, count):
    """Extend label `slot` of round k over edge `e`; whether the far token has its first label of round k + 1 by it."""
    edge = edges[e]
    if not allowed[edge["market"]]:
        return False
    label = labels[k, slot]
    if direction == FORWARD:
        amount, entered = amount_out(edge, tables, label["amount"])
    else:
        amount, entered = amount_in(edge, tables, label["amount"])
    if not amount > 0.0:  # refused, or NaN
        return False
    v = edge["other"]
    cost = label["cost"] + (edge["gas"] + edge["gas_per_piece"] * entered) * weights.gas_cost[edge["chain"]]
    time = label["time"] + edge["time"]
    if edge["time"] == 0.0 and (v == end if direction == FORWARD else k == 0):
        time += weights.last_block_s
    if direction == FORWARD:
        score = amount * (1.0 - weights.time_rate * time) - cost * weights.units[v]
    else:
        score = -(amount * (1.0 + weights.time_rate * time) + cost * weights.units[v])
    return insert(
        labels, count, edges, k, slot, e, amount, cost, time, score, weights.time_first, start
    )  # fmt: skip


@inner
def _arrive(k, size, v, onward, backward, tables, allowed, weights, start, end, direction, scratch):
    """Extend round k to token v, by way of the edges that arrive there; return the size of round k + 1."""
    reached = False
    for row in range(backward.first[v], backward.first[v + 1]):
        u = backward.edges[row]["other"]
        if u == end:
            continue
        for s in range(scratch.counts[k, u]):
            slot = u * LABELS + s
            e = np.int64(backward.edges[row]["twin"])
            reached |= _relax(
                k, slot, e, direction, onward.edges, tables, allowed, weights, start, end,
                scratch.labels, scratch.counts,
            )  # fmt: skip
    if reached:
        scratch.touched[k + 1, size] = v
    return size + reached


@inner
def _beside_end(k, onward, backward, tables, allowed, weights, start, end, direction, scratch):
    """Extend round k to the end and the tokens beside it; return the size of round k + 1."""
    size = _arrive(k, 0, end, onward, backward, tables, allowed, weights, start, end, direction, scratch)
    for row in range(backward.first[end], backward.first[end + 1]):
        v = backward.edges[row]["other"]
        if scratch.near[v] and v != start:
            scratch.near[v] = False  # once, however many edges lead there
            size = _arrive(k, size, v, onward, backward, tables, allowed, weights, start, end, direction, scratch)
    mark_beside(backward, end, scratch.near, True)
    return size


@inner
def _round(k, size, last_but_one, onward, tables, allowed, weights, start, end, direction, scratch):
    """Extend the labels of round k over all their edges; return the size of round k + 1."""
    new_size = 0
    for i in range(size):
        u = scratch.touched[k, i]
        if u == end:
            continue
        for s in range(scratch.counts[k, u]):
            slot = u * LABELS + s
            for e in range(onward.first[u], onward.first[u + 1]):
                v = onward.edges[e]["other"]
                if v == start or (last_but_one and v != end and not scratch.near[v]):
                    continue
                if _relax(
                    k, slot, e, direction, onward.edges, tables, allowed, weights, start, end,
                    scratch.labels, scratch.counts,
                ):  # fmt: skip
                    scratch.touched[k + 1, new_size] = v
                    new_size += 1
    return new_size


@inner
def _collect(onward, end, direction, max_hops, scratch, found, scores):
    """Write the labels of `end` as paths, forward edge numbers from the source on; return their number."""
    total = 0
    for k in range(1, max_hops + 1):
        for s in range(scratch.counts[k, end]):
            slot = end * LABELS + s
            scores[total, 0] = scratch.labels[k, slot]["time"]
            scores[total, 1] = scratch.labels[k, slot]["score"]
            for layer in range(k, 0, -1):
                label = scratch.labels[layer, slot]
                if direction == FORWARD:
                    found[total, layer - 1] = label["edge"]
                else:
                    found[total, k - layer] = onward.edges[label["edge"]]["twin"]
                slot = label["parent"]
            total += 1
    return total


@kernel
def best_paths(
    onward, backward, tables, allowed, weights, start, end, amount, direction, max_hops, scratch, found, scores
):
    """Find the best paths from `start` to `end`: up to `LABELS` for each number of hops.

    Parameters
    ----------
    onward, backward : Adjacency
        Edges in the search's direction, and in the other: forward and reverse for exact-in, swapped for exact-out.
    tables : Tables
        Of the graph.
    allowed : bool array, shape (markets,)
        Markets that may be used.
    weights : Weights
        Of gas and time.
    start, end : int
        Tokens: source and target for exact-in, target and source for exact-out.
    amount : float
        Smallest units at `start`.
    direction : {FORWARD, REVERSE}
        Exact-in or exact-out.
    max_hops : int
        Rounds.
    scratch : Scratch
        For at least as many tokens and rounds.
    found : int32 array, shape (max_hops * LABELS, max_hops)
        All -1 before; filled with forward edge numbers from source to target, one row per path.
    scores : float64 array, shape (max_hops * LABELS, 2)
        Filled with each path's fill time, and its score: larger is better.

    Returns
    -------
    int
        Number of rows filled.
    """
    mark_beside(backward, end, scratch.near, True)
    sizes = np.zeros(max_hops + 1, np.int64)
    scratch.touched[0, 0] = start
    sizes[0] = 1
    origin = scratch.labels[0, start * LABELS]
    origin["amount"] = amount
    origin["cost"] = 0.0
    origin["time"] = 0.0
    scratch.counts[0, start] = 1
    beside = edges_beside(backward, end, backward.first)
    for k in range(max_hops - 1):
        last_but_one = k == max_hops - 2
        if last_but_one and beside < edges_of(onward.first, scratch.touched[k], sizes[k]):
            sizes[k + 1] = _beside_end(
                k, onward, backward, tables, allowed, weights, start, end, direction, scratch
            )  # fmt: skip
        else:
            sizes[k + 1] = _round(
                k, sizes[k], last_but_one, onward, tables, allowed, weights, start, end, direction, scratch
            )
    last = max_hops - 1
    sizes[max_hops] = _arrive(
        last, 0, end, onward, backward, tables, allowed, weights, start, end, direction, scratch
    )  # fmt: skip
    total = _collect(onward, end, direction, max_hops, scratch, found, scores)
    for k in range(max_hops + 1):
        for i in range(sizes[k]):
            scratch.counts[k, scratch.touched[k, i]] = 0
    mark_beside(backward, end, scratch.near, False)
    return total
