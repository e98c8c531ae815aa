"""What tokens are worth at most, by hops left: the dual prices on which certificates rest; see `dual_bound`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from routing_engine.jit.decorators import inlined, inner, part
from routing_engine.kernels.bound.arrivals import find_arrival, get_arrival
from routing_engine.kernels.bound.open_edges import (
    count_edges_near_start,
    list_edges_from,
    list_edges_to,
    open_edges_above,
)
from routing_engine.kernels.marginal_price import (
    bound_net_rate_soon,
    bound_net_rate_with_steps,
    value_base_gas,
    value_piece_gas,
)
from routing_engine.kernels.search.frontier import count_edges
from routing_engine.kernels.work import spend


class Step(NamedTuple):
    """Forward edge `e` from token u to token v, which has k hops left."""

    k: int
    e: int
    u: int
    v: int


@inlined
def look_up_price(duals, edges, k, v, u):
    """Dual price of v with k hops left, for a route that came from u."""
    if k > 0 and edges[duals.via[k, v]]["other"] == u:
        return duals.other[k, v]
    return duals.best[k, v]


@inlined
def record_price(duals, edges, step, rate):
    """Keep the price that a step gives its token u; whether it is the first one."""
    k, e, u, v = step.k + 1, step.e, step.u, step.v
    best = duals.best[k, u]
    if best == 0.0:
        duals.best[k, u], duals.via[k, u] = rate, e
        return True
    same = edges[duals.via[k, u]]["other"] == v
    if rate > best:
        if not same:
            duals.other[k, u], duals.other_via[k, u] = best, duals.via[k, u]
        duals.best[k, u], duals.via[k, u] = rate, e
    elif not same and rate > duals.other[k, u]:
        duals.other[k, u], duals.other_via[k, u] = rate, e
    return False


@inlined
def may_raise_price(k, u, v, listed, problem, state, duals, enough):
    """Whether an open edge may raise the price of token u: of most that can't, nothing but the list is looked at."""
    ceiling = duals.best[k, v] * listed["max_average_price"]
    here = get_arrival(problem.max_hops - k - 1, u, problem, state)
    return ceiling > duals.other[k + 1, u] and ceiling * here > enough


@inlined
def raise_price(step, edge, problem, state, duals, enough):
    """Let a step over an open edge raise the price of its token u; return whether it is the first one."""
    k, u = step.k, step.u
    most = state.limit[u]
    if most <= 0.0 or most < edge["x_min"]:
        return False
    edges = problem.graph.forward.edges
    dual_price = look_up_price(duals, edges, k, step.v, u)
    floor = duals.other[k + 1, u]
    ceiling = dual_price * edge["max_average_price"]
    if ceiling <= floor:
        return False
    # A route that goes on over k + 1 hops has no more than that at u.
    here = find_arrival(problem.max_hops - k - 1, np.int64(u), problem, state)
    if ceiling * here <= enough:
        return False
    cost = value_base_gas(edge, problem.gas) + state.multiplier[edge["market"]]
    ceiling = bound_net_rate_soon(edge, dual_price, cost, most)
    if ceiling <= floor or ceiling * here <= enough:
        return False
    piece_cost = value_piece_gas(edge, problem.gas)
    rate = bound_net_rate_with_steps(edge, problem.graph.pieces, dual_price, cost, piece_cost, most)
    return rate > floor and rate * here > enough and record_price(duals, edges, step, rate)


@inlined
def _mark_start(problem, state, is_adjacent, value):
    """Set the marks of all tokens that the start's open edges lead to."""
    first, last = list_edges_from(problem.start, problem, state)
    for place in range(first, last):
        is_adjacent[state.open_edges.listed[place]["other"]] = value


@inner
def _extend_from_tokens(k, last_but_one, problem, state, workspace, enough):
    """Fill round k + 1 by the edges that lead to the tokens of round k; return its size."""
    reverse, duals, size = problem.graph.reverse, workspace.duals, 0
    is_adjacent = workspace.scratch.is_adjacent
    for i in range(duals.sizes[k]):
        v = duals.touched[k, i]
        if v == problem.start:
            continue
        first, last = list_edges_to(v, problem, state)
        spend(problem.work, last - first)
        for place in range(first, last):
            listed = state.open_edges.listed[place]
            u = listed["other"]
            if not may_raise_price(k, u, v, listed, problem, state, duals, enough):
                continue
            if last_but_one and u != problem.start and not is_adjacent[u]:
                continue
            edge = reverse.edges[listed["row"]]
            if raise_price(Step(k, listed["edge"], u, v), edge, problem, state, duals, enough):
                duals.touched[k + 1, size] = u
                size += 1
    return size


