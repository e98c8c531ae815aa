"""Edges that may set the start's price, by hops left: of a market's thousands of edges a few hundred.

A certificate prices the same tokens dozens of times, with other multipliers each time. Prices are highest where the
multipliers are lowest. At these prices, `list_contenders` follows the paths from the start along which the amount would
be worth more than a level; the other edges can't lift it above that at any multipliers. Then each price of the market
goes through those listed only, the best first.
"""

from __future__ import annotations

from routing_engine.jit.decorators import inlined, inner
from routing_engine.kernels.bound.dual_prices import (
    Step,
    clear_dual_prices,
    compute_dual_prices,
    look_up_price,
    record_price,
)
from routing_engine.kernels.bound.open_edges import list_edges_from
from routing_engine.kernels.marginal_price import (
    bound_net_rate_soon,
    bound_net_rate_with_steps,
    value_base_gas,
    value_piece_gas,
)

EDGES, TOKENS = 0, 1
"""What `Contenders.sizes` counts: edges, and tokens by hops left."""

ROUNDING = 1e-12
"""More than the relative error of a quotient."""


@inlined
def _bound_rate(edge, dual_price, problem, state, most, least):
    """Return the net average price of an edge at the present multipliers, at most; 0 if it is at most `least`."""
    cost = value_base_gas(edge, problem.gas) + state.multiplier[edge["market"]]
    if bound_net_rate_soon(edge, dual_price, cost, most) <= least:
        return 0.0
    return bound_net_rate_with_steps(
        edge, problem.graph.pieces, dual_price, cost, value_piece_gas(edge, problem.gas), most
    )


@inner
def _insert(place, first, e, rate, ratio, listed):
    """Put an edge among those of its token that are listed from `first` on, the highest price first."""
    while place > first and listed.price[place - 1] < rate:
        listed.edge[place] = listed.edge[place - 1]
        listed.price[place], listed.ratio[place] = listed.price[place - 1], listed.ratio[place - 1]
        place -= 1
    listed.edge[place], listed.price[place], listed.ratio[place] = e, rate, ratio


@inner
def _list_edges_of(k, u, reach, level, problem, state, duals):
    """List the edges of token u, which has k + 1 hops left, that may matter, and note how much they bring."""
    forward, listed = problem.graph.forward, state.contenders
    most = state.limit[u]
    if state.inflow.most[problem.max_hops - k - 1, u] <= 0.0:
        return
    begin = size = listed.sizes[EDGES]
    least = level / reach * (1.0 - ROUNDING)
    first, last = list_edges_from(u, problem, state)
    for place in range(first, last):
        e = state.open_edges.listed[place]["edge"]
        edge = forward.edges[e]
        v = edge["other"]
        dual_price = look_up_price(duals, forward.edges, k, v, u)
        if dual_price * edge["max_average_price"] * reach <= level or most < edge["x_min"]:
            continue
        rate = _bound_rate(edge, dual_price, problem, state, most, least)
        if rate * reach > level:
            _insert(size, begin, e, rate, rate / dual_price, listed)
            listed.reach[k, v] = max(listed.reach[k, v], reach * rate / dual_price)
            size += 1
    if size > begin:
        row = listed.sizes[TOKENS]
        listed.token[row], listed.hops[row] = u, k + 1
        listed.first[row], listed.first[row + 1] = begin, size
        listed.sizes[EDGES], listed.sizes[TOKENS] = size, row + 1


@inner
def list_contenders(problem, state, workspace, level):
    """List the edges on paths along which the amount may be worth more than `level`.

    Parameters
    ----------
    state : FlowState
        Whose multipliers are the least that any will be; its `contenders` are filled.
    """
    listed, duals, max_hops = state.contenders, workspace.duals, problem.max_hops
    compute_dual_prices(problem, state, workspace, level)
    listed.sizes[EDGES] = listed.sizes[TOKENS] = listed.first[0] = 0
    for k in range(max_hops - 1, -1, -1):
        for i in range(duals.sizes[k + 1]):
            u = duals.touched[k + 1, i]
            if u == problem.start:
                _list_edges_of(k, u, problem.amount, level, problem, state, duals)
            elif listed.reach[k + 1, u] > 0.0:
                _list_edges_of(k, u, listed.reach[k + 1, u], level, problem, state, duals)
    for row in range(listed.sizes[TOKENS]):
        for place in range(listed.first[row], listed.first[row + 1]):
            listed.reach[listed.hops[row] - 1, problem.graph.forward.edges[listed.edge[place]]["other"]] = 0.0
    clear_dual_prices(duals)


@inner
def price_contenders(problem, state, duals, level):
    """Fill the dual prices at the present multipliers as far as the edges listed tell them.

    Parameters
    ----------
    level : float
        As of `list_contenders`.

    Returns
    -------
    float
        The price of a unit at the start: no less than the problem's least one, and what makes the amount worth the
        level.
    """
    edges, listed, start = problem.graph.forward.edges, state.contenders, problem.start
    duals.touched[0, 0] = problem.end
    duals.sizes[0] = 1
    duals.best[0, problem.end] = 1.0
    for row in range(listed.sizes[TOKENS] - 1, -1, -1):
        u, k = listed.token[row], listed.hops[row] - 1
        for place in range(listed.first[row], listed.first[row + 1]):
            least = duals.other[k + 1, u]
            if listed.price[place] <= least:
                break
            e = listed.edge[place]
            edge = edges[e]
            dual_price = look_up_price(duals, edges, k, edge["other"], u)
            if dual_price * listed.ratio[place] <= least:
                continue
            rate = min(listed.price[place], _bound_rate(edge, dual_price, problem, state, state.limit[u], least))
            if rate > least and record_price(duals, edges, Step(k, e, u, edge["other"]), rate):
                duals.touched[k + 1, duals.sizes[k + 1]] = u
                duals.sizes[k + 1] += 1
    price = max(problem.least_price, level / problem.amount)
    for k in range(1, problem.max_hops + 1):
        price = max(price, duals.best[k, start])
    return price
