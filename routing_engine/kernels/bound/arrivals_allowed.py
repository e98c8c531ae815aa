"""How much can arrive at a token, at what markets are allowed to earn: for certificates, as `arrivals` for columns.

Let ``F[j, v]`` be these arrivals, ``w0`` the prices that the outlook stands for, and ``level`` what routes that count
are worth at least. A token that a search for dual prices leaves out may be given the price ``min(w0, level / F)``.
These prices fulfil the condition of `dual_bound` among themselves: at a dual price up to ``w0``, no edge gives its
token more than the part of it by which arrivals were multiplied. Multipliers that rise later only make that part
smaller.
"""

from __future__ import annotations

import numpy as np

from routing_engine.jit.decorators import inner
from routing_engine.kernels.bound.arrivals import clear_arrivals, fill_arrivals, may_look_ahead
from routing_engine.kernels.bound.outlook import LEAST
from routing_engine.kernels.marginal_price import bound_net_rate_with_steps, value_base_gas, value_piece_gas


@inner
def _bound_dual_price(v, problem, state):
    """Return what a unit of token v is worth at most, wherever on a route that counts; infinite where that is unknown.

    Where the outlook leaves a token out, it may be worth what makes all that can be there worth just that little.
    """
    if v == problem.end:
        return 1.0
    highest, least = 0.0, state.outlook.scope[LEAST]
    for k in range(1, problem.max_hops):
        here = state.inflow.most[problem.max_hops - k, v]
        if here > 0.0:
            highest = max(highest, state.outlook.most[k, v], least / here)
    return highest


@inner
def fill_allowed_arrivals(merged, problem, state):
    """Fill the arrivals for the present multipliers: no edge in use gives more of its token's worth than counts here.

    With its fixed cost an edge gives the larger part of a dual price, the larger that is: so at the largest, most.
    """
    if not may_look_ahead(problem):
        return
    edges, network = merged.graph.forward.edges, merged.network
    for i in range(merged.edge_count):
        e = network.edge[i]
        edge = edges[e]
        highest = _bound_dual_price(np.int64(edge["other"]), problem, state)
        if highest > 0.0:
            cost, piece_cost = value_base_gas(edge, problem.gas), value_piece_gas(edge, problem.gas)
            cost += state.multiplier[edge["market"]]
            most = state.limit[merged.graph.source[e]]
            rate = bound_net_rate_with_steps(edge, merged.graph.pieces, highest, cost, piece_cost, most)
            state.flow[e], state.slope[e] = 1.0, rate / highest
    clear_arrivals(state)
    fill_arrivals(problem, state)


@inner
def clear_allowed_arrivals(merged, state):
    """Undo `fill_allowed_arrivals`."""
    clear_arrivals(state)
    for i in range(merged.edge_count):
        state.flow[merged.network.edge[i]] = 0.0
