"""The least bound of all flows: what prices of tokens prove, at which as much comes to each as leaves it.

Prices are looked for with ever sharper corners. Each time they give a bound, and the least counts. Whatever prices are,
a bound holds.
"""

from __future__ import annotations

import numpy as np

from routing_engine.jit.decorators import kernel
from routing_engine.kernels.bound.all_flows.balanced_prices import (
    MANY_TOKENS,
    ROOM,
    ROUNDED,
    ROUNDING,
    begin_prices,
    settle_prices,
)
from routing_engine.kernels.bound.all_flows.flow_edges import list_flow_edges
from routing_engine.kernels.bound.all_flows.flow_value import bound_net
from routing_engine.kernels.work import is_overdrawn

CLOSE = 1e-6
"""Relative gap at which a bound is good enough."""


@kernel
def find_least_flow_bound(problem, known):
    """Bound what any route of the amount nets, over any number of markets.

    Parameters
    ----------
    problem : SplitProblem
        Its `max_hops` does not count. Of its `work` is spent what this takes.
    known : float
        A net output that is known, more than 0: a bound that is as low is not made any lower.

    Returns
    -------
    bound, slope : float, float
        In units of the target, and what a unit less of the amount takes off it; infinite and 0 where there is none.
    """
    if problem.units.size > MANY_TOKENS:
        return np.inf, 0.0
    edges = list_flow_edges(problem)
    matrix, start, price = begin_prices(edges, problem)
    if start < 0:
        return np.inf, 0.0
    cap = ROOM * price[start] * problem.amount / price
    least, slope = np.inf, 0.0
    for rounded in ROUNDED:
        settle_prices(edges, problem, start, price, cap, rounded, matrix, known)
        raised = price.copy()
        bound = bound_net(edges, problem, start, raised, cap) * (1.0 + ROUNDING)
        if bound < least:
            least, slope = bound, raised[start]
        if least <= known * (1.0 + CLOSE) or is_overdrawn(problem.work):
            break
    return least, slope
