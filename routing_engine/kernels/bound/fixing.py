"""Edges that no better route uses, by what they lose at the prices of a bound; see `dual_bound` for these.

A route nets at most the bound, less what each of its markets falls short of its gas and multiplier at these prices. So
an edge that falls short by more than the gap is in no better route. In linear programming this is known as fixing by
reduced costs.
"""

from __future__ import annotations

from routing_engine.jit.decorators import inner
from routing_engine.kernels.bound.dual_prices import (
    clear_dual_prices,
    compute_dual_prices,
    look_up_price,
)
from routing_engine.kernels.bound.settled_prices import find_gain
from routing_engine.kernels.marginal_price import value_base_gas

NO_WAY_ON = -1.0
"""The price where a route can't go on. A price of 0 is one: multipliers may be worth more than what a token gives."""


@inner
def _price_output(k, v, u, problem, state, duals, enough):
    """Return what a unit of v is worth at most with k hops left, to a route that came from u."""
    if v == problem.end:
        return 1.0 if k == 0 else NO_WAY_ON
    most = state.inflow.most[problem.max_hops - k, v]
    if k == 0 or most <= 0.0:
        return NO_WAY_ON
    # What is worth less was not priced.
    return max(look_up_price(duals, problem.graph.forward.edges, k, v, u), enough / most)


@inner
def _price_input(k, u, v, problem, state, duals, enough):
    """Return what a unit of u is worth at least with k hops left, to a route that goes on to v, from anywhere."""
    best, edges = duals.best[k, u], problem.graph.forward.edges
    if best > 0.0 and edges[duals.via[k, u]]["other"] != v:
        best = duals.other[k, u]
    return max(best, enough / state.inflow.most[problem.max_hops - k, u])


@inner
def _measure_earnings(e, u, price, problem, state, duals, enough):
    """Return what an edge earns at most beside its gas and multiplier, over all numbers of hops left."""
    edge, most = problem.graph.forward.edges[e], float("-inf")
    cost = value_base_gas(edge, problem.gas) + state.multiplier[edge["market"]]
    for k in range(problem.max_hops):
        if state.inflow.most[problem.max_hops - k - 1, u] <= 0.0:
            continue
        there = _price_output(k, edge["other"], u, problem, state, duals, enough)
        if there >= 0.0:
            here = price if u == problem.start else _price_input(k + 1, u, edge["other"], problem, state, duals, enough)
            most = max(most, find_gain(edge, problem.graph.pieces, here, there, state.limit[u]) - cost)
    return most


@inner
def close_losing_edges(problem, state, workspace, total, floor, reached):
    """Close the edges that no route uses that nets more than `floor`, by the prices at the present multipliers.

    Parameters
    ----------
    state : FlowState
        Whose multipliers add up to `total`.
    reached : int
        From `fill_limits`.

    Returns
    -------
    bool
        Whether there were any.
    """
    duals, forward, enough = workspace.duals, problem.graph.forward, max(0.0, floor - total)
    price = compute_dual_prices(problem, state, workspace, enough)
    bound, any_is = price * problem.amount + total, False
    for i in range(reached):
        u = state.inflow.reached[i]
        for e in range(forward.first[u], forward.first[u + 1]):
            if u != problem.end and not state.closed[e] and problem.allowed[forward.edges[e]["market"]]:
                earned = _measure_earnings(e, u, price, problem, state, duals, enough)
                state.closed[e] = bound + min(0.0, earned) <= floor
                any_is |= state.closed[e]
    clear_dual_prices(duals)
    return any_is
