"""Paths that would improve a division: search backwards from the target, carrying worths instead of amounts.

A label of round k at token u holds what one unit of u is worth at the target over k more markets, at the marginal
prices of the markets in use and at the best net average prices of the others; so a market that is not yet used must
first earn its gas.
"""

from __future__ import annotations

import numpy as np

from routing_engine.jit.decorators import inlined, inner, kernel
from routing_engine.kernels.marginal_price import gas_of, net_rate
from routing_engine.kernels.search.frontier import edges_beside, edges_of, mark_beside
from routing_engine.kernels.search.labels import LABELS, insert

BY_SCORE = np.bool_(False)
"""Labels are ranked by their worth, not by time."""


@inlined
def _extend(k, slot, row, reverse, tables, load, task, enough, toll, scratch):
    """Extend label `slot` of round k over a reverse edge; whether the token reached has its first label by it."""
    edge = reverse.edges[row]
    e, u = edge["twin"], edge["other"]
    owner = load.owner[edge["market"]]
    if not task.allowed[edge["market"]] or load.shut[e] or (owner >= 0 and owner != e):
        return False
    most = load.limit[u]
    if most <= 0.0 or most < edge["x_min"]:
        return False
    worth = scratch.labels[k, slot]["amount"]
    # Of a route that goes on over k + 1 hops no more than that is at u.
    here = load.most[task.max_hops - k - 1, u]
    if load.flow[e] > 0.0:
        value = load.slope[e] * worth
    else:
        value = edge["steepest"] * worth
        if value * here <= enough:
            return False
        full = scratch.counts[k + 1, u] == LABELS
        if full and value <= scratch.labels[k + 1, u * LABELS + LABELS - 1]["score"]:
            return False
        value = net_rate(edge, tables, worth, max(gas_of(edge, task.gas), toll), most)
    if not value * here > enough:
        return False
    return insert(
        scratch.labels, scratch.counts, reverse.edges, k, slot, row, value, 0.0, 0.0, value, BY_SCORE, task.end
    )  # fmt: skip


@inner
def _from_tokens(k, size, last_but_one, reverse, tables, load, task, enough, toll, scratch):
    """Fill round k + 1 by the edges that lead to the `size` tokens of round k; return its size."""
    new_size = 0
    for i in range(size):
        v = scratch.touched[k, i]
        if v == task.start:
            continue
        for s in range(scratch.counts[k, v]):
            for row in range(reverse.first[v], reverse.first[v + 1]):
                u = reverse.edges[row]["other"]
                if u == task.end or (last_but_one and u != task.start and not scratch.near[u]):
                    continue
                if _extend(k, v * LABELS + s, row, reverse, tables, load, task, enough, toll, scratch):
                    scratch.touched[k + 1, new_size] = u
                    new_size += 1
    return new_size


@inner
def _of_token(k, size, u, forward, reverse, tables, load, task, enough, toll, scratch):
    """Add token u to round k + 1 by its edges to tokens of round k; return the round's size."""
    found = False
    for e in range(forward.first[u], forward.first[u + 1]):
        v = forward.edges[e]["other"]
        if v == task.start:
            continue
        for s in range(scratch.counts[k, v]):
            row = np.int64(forward.edges[e]["twin"])
            found |= _extend(k, v * LABELS + s, row, reverse, tables, load, task, enough, toll, scratch)
    if found:
        scratch.touched[k + 1, size] = u
    return size + found


@inner
def _beside_start(k, board, load, task, enough, toll, scratch):
    """Fill round k + 1 by the edges that leave the start and the tokens beside it; return its size."""
    forward, reverse, tables, near, start = board.forward, board.reverse, board.tables, scratch.near, task.start
    size = _of_token(k, 0, start, forward, reverse, tables, load, task, enough, toll, scratch)
    for e in range(forward.first[start], forward.first[start + 1]):
        u = forward.edges[e]["other"]
        if near[u] and u != task.end:
            near[u] = False  # once, however many edges lead there
            size = _of_token(k, size, u, forward, reverse, tables, load, task, enough, toll, scratch)
    mark_beside(forward, start, near, True)
    return size


@kernel
def best_additions(board, load, task, enough, toll, scratch, found, price):
    """Find the paths along which one more unit at the start is worth most.

    Parameters
    ----------
    load : Load
        Present flows, and what limits new ones.
    enough : float
        What the whole amount must be worth more than along a path.
    toll : float
        What a market that is not in use must bring at least, even if it costs no gas. Else the many markets of next to
        nothing at wrong prices would be all that is found.
    found : int32 array, shape (max_hops * LABELS, max_hops)
        All -1 before; filled with forward edges, one row per path.
    price : float64 array
        Worth of one unit at `start` along each row.

    Returns
    -------
    int
        Number of rows filled.
    """
    forward, reverse, tables = board.forward, board.reverse, board.tables
    start, end, max_hops = task.start, task.end, task.max_hops
    mark_beside(forward, start, scratch.near, True)
    sizes = np.zeros(max_hops + 1, np.int64)
    scratch.touched[0, 0] = end
    sizes[0] = 1
    scratch.labels[0, end * LABELS]["amount"] = 1.0
    scratch.counts[0, end] = 1
    beside = edges_beside(forward, start, forward.first)
    for k in range(max_hops - 1):
        last_but_one = k == max_hops - 2
        if last_but_one and beside < edges_of(reverse.first, scratch.touched[k], sizes[k]):
            sizes[k + 1] = _beside_start(k, board, load, task, enough, toll, scratch)
        else:
            sizes[k + 1] = _from_tokens(k, sizes[k], last_but_one, reverse, tables, load, task, enough, toll, scratch)
    sizes[max_hops] = _of_token(max_hops - 1, 0, start, forward, reverse, tables, load, task, enough, toll, scratch)
    total = 0
    for k in range(1, max_hops + 1):
        for s in range(scratch.counts[k, start]):
            slot = start * LABELS + s
            price[total] = scratch.labels[k, slot]["amount"]
            for layer in range(k, 0, -1):
                label = scratch.labels[layer, slot]
                found[total, k - layer] = reverse.edges[label["edge"]]["twin"]
                slot = label["parent"]
            total += 1
    for k in range(max_hops + 1):
        for i in range(sizes[k]):
            scratch.counts[k, scratch.touched[k, i]] = 0
    mark_beside(forward, start, scratch.near, False)
    return total
