"""How much of each token can be there at all: what limits the use of a market with a fixed cost."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def fill_most(board, load, task, amount, near):
    """Fill `load.most`: the amount times the best product of average prices over up to the most hops, 0 without a path.

    Returns
    -------
    int
        Number of tokens in `load.reached`, for `clear_most`.
    """
    forward, reverse = board.forward, board.reverse
    most, rounds, start, end, max_hops = load.most, load.rounds, task.start, task.end, task.max_hops
    for row in range(reverse.first[end], reverse.first[end + 1]):
        near[reverse.edges[row]["other"]] = True
    first = np.zeros(max_hops + 2, np.int64)  # where each round begins in `reached`
    load.reached[0] = start
    rounds[0, start] = amount
    first[1] = 1
    for k in range(max_hops):
        size = first[k + 1]
        for i in range(first[k], first[k + 1]):
            u = load.reached[i]
            here = rounds[k, u]
            if u == end:
                continue
            for e in range(forward.first[u], forward.first[u + 1]):
                edge = forward.edges[e]
                v = edge["other"]
                if v == start or not task.allowed[edge["market"]] or here < edge["x_min"]:
                    continue
                if v != end and (k == max_hops - 1 or (k == max_hops - 2 and not near[v])):
                    continue
                if rounds[k + 1, v] == 0.0:
                    load.reached[size] = v
                    size += 1
                rounds[k + 1, v] = max(rounds[k + 1, v], here * edge["steepest"])
        first[k + 2] = size
    for k in range(max_hops + 1):
        for i in range(first[k], first[k + 1]):
            v = load.reached[i]
            most[v] = max(most[v], rounds[k, v])
            rounds[k, v] = 0.0
    for row in range(reverse.first[end], reverse.first[end + 1]):
        near[reverse.edges[row]["other"]] = False
    return first[max_hops + 1]


@njit(cache=True, nogil=True)
def clear_most(load, size):
    """Undo `fill_most`."""
    for i in range(size):
        load.most[load.reached[i]] = 0.0
