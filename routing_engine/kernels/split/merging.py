"""Merging paths into a network: its different edges, in an order in which flows can run."""

from __future__ import annotations

import numpy as np

from routing_engine.jit.decorators import allocating, inner
from routing_engine.kernels.split.flow_network import MAX_EDGES
from routing_engine.kernels.work import MERGED_STEP, spend

TABLE, FIBONACCI, HASH_SHIFT = 1024, 2654435769, 16
"""Slots of a hash table, a power of two and at least twice what it holds, and what spreads numbers over them."""


@inner
def _find_slot(table, keys, key):
    """Return the slot of a key in a hash table, or a free one for it; a slot holds 1 + the place in `keys`."""
    slot = (key * FIBONACCI >> HASH_SHIFT) & (table.size - 1)
    while table[slot] > 0 and keys[table[slot] - 1] != key:
        slot = (slot + 1) & (table.size - 1)
    return slot


@allocating
def _gather(paths, count, edges, network):
    """List the different edges, and each path's steps by their places in that list.

    Returns
    -------
    int
        Number of different edges; -1 if a market is used in two ways or they are too many.
    """
    markets, table = np.empty(MAX_EDGES, np.int64), np.zeros(TABLE, np.int64)
    total = np.int64(0)
    for p in range(count):
        network.step[p] = -1
        for s in range(paths.shape[1]):
            e = np.int64(paths[p, s])
            if e < 0:
                break
            market = np.int64(edges[e]["market"])
            slot = _find_slot(table, markets, market)
            if table[slot] == 0:
                if total == MAX_EDGES:
                    return np.int64(-1)
                network.edge[total], markets[total] = e, market
                total += 1
                table[slot] = total
            i = table[slot] - 1
            if network.edge[i] != e:
                return np.int64(-1)
            network.step[p, s] = i
    return total


@inner
def _number_token(token, tokens, known, table):
    """Return a token's number among those of a network, a new one if need be, and how many are known then."""
    slot = _find_slot(table, tokens, token)
    if table[slot] == 0:
        tokens[known] = token
        known += 1
        table[slot] = known
    return table[slot] - 1, known


@allocating
def _rank_edges(total, edges, source, network, rank):
    """Rank each edge by the longest way to its source over the edges; whether there is no circle."""
    tokens, table, known = np.empty(2 * total, np.int64), np.zeros(TABLE, np.int64), np.int64(0)
    tail, head = np.empty(total, np.int64), np.empty(total, np.int64)
    for i in range(total):
        e = network.edge[i]
        tail[i], known = _number_token(np.int64(source[e]), tokens, known, table)
        head[i], known = _number_token(np.int64(edges[e]["other"]), tokens, known, table)
    longest, changed = np.zeros(known, np.int64), True
    while changed:
        changed = False
        for i in range(total):
            after = longest[tail[i]] + 1
            if longest[head[i]] < after:
                if after >= known:
                    return False  # longer than any way that meets no token twice
                longest[head[i]] = after
                changed = True
    for i in range(total):
        rank[i] = longest[tail[i]]
    return True


@allocating
def _sort_edges(total, rank, network):
    """Sort the edges by rank, stably; return where each has gone."""
    place, before = np.zeros(total, np.int64), network.edge[:total].copy()
    following = np.zeros(total + 2, np.int64)
    for i in range(total):
        following[rank[i] + 1] += 1
    for r in range(total + 1):
        following[r + 1] += following[r]
    for i in range(total):
        place[i] = following[rank[i]]
        following[rank[i]] += 1
        network.edge[place[i]] = before[i]
    return place


@allocating
def merge(paths, count, graph, network):
    """Merge the first `count` paths into a network.

    Returns
    -------
    int
        Number of different edges; -1 if the paths together run in a circle, use one market in two ways, or have too
        many edges.
    """
    edges, source = graph.forward.edges, graph.source
    total = _gather(paths, count, edges, network)
    if total < 0:
        return np.int64(-1)
    rank = np.zeros(total, np.int64)
    if not _rank_edges(total, edges, source, network, rank):
        return np.int64(-1)
    place = _sort_edges(total, rank, network)
    spend(network.work, MERGED_STEP * count * network.step.shape[1])
    network.first[: total + 1] = 0
    network.known[:total] = -1.0
    for p in range(count):
        for s in range(network.step.shape[1]):
            if network.step[p, s] < 0:
                break
            i = place[network.step[p, s]]
            network.step[p, s] = i
            network.first[i + 1] += 1
    for i in range(total):
        network.first[i + 1] += network.first[i]
    filled = network.first[:total].copy()
    for p in range(count):
        for s in range(paths.shape[1]):
            i = network.step[p, s]
            if i >= 0:
                network.who[filled[i]], network.at[filled[i]] = p, s
                filled[i] += 1
    return total
