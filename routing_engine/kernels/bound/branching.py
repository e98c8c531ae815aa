"""Certificates, branched: markets are closed or paid for, one after the other, until what is left can't be better.

The relaxed problem lets parts of a market pay parts of its gas. Every route either does without a market or pays for it
as a whole, so the larger of the two bounds holds for both kinds. The market is decided upon of whose gas the most is at
stake, where the bound is largest, and so on: branch and bound (Land and Doig, Econometrica 28, 1960).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from routing_engine.jit.decorators import allocating, inner
from routing_engine.kernels.bound.dual_bound import clear_multipliers, clear_targets, set_multipliers
from routing_engine.kernels.bound.exclusion import limit_again
from routing_engine.kernels.bound.fixing import close_losing_edges
from routing_engine.kernels.bound.initial_prices import price_rounds
from routing_engine.kernels.bound.open_edges import forget_open_edges
from routing_engine.kernels.bound.planes import (
    CLOSED,
    PAID,
    UNDECIDED,
    clear_row_multipliers,
    create_relaxation,
    drop_closed_planes,
)
from routing_engine.kernels.bound.relaxation import solve_relaxation
from routing_engine.kernels.marginal_price import value_base_gas

KEPT_PART = 0.8
"""Part of what an allocation's markets earn that they are allowed in any case; what else they need is found. Of one
path none is: then few turns find all."""

NODES = 192
"""Sets of decisions that are looked at, at most."""

ENOUGH = 1e-6
"""Relative gap at which nothing more is decided."""


TRIAL, CLOSED_PART = 12, 0.5
"""After so many sets it is looked whether all of them would close such a part of the gap, at the pace so far. Not for a
single path: its sets take little time, and gaps often close at the very end."""

PASSES = 3
"""How often edges are closed before anything is decided."""


class Nodes(NamedTuple):
    """Sets of decisions: that of its parent, and one more. `row` is the market to decide upon next, or -1.

    A node that has children is no longer open.
    """

    parent: npt.NDArray[np.int64]
    decision: npt.NDArray[np.int64]
    row: npt.NDArray[np.int64]
    bound: npt.NDArray[np.float64]
    is_open: npt.NDArray[np.bool_]


@allocating
def _create_nodes():
    return Nodes(
        np.full(NODES, -1),
        np.zeros(NODES, np.int64),
        np.zeros(NODES, np.int64),
        np.zeros(NODES),
        np.ones(NODES, np.bool_),
    )


@inner
def _keep_multipliers(merged, state):
    """Leave the markets in use the part of their multipliers that they are allowed in any case; return the sum."""
    kept = 0.0
    for i in range(merged.edge_count):
        market = merged.graph.forward.edges[merged.network.edge[i]]["market"]
        state.multiplier[market] *= KEPT_PART if merged.path_count > 1 else 0.0
        kept += state.multiplier[market]
    return kept


@inner
def _find_least_gas(market, problem):
    """Return what the gas of a market's cheapest edge is worth."""
    edges, least = problem.graph.forward.edges, np.inf
    for e in range(edges.size):
        if edges[e]["market"] == market:
            least = min(least, value_base_gas(edges[e], problem.gas))
    return least


@inner
def _decide(node, nodes, rows):
    """Put a node's decisions on the rows."""
    rows.decision[:] = UNDECIDED
    while nodes.parent[node] >= 0:
        rows.decision[nodes.row[nodes.parent[node]]] = nodes.decision[node]
        node = nodes.parent[node]


@inner
def _find_worst_node(nodes, count):
    """Return the open node of the largest bound."""
    worst, bound = 0, -np.inf
    for node in range(count):
        if nodes.is_open[node] and nodes.bound[node] > bound:
            worst, bound = node, nodes.bound[node]
    return worst


@allocating
def _branch(problem, state, workspace, relaxation, nodes, floor, trial):
    """Decide on one market after the other; return the bound that all kinds of routes share.

    After `trial` sets of decisions it is looked whether to go on.
    """
    rows, count = relaxation.rows, 1
    while True:
        worst = _find_worst_node(nodes, count)
        row = nodes.row[worst]
        gap, lowered = nodes.bound[0] - floor, nodes.bound[0] - nodes.bound[worst]
        is_hopeless = count >= trial and lowered * NODES < CLOSED_PART * gap * count
        if nodes.bound[worst] <= floor * (1.0 + ENOUGH) or row < 0 or count + 2 > NODES or is_hopeless:
            return nodes.bound[worst]
        rows.gas[row] = _find_least_gas(rows.market[row], problem)
        nodes.is_open[worst] = False
        for decision in (CLOSED, PAID):
            nodes.parent[count], nodes.decision[count] = worst, decision
            _decide(count, nodes, rows)
            nodes.bound[count], _, nodes.row[count] = solve_relaxation(
                problem, state, workspace, relaxation, floor, nodes.bound[worst]
            )
            nodes.is_open[count] = True
            count += 1


@allocating
def _close_edges(problem, state, workspace, relaxation, nodes, floor, reached):
    """Close edges as long as that lowers the bound of the first node; return the number of tokens reached."""
    for _ in range(PASSES):
        if nodes.bound[0] <= floor * (1.0 + ENOUGH):
            break
        if not close_losing_edges(problem, state, workspace, relaxation.total[0], floor, reached):
            break
        reached = limit_again(problem, state, workspace.scratch.is_adjacent, reached)
        forget_open_edges(state)
        drop_closed_planes(relaxation, state)
        nodes.bound[0], _, nodes.row[0] = solve_relaxation(problem, state, workspace, relaxation, floor, nodes.bound[0])
    return reached


@allocating
def refine_bound(problem, state, workspace, merged, bounds, reached, is_thorough):
    """Lower a bound that `certify` has found for the net output of every allocation of at most the amount.

    Parameters
    ----------
    As of `certify`.
    bounds : float, float
        The net output of the allocation, and what is known not to be exceeded.
    reached : int
        From `fill_limits`.
    is_thorough : bool
        Whether edges are closed and markets decided upon.

    Returns
    -------
    bound, price : float, float
        As of `certify`; infinite and 0 if this one is not lower.
    reached : int
        As of `fill_limits`.
    """
    duals, floor = workspace.duals, bounds[0]
    price_rounds(merged, problem, duals, floor)
    set_multipliers(merged, problem, state, duals)
    clear_targets(merged, problem, duals)
    relaxation, nodes = create_relaxation(problem.max_hops, _keep_multipliers(merged, state)), _create_nodes()
    least, slope, nodes.row[0] = solve_relaxation(problem, state, workspace, relaxation, floor, bounds[1])
    nodes.bound[0] = least
    if is_thorough:
        reached = _close_edges(problem, state, workspace, relaxation, nodes, floor, reached)
        trial = TRIAL if merged.path_count > 1 else NODES
        least = _branch(problem, state, workspace, relaxation, nodes, floor, trial)
    clear_multipliers(merged, state)
    clear_row_multipliers(relaxation, state)
    forget_open_edges(state)
    return (least, slope, reached) if least < bounds[1] else (np.inf, 0.0, reached)
