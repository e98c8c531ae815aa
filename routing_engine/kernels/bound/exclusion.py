"""Edges that no better route uses, and how much can be at a token: from what a better route can afford to lose.

A route nets at most what the amount is worth at any fixed prices of tokens, and what its markets earn beside their gas;
see `losses`. So in a route that nets at least the floor, edges lose at most the slack together:

    slack = value of the amount + what all markets together may earn - floor.

An edge that is used lies on paths from the start to the end, and each edge on them loses its part. So an edge over
which even the path that loses least loses more than the slack is in no such route. If it is a minor edge, the route has
a path without minor edges besides; if not, it is on that path or beside it.

What an edge gains costs its loss ``c - g``. The most that can be gained is a knapsack: for any rate it is no more than
``rate * slack`` and what each edge gains above ``rate * loss``. Nowhere on the way is there more than the amount is
worth, and all these gains.
"""

from __future__ import annotations

import numpy as np

from routing_engine.jit.decorators import inner, part
from routing_engine.kernels.bound.flow_limits import MANY_WAYS, clear_flow_limits, limit_flows
from routing_engine.kernels.bound.loss_edges import list_loss_edges, shorten_list
from routing_engine.kernels.bound.losses import ALL, MAIN, spread_losses, weigh_edges
from routing_engine.kernels.bound.minor_edges import mark_minor_edges
from routing_engine.kernels.marginal_price import value_base_gas
from routing_engine.kernels.work import LOSS_EDGE, spend

RATES, LEAST_RATE = 24, 2.0**-12
"""Rates that are tried for the knapsack, powers of two from the least on; the least bound counts."""

ROUNDING = 1e-9
"""By which slack and limits are larger than they are found, relatively to the amount."""

PASSES = 4
"""How often edges are looked at with the same prices, while that closes some."""

SETTLED, OWN = 0, 1
"""Prices: settled ones, and the allocation's own on its way."""


@inner
def _set_settled_prices(problem, state, reached):
    """Price the tokens that are reached as settled, in units of the target; return whether each has a price."""
    units, price, is_whole = problem.units, state.losses.price, problem.units[problem.end] > 0.0
    for i in range(reached):
        v = state.inflow.reached[i]
        is_whole &= units[v] > 0.0
        price[v] = units[problem.end] / units[v] if units[v] > 0.0 else 0.0
    return is_whole


@inner
def _has_largest_flow(i, merged):
    """Whether no edge from the same token takes more than edge i of the network."""
    network, source, is_largest = merged.network, merged.graph.source, True
    for j in range(merged.edge_count):
        is_largest &= source[network.edge[j]] != source[network.edge[i]] or network.flow[j] <= network.flow[i]
    return is_largest


@inner
def _set_own_prices(problem, state, merged, reached):
    """Put the allocation's marginal prices on its way, and move the others along with its best connected token."""
    network, price = merged.network, state.losses.price
    edges, source, first = merged.graph.forward.edges, merged.graph.source, problem.graph.forward.first
    scale, degree = 1.0, first[problem.end + 1] - first[problem.end]
    for i in range(merged.edge_count - 1, -1, -1):
        u = source[network.edge[i]]
        if _has_largest_flow(i, merged):
            own = price[edges[network.edge[i]]["other"]] * network.slope[i]
            if own <= 0.0:
                continue  # full
            if first[u + 1] - first[u] > degree:
                scale, degree = own / price[u], first[u + 1] - first[u]
            price[u] = own
    for i in range(reached):
        v = state.inflow.reached[i]
        is_on_way = v == problem.end
        for j in range(merged.edge_count):
            is_on_way |= source[network.edge[j]] == v
        if not is_on_way:
            price[v] *= scale


@inner
def _bound_value(problem, state, slack, value, at_rate):
    """Return what all that is anywhere on the way of a route is worth at most."""
    edges, losses, listed, gained = problem.graph.forward.edges, state.losses, state.losses.edges, 0.0
    at_rate[:] = 0.0
    for place in range(listed.size[0]):
        loss = losses.loss[place]
        gain = value_base_gas(edges[listed.edge[place]], problem.gas) - loss
        if loss <= 0.0:
            gained += gain
        elif gain > 0.0:
            rate = LEAST_RATE
            for r in range(RATES):
                if gain <= rate * loss:
                    break
                at_rate[r] += gain - rate * loss
                rate *= 2.0
    least, rate = np.inf, LEAST_RATE
    for r in range(RATES):
        least = min(least, at_rate[r] + rate * slack)
        rate *= 2.0
    return value + gained + least


