"""How much of each token can be there at all: what limits the use of a market with a fixed cost."""

from __future__ import annotations

import numpy as np
from numba import njit

from routing_engine.kernels.slopes import initial_slope


@njit(cache=True, nogil=True)
def _reach(onward, near, allowed, start, end, amount, max_hops, most, touched, sizes):
    """Bound what can be at each token after each number of hops: the amount times the best product of prices.

    `most` (hops + 1, tokens) is all zero before and filled; `touched` and `sizes` list the tokens of each round.
    """
    touched[0, 0] = start
    sizes[0] = 1
    most[0, start] = amount
    for k in range(max_hops):
        size = 0
        for i in range(sizes[k]):
            u = touched[k, i]
            if u == end:
                continue
            for e in range(onward.first[u], onward.first[u + 1]):
                edge = onward.edges[e]
                v = edge["other"]
                if v == start or not allowed[edge["market"]]:
                    continue
                if v != end and (k == max_hops - 1 or (k == max_hops - 2 and not near[v])):
                    continue
                reached = most[k, u] * initial_slope(edge)
                if most[k, u] < edge["x_min"]:
                    continue
                if most[k + 1, v] == 0.0:
                    touched[k + 1, size] = v
                    size += 1
                most[k + 1, v] = max(most[k + 1, v], reached)
        sizes[k + 1] = size


@njit(cache=True, nogil=True)
def most_at_each_token(onward, backward, allowed, start, end, amount, max_hops):
    """Return the most of each token that can be there after any number of hops; 0 where no path passes."""
    tokens = onward.first.size - 1
    most = np.zeros((max_hops + 1, tokens))
    touched = np.zeros((max_hops + 1, tokens), np.int32)
    sizes = np.zeros(max_hops + 1, np.int64)
    near = np.zeros(tokens, np.bool_)
    for row in range(backward.first[end], backward.first[end + 1]):
        near[backward.edges[row]["other"]] = True
    _reach(onward, near, allowed, start, end, amount, max_hops, most, touched, sizes)
    limit = np.zeros(tokens)
    for k in range(max_hops + 1):
        for i in range(sizes[k]):
            limit[touched[k, i]] = max(limit[touched[k, i]], most[k, touched[k, i]])
    return limit
