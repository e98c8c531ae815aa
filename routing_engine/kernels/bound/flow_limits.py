"""How much of each token can be there at all: what limits the use of a market with a fixed cost.

The amount times the best product of average prices bounds what any division brings to a token: `fill_most`. But one
market that sells a dollar's worth at a tenth of the price makes that ten times what can really be had. So `tighten`
looks again: where many markets sell a token, one that is exhausted at once has no say, and what it gives beyond the
others' rate is added up: the crumbs.

Let ``r(k, v)`` be such rates: units of v after k hops for a unit of the start. From u to v an edge with input f gives
at most ``f r(k + 1, v) / r(k, u)`` and what it can earn at that price. So what there is, divided by r, never grows on
the way but by what markets earn, each once: of v there is at most ``r(k, v)`` times the amount and all crumbs.
"""

from __future__ import annotations

import numpy as np

from routing_engine.curves.kernels.edge_curve import amount_out
from routing_engine.jit.decorators import inner, kernel
from routing_engine.kernels.marginal_price import arbitrage, derivatives
from routing_engine.kernels.search.frontier import edges_beside, edges_of, mark_beside

HUB = 8
"""Edges that sell a token from which on one of them may have no say: a token of few markets may have nothing else."""

SIP, EXHAUSTED = 1e-2, 0.99
"""Part of the amount after which an edge's marginal price is looked at, and the part of its best price that it must
still have to have a say at that."""

MOST_CRUMBS = 1e-2
"""Crumbs, as a part of the amount, from which on no market is left out."""

LOWER = 0.9
"""Part of a limit that a lower one must be to matter."""

WHOLE, LOOSE, TIGHT = np.int64(0), np.int64(1), np.int64(2)
"""The amount goes one way; or it is divided, and every market has a say; or those that are exhausted at once have
none."""


@inner
def _most_out(edge, tables, here, is_hub, rule):
    """Return what an edge gives at most for what there is, and whether it may give crumbs beside that."""
    if rule == WHOLE:
        y, _ = amount_out(edge, tables, min(here, edge["x_max"]))
        return y, False
    best, sip = here * edge["steepest"], SIP * here
    if rule == LOOSE or not is_hub or edge["concave"] == 0 or sip <= edge["x_min"]:
        return best, False
    slope = 0.0
    if sip < edge["x_max"]:
        _, slope, _ = derivatives(edge, tables, sip)
    if slope >= EXHAUSTED * edge["steepest"]:
        return best, False
    y, _ = amount_out(edge, tables, min(here, edge["x_max"]))
    return min(best, max(here * slope, y)), True


@inner
def _is_hub(v, reverse, task):
    return v != task.end and reverse.first[v + 1] - reverse.first[v] >= HUB


@inner
def _is_shut(edge, here, task, rule):
    """Whether an edge takes nothing of what there is, crumbs included."""
    more = MOST_CRUMBS if rule == TIGHT else 0.0
    return not task.allowed[edge["market"]] or here * (1.0 + more) < edge["x_min"]


@inner
def _more_from(k, first, last, most, reached, crumbs, board, task, near, rule):
    """Follow the edges that leave the round's tokens; return the size of `reached`."""
    forward, size = board.forward, last
    for i in range(first, last):
        u = reached[i]
        here = most[k, u]
        if u == task.end:
            continue
        for e in range(forward.first[u], forward.first[u + 1]):
            edge = forward.edges[e]
            v = edge["other"]
            if here * edge["steepest"] <= most[k + 1, v] or v == task.start or _is_shut(edge, here, task, rule):
                continue
            if k == task.max_hops - 2 and v != task.end and not near[v]:
                continue
            there, has_crumbs = _most_out(edge, board.tables, here, _is_hub(v, board.reverse, task), rule)
            crumbs[k + 1, v] |= has_crumbs
            if there <= most[k + 1, v]:
                continue
            if most[k + 1, v] == most[k, v]:
                reached[size] = v
                size += 1
            most[k + 1, v] = there
    return size