@inner
def _close_edges(problem, state, slack):
    """Close the edges over which every route loses more than the slack; return whether there were any."""
    losses, listed, any_is = state.losses, state.losses.edges, False
    for place in range(listed.size[0]):
        u, v, loss = listed.source[place], listed.target[place], max(0.0, losses.loss[place])
        least = losses.main_lost[problem.end] + loss
        if not losses.is_minor[place]:
            least = min(least, losses.main_lost[u] + loss + losses.main_to_lose[v])
        if not max(least, losses.lost[u] + loss + losses.to_lose[v]) <= slack:
            state.closed[listed.edge[place]] = any_is = True
    return any_is


@inner
def _lower_limits(problem, state, reached, ceiling):
    """Limit what is at each token to what all that is on the way is worth."""
    for i in range(reached):
        v = state.inflow.reached[i]
        state.limit[v] = min(state.limit[v], ceiling / state.losses.price[v] * (1.0 + ROUNDING))


@inner
def limit_again(problem, state, is_adjacent, reached):
    """Find limits anew without the edges that are closed, no higher than they are; return the number of tokens."""
    most = state.losses.most
    for i in range(reached):
        most[state.inflow.reached[i]] = state.limit[state.inflow.reached[i]]
    clear_flow_limits(state, reached)
    again = limit_flows(problem, state, is_adjacent, MANY_WAYS)
    for i in range(again):
        v = state.inflow.reached[i]
        state.limit[v] = min(state.limit[v], most[v])
    return again


@part("Tuple((float64, int64))")
def exclude_edges(problem, state, workspace, merged, reached, floor):
    """Close the edges that no route uses that nets more than `floor`, and lower `state.limit` for such routes.

    Parameters
    ----------
    state : FlowState
        As `fill_limits` left it for a split amount; `closed` and the limits are changed.
    merged : MergedPaths
        An allocation that nets `floor`.
    reached : int
        From `fill_limits`.

    Returns
    -------
    bound : float
        Of the net output of any allocation.
    reached : int
        As of `fill_limits`.
    """
    losses, bound, memory = state.losses, np.inf, np.zeros(RATES)
    is_whole = _set_settled_prices(problem, state, reached)
    if is_whole:
        list_loss_edges(problem, state, reached)
    for prices in range(SETTLED, OWN + 1 if is_whole else SETTLED):
        if prices == OWN:
            _set_own_prices(problem, state, merged, reached)
        ceiling = np.inf
        for turn in range(PASSES):
            losses.price[problem.start] = max(losses.price[problem.start], problem.least_price)
            value = losses.price[problem.start] * problem.amount
            earned = weigh_edges(problem, state, reached)
            spend(problem.work, LOSS_EDGE * losses.edges.size[0])
            slack = max(0.0, value + earned - floor) + ROUNDING * value
            # A route that leaves part of the amount gives less than the floor, so minor edges may carry all of it.
            budget = floor - (ceiling - value) if problem.least_price == 0.0 else 0.0
            mark_minor_edges(problem, state, slack, budget, memory)
            spread_losses(problem, state, reached, losses.lost, losses.to_lose, ALL)
            spread_losses(problem, state, reached, losses.main_lost, losses.main_to_lose, MAIN)
            bound = min(bound, value + earned - losses.main_lost[problem.end])
            ceiling = _bound_value(problem, state, slack, value, memory)
            _lower_limits(problem, state, reached, ceiling)
            any_is = _close_edges(problem, state, slack)
            if any_is:
                shorten_list(problem, state, reached)
            elif turn > 0:
                break
        if bound <= floor:
            break
    losses.price[:] = 0.0
    return bound, limit_again(problem, state, workspace.scratch.is_adjacent, reached)
