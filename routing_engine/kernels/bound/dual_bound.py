"""Certificates: an upper bound of what any allocation to routes of few hops can give, gas counted, by duality.

Let ``w`` be dual prices: ``w(k, v | u)`` is what a unit of token v is worth with k hops left, to a route that came from
u. Let each market have a multiplier: what it may earn beside its gas. If at these prices no edge earns more than its
gas and its market's multiplier, then no allocation nets more than the start's price times the amount, plus all
multipliers: at every market the value that comes out exceeds the value that goes in by no more than what was allowed.
(Weak Lagrangian duality; the fixed cost of gas needs no convexity, as each market is used or not.)

Backwards from the target, `compute_dual_prices` finds the least such prices for given multipliers: the price of a token
is the best net average price over its edges. What a route came from matters so that a price never counts a way straight
back: with at most four hops, and ends that are visited once, exactly the simple paths are left.

`certify` chooses the multipliers: what the markets in use earn at the marginal prices of the allocation. Then, where a
market that is not in use drives the start's price, what it would earn at the allocation's prices.
"""

from __future__ import annotations

import numpy as np

from routing_engine.jit.decorators import allocating, inner, part
from routing_engine.kernels.bound.arrivals_allowed import clear_allowed_arrivals, fill_allowed_arrivals
from routing_engine.kernels.bound.dual_prices import (
    clear_dual_prices,
    compute_dual_prices,
    get_start_price,
    trace_dearest_path,
)
from routing_engine.kernels.bound.initial_prices import count_hops, price_rounds, price_tokens
from routing_engine.kernels.bound.open_edges import open_edges_above
from routing_engine.kernels.bound.outlook import LEAST
from routing_engine.kernels.bound.repricing import lower_dual_prices
from routing_engine.kernels.marginal_price import find_arbitrage, value_gas
from routing_engine.kernels.work import is_overdrawn

REFINEMENTS = 48

LOOK_AHEAD = 8
"""Turns by whose progress the rest is foreseen, where a bound may be given up."""

CLOSE = 1e-7
"""Relative gap at which a bound is good enough."""


@inner
def _find_highest_target(target, token):
    """Return the highest target price of a token over all numbers of hops left."""
    most = 0.0
    for k in range(target.shape[0]):
        most = max(most, target[k, token])
    return most


@inner
def set_multipliers(merged, problem, state, duals):
    """Allow each market in use what it earns at the target prices; return the sum."""
    graph, network = merged.graph, merged.network
    edges, source = graph.forward.edges, graph.source
    for k in range(1, problem.max_hops + 1):
        for p in range(merged.path_count):
            hops = count_hops(network.step, p)
            if hops < k:
                continue
            i = network.step[p, hops - k]
            edge = edges[network.edge[i]]
            u, v = source[network.edge[i]], edge["other"]
            earned = duals.target[k - 1, v] * network.out[i] - duals.target[k, u] * network.flow[i]
            market = edge["market"]
            gas = value_gas(edge, graph.pieces, problem.gas, network.flow[i])
            state.multiplier[market] = max(state.multiplier[market], earned - gas)
    total = 0.0
    for i in range(merged.edge_count):
        total += state.multiplier[edges[network.edge[i]]["market"]]
    return total


@inner
def clear_multipliers(merged, state):
    """Allow the markets in use nothing again."""
    for i in range(merged.edge_count):
        state.multiplier[merged.graph.forward.edges[merged.network.edge[i]]["market"]] = 0.0


@inner
def clear_targets(merged, problem, duals):
    """Undo the target prices."""
    for i in range(merged.edge_count):
        for k in range(problem.max_hops + 1):
            duals.target[k, merged.graph.source[merged.network.edge[i]]] = 0.0
    duals.target[0, problem.end] = 0.0


@inner
def find_cheapest_multiplier(length, path, dual_price, known, limit, problem, state):
    """Return what to allow more, and to which market, so that the dearest path's price falls to the allocation's.

    `known` holds the allocation's price of the token that each edge leaves, 0 where it has none; `limit` what can be
    there at most.
    """
    edges, pieces = problem.graph.forward.edges, problem.graph.pieces
    least, where, here = np.inf, -1, 0.0
    for i in range(length):
        edge = edges[path[i]]
        here = known[i] if known[i] > 0.0 or i == 0 else here / edges[path[i - 1]]["max_average_price"]
        if here <= 0.0 or edge["concave"] == 0:
            continue
        earned, flow = find_arbitrage(edge, pieces, dual_price[i], here, limit[i])
        more = earned - value_gas(edge, pieces, problem.gas, flow) - state.multiplier[edge["market"]]
        if 0.0 < more < least:
            least, where = more, edge["market"]
    return least * (1.0 + 1e-9), where


