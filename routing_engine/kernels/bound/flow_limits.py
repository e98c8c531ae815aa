"""Upper bounds of how much of each token can be there: they limit the use of a market with a fixed cost.

`fill_limits` multiplies the amount by the best product of average prices: no allocation brings more to a token. One
market that sells a dollar's worth at a tenth of the price makes that ten times what can really be had; `exclusion`
leaves such markets out where they can't earn their gas.
"""

from __future__ import annotations

import numpy as np

from routing_engine.curves.kernels.edge_curve import bound_above, compute_amount_out
from routing_engine.jit.decorators import inner, kernel
from routing_engine.kernels.bound.open_edges import forget_all
from routing_engine.kernels.search.frontier import count_adjacent_edges, count_edges, mark_adjacent
from routing_engine.kernels.work import spend

MANY_WAYS, ONE_WAY = np.bool_(False), np.bool_(True)
"""Whether the amount may be split, or goes one way as a whole."""


@inner
def _bound_output(edge, pieces, here, is_single_path):
    """Return what an edge gives at most for what is at its token."""
    if not is_single_path:
        return here * edge["max_average_price"]
    y, _ = compute_amount_out(edge, pieces, min(here, edge["x_max"]))
    return y * bound_above(edge, pieces, here)


@inner
def _is_shut(e, edge, here, problem, state):
    """Whether an edge takes nothing of what is at its token."""
    return state.closed[e] or not problem.allowed[edge["market"]] or here < edge["x_min"]


@inner
def _follow_edges_from(k, first, last, state, problem, is_adjacent, is_single_path):
    """Follow the edges that leave the round's tokens; return how many tokens are reached."""
    graph, inflow, most, size = problem.graph, state.inflow, state.inflow.most, last
    forward = graph.forward
    for i in range(first, last):
        u = inflow.reached[i]
        here = most[k, u]
        if u == problem.end:
            continue
        spend(problem.work, forward.first[u + 1] - forward.first[u])
        for e in range(forward.first[u], forward.first[u + 1]):
            v = forward.links[e]["other"]
            if here * forward.links[e]["rate"] <= most[k + 1, v] or v == problem.start:
                continue  # of most edges nothing but the link is read
            if k == problem.max_hops - 2 and v != problem.end and not is_adjacent[v]:
                continue
            edge = forward.edges[e]
            best = here * edge["max_average_price"]
            if best <= most[k + 1, v] or _is_shut(e, edge, here, problem, state):
                continue
            there = _bound_output(edge, graph.pieces, here, is_single_path)
            if there <= most[k + 1, v]:
                continue
            if most[k + 1, v] == most[k, v]:
                inflow.reached[size] = v
                size += 1
            most[k + 1, v] = there
    return size


@inner
def _follow_edges_to(k, size, v, state, problem, is_single_path):
    """Follow the edges that arrive at a token; return how many tokens are reached."""
    graph, inflow, most = problem.graph, state.inflow, state.inflow.most
    reverse = graph.reverse
    before = most[k + 1, v]
    spend(problem.work, reverse.first[v + 1] - reverse.first[v])
    for row in range(reverse.first[v], reverse.first[v + 1]):
        u = reverse.links[row]["other"]
        here = most[k, u]
        if here * reverse.links[row]["rate"] <= most[k + 1, v] or u == problem.end:
            continue
        edge = reverse.edges[row]
        best = here * edge["max_average_price"]
        if best <= most[k + 1, v] or _is_shut(edge["twin"], edge, here, problem, state):
            continue
        most[k + 1, v] = max(_bound_output(edge, graph.pieces, here, is_single_path), most[k + 1, v])
    if most[k + 1, v] == before:
        return size
    inflow.reached[size] = v
    return size + 1


@inner
def _fill_inflow(state, problem, is_adjacent, is_single_path):
    """Fill `state.inflow`; return how many tokens are reached.

    The search goes on only from tokens of which there can be more than over fewer hops.
    """
    forward, reverse, most, reached = (
        problem.graph.forward,
        problem.graph.reverse,
        state.inflow.most,
        state.inflow.reached,
    )
    start, end, max_hops = problem.start, problem.end, problem.max_hops
    mark_adjacent(reverse, end, is_adjacent, True)
    reached[0] = start
    most[0, start] = problem.amount
    last, size = 0, 1  # the round's tokens begin at `last`
    adjacent_edges = count_adjacent_edges(reverse, end)
    for k in range(max_hops):
        for i in range(size):
            most[k + 1, reached[i]] = most[k, reached[i]]
        first, last = last, size
        if k == max_hops - 1:
            size = _follow_edges_to(k, size, end, state, problem, is_single_path)
        elif k == max_hops - 2 and adjacent_edges < count_edges(forward.first, reached[first:], last - first):
            size = _follow_edges_to(k, size, end, state, problem, is_single_path)
            for row in range(reverse.first[end], reverse.first[end + 1]):
                v = reverse.links[row]["other"]
                if is_adjacent[v] and v != start:
                    is_adjacent[v] = False  # once, however many edges lead there
                    size = _follow_edges_to(k, size, v, state, problem, is_single_path)
            mark_adjacent(reverse, end, is_adjacent, True)
        else:
            size = _follow_edges_from(k, first, last, state, problem, is_adjacent, is_single_path)
    mark_adjacent(reverse, end, is_adjacent, False)
    return size


@kernel
def fill_limits(problem, state, is_adjacent, is_single_path):
    """Fill `state.inflow`: what can be at a token after up to k hops, 0 without a path; and `state.limit` and `room`.

    Parameters
    ----------
    state : FlowState
        Whose `closed` edges are left out.
    is_adjacent : bool array, shape (tokens,)
        All False, and again afterwards.
    is_single_path : bool
        Whether the whole amount goes one way: then each market gives no more than for all that is at its token.

    Returns
    -------
    int
        Number of tokens in `state.inflow.reached`, for `clear_limits`.
    """
    count = limit_flows(problem, state, is_adjacent, is_single_path)
    for i in range(count):
        state.room[state.inflow.reached[i]] = state.limit[state.inflow.reached[i]]
    return count


@inner
def limit_flows(problem, state, is_adjacent, is_single_path):
    """Fill `state.inflow` and `state.limit` as `fill_limits` does, and leave `room` as it is."""
    size, inflow = _fill_inflow(state, problem, is_adjacent, is_single_path), state.inflow
    count = 0  # a token is reached again over more hops, where more of it can be there
    for i in range(size):
        v = inflow.reached[i]
        if state.limit[v] == 0.0:
            inflow.reached[count] = v
            count += 1
        state.limit[v] = inflow.most[problem.max_hops, v]
    return count


@inner
def clear_flow_limits(state, size):
    """Undo `limit_flows`."""
    for i in range(size):
        state.inflow.most[:, state.inflow.reached[i]] = 0.0
        state.limit[state.inflow.reached[i]] = 0.0


@kernel
def clear_limits(problem, state, size):
    """Undo `fill_limits`, and forget what was found within its limits: which edges are closed, too."""
    forget_all(state)
    if problem.gas.any():  # where it is free no edge was closed, and the tokens that are reached are those of the room
        state.closed[:] = False
        state.room[:] = 0.0
    for i in range(size):
        state.room[state.inflow.reached[i]] = 0.0
    clear_flow_limits(state, size)
