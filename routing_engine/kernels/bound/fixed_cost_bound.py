"""Certificates by fixed costs: a single path against all single paths, and against all that pay for a second one.

`dual_bound.certify` lets a market that is used a little pay a little of its gas, which no real route can. Two kinds of
routes are told apart here: those of one path send the whole amount through each of their markets, so each market pays
its gas out of the whole; those of several paths use, beside the markets of some path, at least one more market, and
pay at least that much gas, whatever else they do. What is larger bounds both.
"""

from __future__ import annotations

import numpy as np

from routing_engine.jit.decorators import allocating, inner, part
from routing_engine.kernels.arrays import SplitProblem
from routing_engine.kernels.bound.cutting_planes import refine_bound
from routing_engine.kernels.bound.dual_bound import CLOSE
from routing_engine.kernels.bound.dual_prices import PricingRule, clear_dual_prices, compute_dual_prices
from routing_engine.kernels.bound.flow_limits import clear_limits, fill_limits
from routing_engine.kernels.bound.single_path_search import find_best_single_path
from routing_engine.kernels.marginal_price import value_base_gas
from routing_engine.kernels.search.frontier import mark_adjacent

SINGLE_PATH = np.bool_(True)
"""Routes of one path are judged."""


@inner
def _relax_gas(problem, state, reached, least_gas):
    """Lower the least gas to each token by one more hop; return the least gas of a market that does not wrap."""
    forward, least = problem.graph.forward, np.inf
    for i in range(reached):
        u = state.inflow.reached[i]
        if u == problem.end:
            continue
        for e in range(forward.first[u], forward.first[u + 1]):
            edge = forward.edges[e]
            v = edge["other"]
            if state.closed[e] or not problem.allowed[edge["market"]] or state.inflow.most[problem.max_hops, v] <= 0.0:
                continue
            gas = value_base_gas(edge, problem.gas)
            least_gas[v] = min(least_gas[v], least_gas[u] + gas)
            if not problem.wraps[edge["market"]]:
                least = min(least, gas)
    return least


@allocating
def find_least_gas_of_two_paths(problem, state, reached):
    """Return what the gas of two paths together is at least worth: that of the cheapest, and of one market more.

    Two paths part at a token and meet again. Between, the only market that wraps is on one of them at most. So the
    other has a market that does not wrap, and that the first path does without.
    """
    least_gas = np.full(state.inflow.most.shape[1], np.inf)
    least_gas[problem.start] = 0.0
    least = np.inf
    for _ in range(problem.max_hops):
        least = _relax_gas(problem, state, reached, least_gas)
    return least_gas[problem.end] + least


@part
def bound_by_fixed_costs(problem, state, workspace, reached, merged, net):
    """Bound the net output of every allocation of at most the amount, knowing that one path gives `net`.

    Parameters
    ----------
    state : FlowState
        With `inflow` filled for the amount: `reached` tokens; cleared.
    merged : MergedPaths
        The path, as `allocate` leaves it.
    """
    scratch, duals = workspace.scratch, workspace.duals
    gas, several = find_least_gas_of_two_paths(problem, state, reached), np.inf
    for share in (0.75, 0.5, 0.25, 0.95):  # of the gas is counted, the rest is left to the markets
        counted = share * gas
        rest = SplitProblem(
            problem.graph, problem.allowed, problem.wraps, problem.gas * (1.0 - share), problem.units,
            problem.start, problem.end, problem.max_hops, problem.amount,
        )  # fmt: skip
        bound, _ = refine_bound(rest, state, workspace, merged, net + counted, several + counted)
        several = min(several, bound - counted)
        if several <= net * (1.0 + CLOSE):
            break
    clear_limits(state, reached)
    reached = fill_limits(problem, state, scratch.is_adjacent, SINGLE_PATH)
    mark_adjacent(problem.graph.forward, problem.start, scratch.is_adjacent, True)
    single = compute_dual_prices(problem, state, workspace, PricingRule(net, SINGLE_PATH)) * problem.amount
    if single > max(several, net * (1.0 + CLOSE)):
        single = min(single, find_best_single_path(problem, state, duals, net))
    clear_dual_prices(duals)
    mark_adjacent(problem.graph.forward, problem.start, scratch.is_adjacent, False)
    clear_limits(state, reached)
    return max(single, several)
