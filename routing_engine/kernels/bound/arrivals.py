"""How much of the amount's worth can arrive at a token at present prices: what a search backwards need not go back to.

`flow_limits` multiplies the amount by the best average prices. Markets in use give less for a little more, and on a
large market with prices that agree, that little is all that tells good paths from thousands of others. So near the
start, where few edges leave, the amount is multiplied forwards by what edges give now: marginal prices of those in use.
One step farther it is looked up where it is asked for. No path from the start is worth more at a token.
"""

from __future__ import annotations

import numpy as np

from routing_engine.jit.decorators import inlined, inner
from routing_engine.kernels.bound.open_edges import count_edges_near_start, list_edges_from, list_edges_to
from routing_engine.kernels.work import spend

LEVELS = 4
"""Numbers of hops from the start, from 0 on, for which arrivals are kept at most; of the last they are looked up."""

KNOWN, LOOKED_UP = LEVELS, LEVELS + 1
"""Places in `Arrivals.sizes`: for how many numbers of hops all arrivals are known, and for which they are looked up; 0
between searches, and where none are."""

FEW = 4
"""Where the edges near the start are more than one in so many of all, only what arrives over one hop tells enough."""

LARGE = 16_384
"""Edges of a market from which on looking ahead saves more than it costs."""

NONE = 1e-300
"""Marks that nothing arrives, where that was looked up."""


@inner
def may_look_ahead(problem):
    """Whether a market is so large that it is worth to find arrivals."""
    return problem.graph.source.size > LARGE


@inlined
def _price_edge(listed, state):
    """Return what a little more of its token becomes over an edge at most: `state.slope` where it has a flow."""
    e = listed["edge"]
    if state.shut[e]:
        return 0.0
    return state.slope[e] if state.flow[e] > 0.0 else listed["max_average_price"]


@inner
def _follow_edges(j, problem, state):
    """Fill the arrivals over up to j + 1 hops from those over j."""
    arrivals = state.arrivals
    most, touched, sizes, size = arrivals.most, arrivals.touched, arrivals.sizes, arrivals.sizes[j]
    for i in range(size):
        touched[j + 1, i] = touched[j, i]
        most[j + 1, touched[j, i]] = most[j, touched[j, i]]
    for i in range(sizes[j]):
        u = np.int64(touched[j, i])
        if u == problem.end:
            continue
        here = most[j, u]
        first, last = list_edges_from(u, problem, state)
        spend(problem.work, last - first)
        for place in range(first, last):
            listed = state.open_edges.listed[place]
            v, known = listed["other"], most[j + 1, listed["other"]]
            if here * listed["max_average_price"] <= known and listed["concave"] != 0:
                continue
            there = min(here * _price_edge(listed, state), state.inflow.most[j + 1, v])
            if there > known:
                if known == 0.0:
                    touched[j + 1, size] = v
                    size += 1
                most[j + 1, v] = there
    sizes[j + 1] = size


@inner
def fill_arrivals(problem, state):
    """Find the arrivals near the start, for `state.flow`, `state.slope` and the lists of open edges as they are."""
    arrivals, hops = state.arrivals, min(LEVELS - 2, problem.max_hops - 1)
    is_hub = count_edges_near_start(problem, state) * FEW > problem.graph.source.size
    if is_hub:
        hops = min(1, hops)
    arrivals.most[0, problem.start] = problem.amount
    arrivals.touched[0, 0] = problem.start
    arrivals.sizes[0] = 1
    for j in range(hops):
        _follow_edges(j, problem, state)
    arrivals.sizes[KNOWN] = hops + 1
    arrivals.sizes[LOOKED_UP] = 0 if is_hub or hops + 1 >= problem.max_hops else hops + 1
    weigh_arrivals(problem, state)


@inner
def _weigh(j, v, problem, state):
    """Weigh what is at token v after up to j hops: over fewer hops, the whole path has fewer too."""
    arrivals, counted = state.arrivals, 0.0
    for before in range(min(j, LEVELS - 1) + 1):
        there = arrivals.most[before, v]
        counted = max(counted, there * arrivals.weight[problem.max_hops - j + before])
    if j == arrivals.sizes[KNOWN] and arrivals.most[j, v] == 0.0:  # not looked up yet
        counted = max(counted, state.inflow.most[j, v] * arrivals.weight[problem.max_hops])
    arrivals.counted[j, v] = counted


@inner
def weigh_arrivals(problem, state):
    """Weigh all arrivals by the present weights, and of those that may be looked up what is known."""
    arrivals = state.arrivals
    known = arrivals.sizes[KNOWN]
    for j in range(known):
        for i in range(arrivals.sizes[j]):
            _weigh(j, np.int64(arrivals.touched[j, i]), problem, state)
    if known < problem.max_hops:
        for j in range(known - 1, known + 1):
            for i in range(arrivals.sizes[j]):
                _weigh(known, np.int64(arrivals.touched[j, i]), problem, state)


@inner
def clear_arrivals(state):
    """Undo `fill_arrivals`, and what was looked up since."""
    arrivals = state.arrivals
    for j in range(LEVELS):
        for i in range(arrivals.sizes[j]):
            v = arrivals.touched[j, i]
            arrivals.most[j, v] = arrivals.counted[j, v] = arrivals.counted[min(j + 1, LEVELS - 1), v] = 0.0
        arrivals.sizes[j] = 0
    arrivals.sizes[KNOWN] = arrivals.sizes[LOOKED_UP] = 0


@inlined
def get_arrival(j, v, problem, state):
    """Return what can be at token v after up to j hops at most, weighed; without looking it up."""
    arrivals = state.arrivals
    known = arrivals.sizes[KNOWN]
    if j > known or known == 0:
        return state.inflow.most[j, v]
    counted = arrivals.counted[j, v]
    if j < known or counted > 0.0:
        return counted
    return state.inflow.most[j, v] * arrivals.weight[problem.max_hops]


@inner
def _look_up(j, v, problem, state):
    """Find the arrival at token v over up to j hops, from those over one hop less."""
    arrivals = state.arrivals
    before, there = arrivals.most[j - 1], arrivals.most[j - 1, v]
    first, last = list_edges_to(v, problem, state)
    spend(problem.work, last - first)
    for place in range(first, last):
        listed = state.open_edges.listed[place]
        here = before[listed["other"]]
        if here * listed["max_average_price"] > there or listed["concave"] == 0:
            there = max(there, here * _price_edge(listed, state))
    arrivals.most[j, v] = max(NONE, min(there, state.inflow.most[j, v]))
    arrivals.touched[j, arrivals.sizes[j]] = v
    arrivals.sizes[j] += 1
    _weigh(j, v, problem, state)


@inlined
def find_arrival(j, v, problem, state):
    """Return what can be at token v after up to j hops at most, weighed; it is looked up where that tells more."""
    if j > 0 and j == state.arrivals.sizes[LOOKED_UP] and state.arrivals.most[j, v] == 0.0:
        _look_up(j, v, problem, state)
    return get_arrival(j, v, problem, state)
