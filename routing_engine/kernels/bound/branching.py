"""Certificates, branched: markets are closed or paid for, one after the other, until what is left can't be better.

The relaxed problem lets parts of a market pay parts of its gas. Every route either does without a market or pays for it
as a whole, so the larger of the two bounds holds for both kinds. The market is decided upon of whose gas the most is at
stake, where the bound is largest, and so on: branch and bound (Land and Doig, Econometrica 28, 1960).
"""

from __future__ import annotations

import numpy as np

from routing_engine.jit.decorators import allocating, inner, part
from routing_engine.kernels.bound.dual_bound import clear_multipliers, clear_targets, set_multipliers
from routing_engine.kernels.bound.exclusion import limit_again
from routing_engine.kernels.bound.fixing import close_losing_edges
from routing_engine.kernels.bound.initial_prices import price_rounds
from routing_engine.kernels.bound.nodes import (
    NODES,
    choose_row,
    create_experience,
    create_nodes,
    decide,
    find_worst_node,
    is_doubtful,
    keep_optimum,
    learn,
)
from routing_engine.kernels.bound.open_edges import forget_open_edges
from routing_engine.kernels.bound.planes import (
    CLOSED,
    PAID,
    UNLISTED,
    clear_row_multipliers,
    create_relaxation,
    drop_closed_planes,
)
from routing_engine.kernels.bound.relaxation import EXACT, SETTLED, solve_relaxation
from routing_engine.kernels.bound.simplex import ROWS
from routing_engine.kernels.marginal_price import value_base_gas
from routing_engine.kernels.vectors import copy_first
from routing_engine.kernels.work import is_overdrawn

KEPT_PART = 0.8
"""Part of what an allocation's markets earn that they are allowed in any case; what else they need is found. Of one
path none is: then few turns find all."""

ENOUGH = 1e-6
"""Relative gap at which nothing more is decided."""

PROVEN = 1e-4
"""Relative gap that is small."""

FINE, TRIAL, MOST = 60_000, 100_000, 1_000_000
"""Edges that prices have gone through (see `relaxation`), after which a small gap is not made smaller, after which it
is looked whether to go on, and at most."""

FEWEST = 16
"""Sets of decisions that are looked at before that."""

STALLED, FALLEN = 400_000, 1e-3
"""Edges after which nothing more is decided where the gap has fallen by no more than this part of it: as a rule nothing
comes of as many again."""

LEFT = 20.0
"""Small gaps that would be left at most after as many edges as may be, if each closed the same part of what is left."""

PASSES = 3
"""How often edges are closed before anything is decided."""


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
    graph, least = problem.graph, np.inf
    for place in range(graph.market_first[market], graph.market_first[market + 1]):
        edge = graph.forward.edges[graph.market_edges[place]]
        least = min(least, value_base_gas(edge, problem.gas))
    return least


@inner
def _is_over(count, work, gap, first_gap):
    """Whether more sets of decisions than `count` are not worth their time; gaps are relative to the answer."""
    if gap <= ENOUGH or work >= MOST or count + 2 > NODES:
        return True
    if gap <= PROVEN:
        return work >= FINE
    if work >= STALLED and gap > first_gap * (1.0 - FALLEN):
        return True
    is_late = work >= TRIAL and count >= FEWEST
    return is_late and gap * (gap / first_gap) ** (MOST / work - 1.0) > LEFT * PROVEN


@inner
def _prepare_decisions(node, nodes, problem, relaxation):
    """Make sure that contenders are listed for decisions about all markets that are doubtful in a node."""
    rows = relaxation.rows
    for row in range(1, relaxation.size[0]):
        if is_doubtful(node, row, nodes, rows) and not rows.may_be_paid[row]:
            rows.gas[row], rows.may_be_paid[row] = _find_least_gas(rows.market[row], problem), True
            relaxation.level[0] = UNLISTED


@allocating
def _solve_exactly(node, nodes, problem, state, workspace, relaxation, floor):
    """Lower a node's bound as far as multipliers can, where only parts of paths are left to decide; whether it fell."""
    copy_first(nodes.first[node], relaxation.first, ROWS)
    bound = nodes.bound[node]
    nodes.bound[node], _ = solve_relaxation(problem, state, workspace, relaxation, floor, bound, EXACT)
    keep_optimum(node, nodes, relaxation)
    return nodes.bound[node] < bound


@allocating
def _branch(problem, state, workspace, relaxation, nodes, floor):
    """Decide on one market after the other; return the bound that all kinds of routes share."""
    rows, count, experience = relaxation.rows, 1, create_experience()
    first_gap, before = nodes.bound[0] / floor - 1.0, relaxation.work[0]
    while True:
        worst = find_worst_node(nodes, count)
        bound = nodes.bound[worst]
        gap = bound / floor - 1.0
        if is_overdrawn(problem.work) or _is_over(count, relaxation.work[0] - before, gap, first_gap):
            return bound
        decide(worst, nodes, rows)
        row = nodes.row[worst] = choose_row(worst, nodes, experience, relaxation)
        if row < 0:
            if _solve_exactly(worst, nodes, problem, state, workspace, relaxation, floor):
                continue
            return bound
        if not rows.may_be_paid[row]:
            _prepare_decisions(worst, nodes, problem, relaxation)
        nodes.is_open[worst] = False
        for decision in (CLOSED, PAID):
            nodes.parent[count], nodes.decision[count] = worst, decision
            decide(count, nodes, rows)
            copy_first(nodes.first[worst], relaxation.first, ROWS)
            nodes.bound[count], _ = solve_relaxation(problem, state, workspace, relaxation, floor, bound, SETTLED)
            nodes.is_open[count] = True
            keep_optimum(count, nodes, relaxation)
            learn(count, nodes, experience, floor, relaxation)
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
        relaxation.level[0] = UNLISTED
        nodes.bound[0], _ = solve_relaxation(problem, state, workspace, relaxation, floor, nodes.bound[0], SETTLED)
    return reached


@part("Tuple((float64, float64, int64))")
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
    relaxation = create_relaxation(problem.max_hops, _keep_multipliers(merged, state))
    least, slope = solve_relaxation(problem, state, workspace, relaxation, floor, bounds[1], SETTLED)
    if is_thorough and least > floor * (1.0 + ENOUGH):
        nodes = create_nodes()
        nodes.bound[0] = least
        reached = _close_edges(problem, state, workspace, relaxation, nodes, floor, reached)
        keep_optimum(0, nodes, relaxation)
        least = _branch(problem, state, workspace, relaxation, nodes, floor)
    clear_multipliers(merged, state)
    clear_row_multipliers(relaxation, state)
    forget_open_edges(state)
    return (least, slope, reached) if least < bounds[1] else (np.inf, 0.0, reached)
