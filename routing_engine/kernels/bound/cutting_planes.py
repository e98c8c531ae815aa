"""Certificates, refined: which markets to pay how much, by linear programming.

For given extras `worths.dearest` finds the least prices, and the bound is the start's price times the amount, plus all
extras (see `bound`). It is a convex function of the extras. At the extras of each turn the dearest path tells how the
start's price falls when a market on it is paid more: a market through which a unit of the start sends ``chain`` units
that share their payment among ``flow`` gives ``chain / flow`` for each unit paid. So each turn gives a plane that lies
below the function, and the next extras are where the planes together are lowest: Kelley's method of cutting planes (J.
SIAM 8, 1960), whose dual is column generation. Its columns are paths that carry parts of the amount, and each market's
gas is shared by parts that add up to one: the best that divisions could do if a part of a market paid a part of its
gas. Where that is worth no more than a route that pays in full, the route is proven to be the best.
"""

from __future__ import annotations

import numpy as np

from routing_engine.jit.decorators import inner, kernel
from routing_engine.kernels.bound.dual_bound import CLOSE, TOGETHER, allow, forget
from routing_engine.kernels.bound.dual_prices import clear_worths, dearest, dearest_path
from routing_engine.kernels.bound.initial_prices import price_rounds
from routing_engine.kernels.bound.simplex import COLUMNS, ROWS, add_row, new_master, solve_with
from routing_engine.kernels.marginal_price import arbitrage, gas_used
from routing_engine.kernels.search.frontier import mark_beside

KEPT = 0.8
"""Part of what a division's markets earn that they are allowed in any case; what else they need is found. Of one path
none is: then few turns find all."""

SETTLED = 0.2
"""Part of the gap that may be left to what the planes promise."""


@inner
def _tangent(edge, tables, worth, rate, limit):
    """Return the input at which an edge's net average price is `rate`."""
    if edge["concave"] == 0:
        return min(limit, edge["x_max"])
    _, flow = arbitrage(edge, tables, worth, rate, limit)
    return flow


@inner
def _row_of(market, markets, rows):
    """Return the row of a market, or the first free one."""
    for row in range(1, rows):
        if markets[row] == market:
            return row
    return rows


@inner
def _cut(length, path, worth, price, amount, rows, markets, base, use, board, task, load):
    """Fill `use` with how the worth of the amount falls with each market's extra; return the number of rows."""
    edges, chain, rate = board.forward.edges, amount, price
    for row in range(ROWS):
        use[row] = 0.0
    use[0] = 1.0
    for i in range(length):
        edge = edges[path[i]]
        flow = _tangent(edge, board.tables, worth[i], rate, load.limit[board.source[path[i]]])
        row = _row_of(edge["market"], markets, rows)
        if flow <= 0.0 or row == ROWS:
            break
        if row == rows:
            markets[row], base[row] = edge["market"], load.extra[edge["market"]]
            rows += 1
        use[row] += chain / flow
        cost = gas_used(edge, board.tables, task.gas, flow) + load.extra[edge["market"]]
        chain *= (rate * flow + cost) / (worth[i] * flow)
        rate = worth[i]
    return rows


@kernel
def refine(board, load, task, worths, near, count, total, network, amount, floor, bound):
    """Lower a bound that `certify` has found for the net output of every division of at most `amount`.

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
    edges, max_hops = board.forward.edges, task.max_hops
    path, worth = np.zeros(max_hops, np.int64), np.zeros(max_hops)
    markets, base, paid, use = np.full(ROWS, -1), np.zeros(ROWS), np.zeros(ROWS), np.zeros(ROWS)
    master, rows, least, slope = new_master(), 1, bound, 0.0
    mark_beside(board.forward, task.start, near, True)
    price_rounds(count, network, board, task, worths, floor)
    allow(count, total, network, board, task, load, worths)
    forget(total, network, board, task, worths)
    kept = 0.0
    for i in range(total):
        market = edges[network.edge[i]]["market"]
        load.extra[market] *= KEPT if count > 1 else 0.0
        kept += load.extra[market]
    for turn in range(COLUMNS):
        extras = kept
        for row in range(1, rows):
            load.extra[markets[row]] = base[row] + paid[row]
            extras += paid[row]
        price = dearest(board, load, task, worths, near, amount, max(0.0, floor - extras), TOGETHER)
        if price * amount + extras < least:
            least, slope = price * amount + extras, price
        length = dearest_path(worths, edges, max_hops, task.start, path, worth)
        clear_worths(worths)
        known = rows
        rows = _cut(length, path, worth, price, amount, rows, markets, base, use, board, task, load)
        plane = price * amount
        for row in range(1, known):
            plane += use[row] * paid[row]
        if length == 0 or least <= floor * (1.0 + CLOSE):
            break
        for row in range(known, rows):
            add_row(master, row)
        promised = kept + floor * solve_with(master, rows, turn, use, plane / floor)
        if least - promised <= SETTLED * (least - floor):
            break
        for row in range(1, rows):
            paid[row] = max(0.0, master.tableau[ROWS, row]) * floor
    for i in range(total):
        load.extra[edges[network.edge[i]]["market"]] = 0.0
    for row in range(1, rows):
        load.extra[markets[row]] = 0.0
    mark_beside(board.forward, task.start, near, False)
    return (least, slope) if least < bound else (np.inf, 0.0)