@inner
def _extend_to_token(k, size, u, problem, state, duals, enough):
    """Add token u to round k + 1 by its edges to tokens of round k; return the round's size."""
    forward, found = problem.graph.forward, False
    first, last = list_edges_from(u, problem, state)
    spend(problem.work, last - first)
    for place in range(first, last):
        listed = state.open_edges.listed[place]
        v = listed["other"]
        if may_raise_price(k, u, v, listed, problem, state, duals, enough):
            e = listed["edge"]
            found |= raise_price(Step(k, e, u, v), forward.edges[e], problem, state, duals, enough)
    if found:
        duals.touched[k + 1, size] = u
    return size + found


@inner
def _extend_near_start(k, problem, state, workspace, enough):
    """Fill round k + 1 by the edges that leave the start and the tokens adjacent to it; return its size."""
    start, duals, is_adjacent = problem.start, workspace.duals, workspace.scratch.is_adjacent
    size = _extend_to_token(k, 0, start, problem, state, duals, enough)
    first, last = list_edges_from(start, problem, state)
    for place in range(first, last):
        u = state.open_edges.listed[place]["other"]
        if is_adjacent[u] and u != problem.end:
            is_adjacent[u] = False  # once, however many edges lead there
            size = _extend_to_token(k, size, u, problem, state, duals, enough)
    return size


@part("float64", allocates=False)
def compute_dual_prices(problem, state, workspace, enough):
    """Fill the dual prices for the present multipliers, for routes on which the whole amount is worth over `enough`.

    Returns
    -------
    float
        The price of a unit at the start, at least the problem's least one. Where nothing makes the amount worth more
        than `enough`, there are no prices, and this is what makes it worth just that.
    """
    start, max_hops, duals, reverse = problem.start, problem.max_hops, workspace.duals, problem.graph.reverse
    open_edges_above(enough, problem, state)
    duals.touched[0, 0] = problem.end
    duals.sizes[0] = 1
    duals.best[0, problem.end] = 1.0
    _mark_start(problem, state, workspace.scratch.is_adjacent, True)
    edges_near_start = count_edges_near_start(problem, state)
    for k in range(max_hops - 1):
        last_but_one = k == max_hops - 2
        if last_but_one and edges_near_start < count_edges(reverse.first, duals.touched[k], duals.sizes[k]):
            duals.sizes[k + 1] = _extend_near_start(k, problem, state, workspace, enough)
        else:
            duals.sizes[k + 1] = _extend_from_tokens(k, last_but_one, problem, state, workspace, enough)
    duals.sizes[max_hops] = _extend_to_token(max_hops - 1, 0, start, problem, state, duals, enough)
    _mark_start(problem, state, workspace.scratch.is_adjacent, False)
    return get_start_price(enough, problem, duals)


@inner
def get_start_price(enough, problem, duals):
    """Return the price of a unit at the start, as `compute_dual_prices` does."""
    price = max(problem.least_price, enough / problem.amount)
    for k in range(1, problem.max_hops + 1):
        price = max(price, duals.best[k, problem.start])
    return price


@inner
def clear_dual_prices(duals):
    """Undo `compute_dual_prices`."""
    for k in range(duals.sizes.size):
        for i in range(duals.sizes[k]):
            v = duals.touched[k, i]
            duals.best[k, v] = duals.other[k, v] = 0.0
        duals.sizes[k] = 0


@inner
def trace_dearest_path(duals, problem, path, dual_price):
    """Write the edges of the path that sets the start's price, and the dual price of what each gives.

    Returns
    -------
    int
        Its length; 0 where there are no prices.
    """
    edges, start, k = problem.graph.forward.edges, problem.start, 1
    for h in range(2, problem.max_hops + 1):
        if duals.best[h, start] > duals.best[k, start]:
            k = h
    if duals.best[k, start] == 0.0:
        return 0
    length, u, came = k, start, -1
    for i in range(length):
        e = duals.via[k, u]
        if i > 0 and edges[e]["other"] == came:
            e = duals.other_via[k, u]
        path[i] = e
        came, u = u, edges[e]["other"]
        k -= 1
        dual_price[i] = look_up_price(duals, edges, k, u, came) if k > 0 else 1.0
    return length
