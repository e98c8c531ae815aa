"""How much of each token can be there at all: what limits the use of a market with a fixed cost."""

from __future__ import annotations

from routing_engine.kernels import inner, kernel
from routing_engine.kernels.curves import amount_out
from routing_engine.kernels.rounds import edges_beside, edges_of, mark_beside


@inner
def _most_out(edge, tables, here, whole):
    if not whole:
        return here * edge["steepest"]
    y, _ = amount_out(edge, tables, min(here, edge["x_max"]))
    return y


@inner
def _more_from(k, first, last, board, load, task, near, whole):
    """Follow the edges that leave the round's tokens; return the size of `load.reached`."""
    forward, most, reached, size = board.forward, load.most, load.reached, last
    for i in range(first, last):
        u = reached[i]
        here = most[k, u]
        if u == task.end:
            continue
        for e in range(forward.first[u], forward.first[u + 1]):
            edge = forward.edges[e]
            v = edge["other"]
            there = _most_out(edge, board.tables, here, whole)
            if there <= most[k + 1, v] or not task.allowed[edge["market"]] or here < edge["x_min"] or v == task.start:
                continue
            if k == task.max_hops - 2 and v != task.end and not near[v]:
                continue
            if most[k + 1, v] == most[k, v]:
                reached[size] = v
                size += 1
            most[k + 1, v] = there
    return size


@inner
def _more_at(k, size, v, board, load, task, whole):
    """Follow the edges that arrive at a token; return the size of `load.reached`."""
    reverse, most = board.reverse, load.most
    before = most[k + 1, v]
    for row in range(reverse.first[v], reverse.first[v + 1]):
        edge = reverse.edges[row]
        u = edge["other"]
        here = most[k, u]
        there = _most_out(edge, board.tables, here, whole)
        if there > most[k + 1, v] and u != task.end and task.allowed[edge["market"]] and here >= edge["x_min"]:
            most[k + 1, v] = there
    if most[k + 1, v] == before:
        return size
    load.reached[size] = v
    return size + 1


@kernel
def fill_most(board, load, task, amount, near, whole):
    """Fill `load.most`: what can be at a token after up to k hops, 0 without a path.

    Only tokens that more can be had of than over fewer hops are gone on from.

    Parameters
    ----------
    whole : bool
        Whether the whole amount goes one way: then each market gives no more than for all there is. Else the amount
        times the best product of average prices bounds what any division brings there.

    Returns
    -------
    int
        Number of tokens in `load.reached`, for `clear_most`.
    """
    forward, reverse = board.forward, board.reverse
    most, reached, start, end, max_hops = load.most, load.reached, task.start, task.end, task.max_hops
    mark_beside(reverse, end, near, True)
    reached[0] = start
    most[0, start] = amount
    last, size = 0, 1  # the round's tokens begin at `last`
    beside = edges_beside(reverse, end, reverse.first)
    for k in range(max_hops):
        for i in range(size):
            most[k + 1, reached[i]] = most[k, reached[i]]
        first, last = last, size
        if k == max_hops - 1:
            size = _more_at(k, size, end, board, load, task, whole)
        elif k == max_hops - 2 and beside < edges_of(forward.first, reached[first:], last - first):
            size = _more_at(k, size, end, board, load, task, whole)
            for row in range(reverse.first[end], reverse.first[end + 1]):
                v = reverse.edges[row]["other"]
                if near[v] and v != start:
                    near[v] = False  # once, however many edges lead there
                    size = _more_at(k, size, v, board, load, task, whole)
            mark_beside(reverse, end, near, True)
        else:
            size = _more_from(k, first, last, board, load, task, near, whole)
    mark_beside(reverse, end, near, False)
    return size


@kernel
def clear_most(load, size):
    """Undo `fill_most`."""
    for i in range(size):
        load.most[:, load.reached[i]] = 0.0
