"""How much of each token can be there at all: what limits the use of a market with a fixed cost."""

from __future__ import annotations

from routing_engine.kernels import kernel


@kernel
def fill_most(board, load, task, amount, near):
    """Fill `load.most`: the amount times the best product of average prices over up to k hops, 0 without a path.

    Only tokens that more can be had of than over fewer hops are gone on from.

    Returns
    -------
    int
        Number of tokens in `load.reached`, for `clear_most`.
    """
    forward, reverse = board.forward, board.reverse
    most, reached, start, end, max_hops = load.most, load.reached, task.start, task.end, task.max_hops
    for row in range(reverse.first[end], reverse.first[end + 1]):
        near[reverse.edges[row]["other"]] = True
    reached[0] = start
    most[0, start] = amount
    last, size = 0, 1  # the round's tokens begin at `last`
    for k in range(max_hops):
        for i in range(size):
            most[k + 1, reached[i]] = most[k, reached[i]]
        first, last = last, size
        for i in range(first, last):
            u = reached[i]
            here = most[k, u]
            if u == end:
                continue
            for e in range(forward.first[u], forward.first[u + 1]):
                edge = forward.edges[e]
                v = edge["other"]
                there = here * edge["steepest"]
                if there <= most[k + 1, v] or not task.allowed[edge["market"]] or here < edge["x_min"]:
                    continue
                if v != end and (k == max_hops - 1 or (k == max_hops - 2 and not near[v])):
                    continue
                if most[k + 1, v] == most[k, v]:
                    reached[size] = v
                    size += 1
                most[k + 1, v] = there
    for row in range(reverse.first[end], reverse.first[end + 1]):
        near[reverse.edges[row]["other"]] = False
    return size


@kernel
def clear_most(load, size):
    """Undo `fill_most`."""
    for i in range(size):
        load.most[:, load.reached[i]] = 0.0
