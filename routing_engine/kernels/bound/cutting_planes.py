"""Certificates, refined: which multiplier each market gets, by linear programming.

For given multipliers `dual_prices.compute_dual_prices` finds the least prices, and the bound is the start's price times
the amount, plus all multipliers (see `dual_bound`). It is a convex function of the multipliers. At those of each turn
the dearest path tells how the start's price falls when a market on it is allowed more: a market through which a unit of
the start sends ``chain`` units that share its multiplier among ``flow`` gives ``chain / flow`` for each unit allowed.
So each turn gives a plane that lies below the function, and the next multipliers are where the planes together are
lowest: Kelley's method of cutting planes (J. SIAM 8, 1960), whose dual is column generation. Its columns are paths that
carry parts of the amount, and each market's gas is shared by parts that add up to one: the best that allocations could
do if a part of a market paid a part of its gas. Where that is worth no more than a route that pays in full, the route
is proven to be the best.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from routing_engine.jit.decorators import allocating, inner
from routing_engine.kernels.bound.dual_bound import (
    CLOSE,
    MANY_PATHS,
    clear_multipliers,
    clear_targets,
    set_multipliers,
)
from routing_engine.kernels.bound.dual_prices import (
    PricingRule,
    clear_dual_prices,
    compute_dual_prices,
    trace_dearest_path,
)
from routing_engine.kernels.bound.initial_prices import price_rounds
from routing_engine.kernels.bound.simplex import COLUMNS, ROWS, add_row, create_program, solve_with
from routing_engine.kernels.marginal_price import find_arbitrage, value_gas
from routing_engine.kernels.search.frontier import mark_adjacent

KEPT_PART = 0.8
"""Part of what an allocation's markets earn that they are allowed in any case; what else they need is found. Of one
path none is: then few turns find all."""

SETTLED = 0.2
"""Part of the gap that may be left to what the planes promise."""


class Cuts(NamedTuple):
    """The rows of the program, and one cut: all of `ROWS` entries.

    A row stands for a market, the first one for the amount. `base` is the market's multiplier before it got a row,
    `use` how the value of the amount falls with each market's multiplier.
    """

    markets: npt.NDArray[np.int64]
    base: npt.NDArray[np.float64]
    use: npt.NDArray[np.float64]


@inner
def _find_tangent_input(edge, pieces, dual_price, rate, limit):
    """Return the input at which an edge's net average price is `rate`."""
    if edge["concave"] == 0:
        return min(limit, edge["x_max"])
    _, flow = find_arbitrage(edge, pieces, dual_price, rate, limit)
    return flow


@inner
def _find_row(market, markets, rows):
    """Return the row of a market, or the first free one."""
    for row in range(1, rows):
        if markets[row] == market:
            return row
    return rows


@inner
def _fill_cut(path, dual_price, price, rows, cuts, problem, state):
    """Fill `cuts.use` along the dearest path, where the start's price is `price`; return the number of rows."""
    graph, chain, rate = problem.graph, problem.amount, price
    for row in range(ROWS):
        cuts.use[row] = 0.0
    cuts.use[0] = 1.0
    for i in range(path.size):
        edge = graph.forward.edges[path[i]]
        flow = _find_tangent_input(edge, graph.pieces, dual_price[i], rate, state.limit[graph.source[path[i]]])
        row = _find_row(edge["market"], cuts.markets, rows)
        if flow <= 0.0 or row == ROWS:
            break
        if row == rows:
            cuts.markets[row], cuts.base[row] = edge["market"], state.multiplier[edge["market"]]
            rows += 1
        cuts.use[row] += chain / flow
        cost = value_gas(edge, graph.pieces, problem.gas, flow) + state.multiplier[edge["market"]]
        chain *= (rate * flow + cost) / (dual_price[i] * flow)
        rate = dual_price[i]
    return rows


@inner
def _keep_multipliers(merged, state):
    """Leave the markets in use the part of their multipliers that they are allowed in any case; return the sum."""
    kept = 0.0
    for i in range(merged.edge_count):
        market = merged.graph.forward.edges[merged.network.edge[i]]["market"]
        state.multiplier[market] *= KEPT_PART if merged.path_count > 1 else 0.0
        kept += state.multiplier[market]
    return kept


@allocating
def refine_bound(problem, state, workspace, merged, floor, bound):
    """Lower a bound that `certify` has found for the net output of every allocation of at most the amount.

    Parameters
    ----------
    As of `certify`.
    bound : float
        What is known.

    Returns
    -------
    bound, price : float, float
        As of `certify`; infinite and 0 if this one is not lower.
    """
    amount, max_hops, duals = problem.amount, problem.max_hops, workspace.duals
    path, dual_price = np.zeros(max_hops, np.int64), np.zeros(max_hops)
    cuts = Cuts(np.full(ROWS, -1), np.zeros(ROWS), np.zeros(ROWS))
    program, added, rows, least, slope = create_program(), np.zeros(ROWS), 1, bound, 0.0
    mark_adjacent(problem.graph.forward, problem.start, workspace.scratch.is_adjacent, True)
    price_rounds(merged, problem, duals, floor)
    set_multipliers(merged, problem, state, duals)
    clear_targets(merged, problem, duals)
    kept = _keep_multipliers(merged, state)
    for turn in range(COLUMNS):
        total = kept
        for row in range(1, rows):
            state.multiplier[cuts.markets[row]] = cuts.base[row] + added[row]
            total += added[row]
        price = compute_dual_prices(problem, state, workspace, PricingRule(max(0.0, floor - total), MANY_PATHS))
        if price * amount + total < least:
            least, slope = price * amount + total, price
        length = trace_dearest_path(duals, problem, path, dual_price)
        clear_dual_prices(duals)
        known = rows
        rows = _fill_cut(path[:length], dual_price, price, rows, cuts, problem, state)
        plane = price * amount
        for row in range(1, known):
            plane += cuts.use[row] * added[row]
        if length == 0 or least <= floor * (1.0 + CLOSE):
            break
        for row in range(known, rows):
            add_row(program, row)
        promised = kept + floor * solve_with(program, rows, turn, cuts.use, plane / floor)
        if least - promised <= SETTLED * (least - floor):
            break
        for row in range(1, rows):
            added[row] = max(0.0, program.tableau[ROWS, row]) * floor
    clear_multipliers(merged, state)
    for row in range(1, rows):
        state.multiplier[cuts.markets[row]] = 0.0
    mark_adjacent(problem.graph.forward, problem.start, workspace.scratch.is_adjacent, False)
    return (least, slope) if least < bound else (np.inf, 0.0)
