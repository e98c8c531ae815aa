"""Certificates over paths of any number of markets: an upper bound by one price for each token."""

from __future__ import annotations

import numpy as np

from routing_engine.jit.decorators import allocating, part
from routing_engine.kernels.bound.all_flows.flow_prices import (
    NO_LOOP,
    UNLIMITED,
    compute_flow_prices,
    create_flow_prices,
    trace_dearest_flow,
)
from routing_engine.kernels.bound.dual_bound import (
    clear_multipliers,
    clear_targets,
    find_cheapest_multiplier,
    set_multipliers,
)
from routing_engine.kernels.bound.initial_prices import price_rounds, price_tokens
from routing_engine.kernels.work import is_overdrawn

TURNS, LOOPS = 24, 3
"""How often a multiplier is raised at most, and how often because a loop of markets earns."""

LONGEST = 32
"""Edges of a path that are looked at; one that is longer, or runs into a loop, has others to raise."""

CLOSE, HOPELESS = 1e-6, 1e-3
"""Relative gaps at which the bound is good enough, and from which on other prices to begin with won't help."""


@allocating
def _lower_bound(prices, problem, state, price, total, floor):
    """Raise one multiplier after the other while the bound may fall; they are 0 again afterwards.

    `price` holds the allocation's prices by token, `total` the sum of the multipliers so far. Returns the bound and the
    start's price, as `certify`.
    """
    path, dual_price, raised = np.zeros(LONGEST, np.int64), np.zeros(LONGEST), np.full(TURNS, -1)
    known, limit = np.zeros(LONGEST), np.full(LONGEST, UNLIMITED)
    least, slope, loops = np.inf, 0.0, 0
    for turn in range(TURNS):
        token = compute_flow_prices(prices, problem, state)
        if token == NO_LOOP:
            token = problem.start
            start_price = max(prices.best[token], problem.least_price)
            if start_price * problem.amount + total < least:
                least, slope = start_price * problem.amount + total, start_price
        else:
            loops += 1
            if loops > LOOPS:
                break
        if least <= floor * (1.0 + CLOSE) or is_overdrawn(problem.work):
            break
        length = trace_dearest_flow(prices, problem, token, path, dual_price)
        for i in range(length):
            known[i] = price[problem.graph.source[path[i]]]
        more, where = find_cheapest_multiplier(length, path, dual_price, known, limit, problem, state)
        if where < 0 or total + more >= least:
            break
        state.multiplier[where] += more
        total += more
        raised[turn] = where
    for turn in range(TURNS):
        if raised[turn] >= 0:
            state.multiplier[raised[turn]] = 0.0
    return least, slope


@part("UniTuple(float64, 2)")
def bound_all_flows(problem, state, workspace, merged, floor):
    """Bound the net output of every allocation of at most the amount, over paths of any number of markets.

    First prices by token suggest the multipliers, then those by hops.

    Parameters
    ----------
    As of `certify`; limits of flows are not looked at.

    Returns
    -------
    bound, price : float, float
        As of `certify`; infinite and 0 where loops of markets earn more than all that is looked at.
    """
    duals, least, slope = workspace.duals, np.inf, 0.0
    prices = create_flow_prices(problem.graph.forward.first.size - 1)
    for rule in range(2):
        if rule == 0:
            price_tokens(merged, problem, duals, floor)
        else:
            price_rounds(merged, problem, duals, floor)
        price = np.zeros(prices.best.size)
        for k in range(problem.max_hops + 1):
            price = np.maximum(price, duals.target[k])
        total = set_multipliers(merged, problem, state, duals)
        bound, start_price = _lower_bound(prices, problem, state, price, total, floor)
        if bound < least:
            least, slope = bound, start_price
        clear_targets(merged, problem, duals)
        clear_multipliers(merged, state)
        if not floor * (1.0 + CLOSE) < least < floor * (1.0 + HOPELESS):
            break
    return least, slope