@inner
def _know_path(length, path, problem, state, target, known, limit):
    """Fill in the target's prices along a path, and what can be at its tokens."""
    for i in range(length):
        token = problem.graph.source[path[i]]
        known[i] = target[length - i, token] or _find_highest_target(target, token)
        limit[i] = state.limit[token]


@allocating
def _lower_bound(problem, state, workspace, merged, total, floor, may_give_up):
    """Raise one multiplier after the other while the bound falls; they are 0 again afterwards.

    `total` is the sum of the multipliers so far. Returns the bound and the start's price, as `certify`.
    """
    max_hops, duals = problem.max_hops, workspace.duals
    path, dual_price = np.zeros(max_hops, np.int64), np.zeros(max_hops)
    known, limit = np.zeros(max_hops), np.zeros(max_hops)
    raised = np.zeros(REFINEMENTS, np.int64)
    least, slope, before = np.inf, 0.0, np.inf
    lowest, where = np.inf, np.int64(-1)
    for turn in range(REFINEMENTS):
        enough = max(0.0, floor - total)
        if enough < lowest:
            clear_dual_prices(duals)
            open_edges_above(enough, problem, state)
            is_alone = turn == 0 and not may_give_up  # most bounds are found at once, but for those of many paths
            lowest = enough if is_alone else state.outlook.scope[LEAST]
            fill_allowed_arrivals(merged, problem, state)
            compute_dual_prices(problem, state, workspace, lowest)
        else:
            lower_dual_prices(where, problem, state, duals, lowest)
        price = get_start_price(floor - total, problem, duals)
        if price * problem.amount + total < least:
            least, slope = price * problem.amount + total, price
        length = trace_dearest_path(duals, problem, path, dual_price)
        raised[turn] = -1
        if length == 0 or least <= floor * (1.0 + CLOSE) or is_overdrawn(problem.work):
            break
        if may_give_up and turn % LOOK_AHEAD == 0:
            if least - floor > (before - least) * (REFINEMENTS - turn) / LOOK_AHEAD:
                break  # at this pace the gap stays open
            before = least
        _know_path(length, path, problem, state, duals.target, known, limit)
        more, where = find_cheapest_multiplier(length, path, dual_price, known, limit, problem, state)
        if where < 0 or more > price * problem.amount:
            break
        state.multiplier[where] += more
        total += more
        raised[turn] = where
    clear_dual_prices(duals)
    clear_allowed_arrivals(merged, state)
    for turn in range(REFINEMENTS):
        if raised[turn] < 0:
            break
        state.multiplier[raised[turn]] = 0.0
    return least, slope


@part("UniTuple(float64, 2)")
def certify(problem, state, workspace, merged, floor, may_give_up):
    """Bound the net output of every allocation of at most the problem's amount.

    Parameters
    ----------
    state : FlowState
        With `inflow` filled for the amount.
    merged : MergedPaths
        The allocation that is to be judged, with its flows after `allocate`.
    floor : float
        Its net output; a bound that is as good as this is not improved further.
    may_give_up : bool
        Whether to end where the gap falls too slowly to be closed.

    Returns
    -------
    bound : float
        Of the net output of the whole amount, in units of the target.
    price : float
        What less of the amount takes off the bound, for each unit.
    """
    duals, least, slope = workspace.duals, np.inf, 0.0
    for rule in range(min(2, merged.path_count)):  # of one path alone, both say the same
        if rule == 0:
            price_rounds(merged, problem, duals, floor)
        else:
            price_tokens(merged, problem, duals, floor)
        total = set_multipliers(merged, problem, state, duals)
        bound, price = _lower_bound(problem, state, workspace, merged, total, floor, may_give_up)
        if bound < least:
            least, slope = bound, price
        clear_targets(merged, problem, duals)
        clear_multipliers(merged, state)
        if least <= floor * (1.0 + CLOSE) or is_overdrawn(problem.work):
            break
    return least, slope