@inner
def _more_at(k, size, v, most, reached, crumbs, board, task, rule):
    """Follow the edges that arrive at a token; return the size of `reached`."""
    reverse = board.reverse
    before = most[k + 1, v]
    for row in range(reverse.first[v], reverse.first[v + 1]):
        edge = reverse.edges[row]
        u = edge["other"]
        here = most[k, u]
        if here * edge["steepest"] <= most[k + 1, v] or u == task.end or _is_shut(edge, here, task, rule):
            continue
        there, has_crumbs = _most_out(edge, board.tables, here, _is_hub(v, reverse, task), rule)
        crumbs[k + 1, v] |= has_crumbs
        most[k + 1, v] = max(there, most[k + 1, v])
    if most[k + 1, v] == before:
        return size
    reached[size] = v
    return size + 1


@inner
def _fill(most, reached, crumbs, board, task, amount, near, rule):
    """Fill `most` by one rule, and `reached` with the tokens where it is positive; return how many those are.

    Only tokens that more can be had of than over fewer hops are gone on from.
    """
    forward, reverse = board.forward, board.reverse
    start, end, max_hops = task.start, task.end, task.max_hops
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
            size = _more_at(k, size, end, most, reached, crumbs, board, task, rule)
        elif k == max_hops - 2 and beside < edges_of(forward.first, reached[first:], last - first):
            size = _more_at(k, size, end, most, reached, crumbs, board, task, rule)
            for row in range(reverse.first[end], reverse.first[end + 1]):
                v = reverse.edges[row]["other"]
                if near[v] and v != start:
                    near[v] = False  # once, however many edges lead there
                    size = _more_at(k, size, v, most, reached, crumbs, board, task, rule)
            mark_beside(reverse, end, near, True)
        else:
            size = _more_from(k, first, last, most, reached, crumbs, board, task, near, rule)
    mark_beside(reverse, end, near, False)
    return size


@kernel
def fill_most(board, load, task, amount, near, whole):
    """Fill `load.most`: what can be at a token after up to k hops, 0 without a path; and `load.limit`.

    Parameters
    ----------
    near : bool array, shape (tokens,)
        All False, and again afterwards.
    whole : bool
        Whether the whole amount goes one way: then each market gives no more than for all there is.

    Returns
    -------
    int
        Number of tokens in `load.reached`, for `clear_most`.
    """
    rule = WHOLE if whole else LOOSE
    size = _fill(load.most, load.reached, load.crumbs, board, task, amount, near, rule)
    for i in range(size):
        load.limit[load.reached[i]] = load.most[task.max_hops, load.reached[i]]
    return size


@inner
def _crumbs(k, v, most, board, task):
    """Return what edges to v may give above the rate that k + 1 hops have been given, as a part of the amount."""
    reverse, there, total = board.reverse, most[k + 1, v], 0.0
    for row in range(reverse.first[v], reverse.first[v + 1]):
        edge = reverse.edges[row]
        u = edge["other"]
        here = most[k, u]
        if here * edge["steepest"] > there and u != task.end and not _is_shut(edge, here, task, TIGHT):
            earned, _ = arbitrage(edge, board.tables, 1.0, there / here, here * (1.0 + MOST_CRUMBS))
            total += earned / there
    return total


@kernel
def tighten(board, load, task, amount, near):
    """Lower `load.limit`, as `fill_most` has left it for a divided amount: to what there is but for crumbs, and those.

    `load.most` stays: there the worth of all that can be had along the best prices is what rules a token out.

    Returns
    -------
    bool
        Whether some limit is `LOWER` now.
    """
    most, reached = load.supply, load.supplied
    size = _fill(most, reached, load.crumbs, board, task, amount, near, TIGHT)
    total = 0.0
    for i in range(size):
        for k in range(task.max_hops):
            if load.crumbs[k + 1, reached[i]]:
                load.crumbs[k + 1, reached[i]] = False
                total += _crumbs(k, reached[i], most, board, task)
    is_lower = False
    for i in range(size):
        v = reached[i]
        limit = most[task.max_hops, v] * (1.0 + total)
        if total < MOST_CRUMBS and 0.0 < limit < load.limit[v]:
            is_lower |= limit < LOWER * load.limit[v]
            load.limit[v] = limit
        most[:, v] = 0.0
    return is_lower


@kernel
def clear_most(load, size):
    """Undo `fill_most` and `tighten`."""
    for i in range(size):
        load.most[:, load.reached[i]] = 0.0
        load.limit[load.reached[i]] = 0.0
