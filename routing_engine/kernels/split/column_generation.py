"""Splits: which paths to use, and how much to send down each, gas counted.

Column generation: allocate the amount to the present paths until marginal prices are equal, price the whole market with
these marginal prices, add the paths that are worth more than they cost, drop those that no longer earn their gas, and
go on while the net output grows.
"""

from __future__ import annotations

import numpy as np

from routing_engine.jit.decorators import allocating, inner, kernel
from routing_engine.kernels.bound.all_flows.flow_bound import bound_all_flows
from routing_engine.kernels.bound.branching import refine_bound
from routing_engine.kernels.bound.dual_bound import CLOSE, certify
from routing_engine.kernels.bound.exclusion import exclude_edges
from routing_engine.kernels.bound.flow_limits import MANY_WAYS, clear_limits, fill_limits
from routing_engine.kernels.bound.open_edges import forget_open_edges
from routing_engine.kernels.marginal_price import value_base_gas
from routing_engine.kernels.search.labels import LABELS
from routing_engine.kernels.split.column_pricing import Columns
from routing_engine.kernels.split.dead_ends import is_dead_end, mark_paths, note_dead_end
from routing_engine.kernels.split.exchanges import exchange_paths
from routing_engine.kernels.split.flow_network import MAX_EDGES, MergedPaths, create_network
from routing_engine.kernels.split.newton_allocation import FINE, ROUGH
from routing_engine.kernels.split.pruning import optimise
from routing_engine.kernels.split.try_columns import find_columns, try_columns
from routing_engine.kernels.work import GENERATION, is_spent, spend

MIN_GAINS = (1e-5, 1e-7, 1e-9)
"""Parts of the net output that another market must bring where gas is free: first those that bring most, then the
rest. Where gas counts, the gas is what it must bring."""

NEARLY_FREE = 1e-7
"""Part of the net output below which a market's gas does not count."""

OPEN, OPEN_OF_FEW, FEW = 1e-4, 1e-6, 4
"""Relative gaps from which on edges are left out of a bound, and of that of few paths: of many, to refine a small gap
takes less time."""

LITTLE_GAS, MAX_TOKENS = 5e-5, 2000
"""Part of the net output that a market's gas may be, and tokens of a market, for a bound over all flows: it knows no
limits of flows, without which dear gas counts for little, and prices every token."""

FAILURES, FAILURES_IN_DOUBT, DOUBT = 8, 24, 0.01
"""Columns that may fail before the search ends, and where the bound is further off than such a part of the net output:
there, markets of next to nothing at wrong prices hide what is worth most."""

VERY_MANY = 100
"""Paths that are as many as a request may use."""

ENOUGH, ENOUGH_WITHOUT_GAS = 1e-6, 1e-7
"""Relative gaps to the certificate at which the search ends without trying again.

Where gas counts, the certificate is rarely tighter than that, and trying again rarely finds anything.
"""


@inner
def _find_new_edge(path, used, state):
    """Return the first edge of a path that is neither in use nor shut, or -1."""
    for e in path:
        if e >= 0 and not state.shut[e] and e not in used:
            return e
    return -1


@inner
def _may_fail_again(failures, net, bound):
    """Whether another column may be tried after so many that failed."""
    return failures < (FAILURES_IN_DOUBT if bound > net * (1.0 + DOUBT) else FAILURES)


@inner
def _shut(edges, count, state, is_shut):
    """Leave edges out of the search for columns, or no longer."""
    for i in range(count):
        state.shut[edges[i]] = is_shut


@inner
def _is_full(merged):
    """Whether no path can be added, or of very many hardly any, as the network has no place for its edges."""
    capacity, max_hops = merged.network.step.shape
    has_place = capacity <= VERY_MANY or merged.edge_count <= MAX_EDGES - max_hops
    return merged.path_count == capacity or not has_place


@inner
def _find_least_gas(merged, gas):
    """Return what the gas of the cheapest market in use is worth."""
    least = np.inf
    for i in range(merged.edge_count):
        least = min(least, value_base_gas(merged.graph.forward.edges[merged.network.edge[i]], gas))
    return least


@allocating
def _judge_against_all_flows(problem, state, workspace, merged, net):
    """Bound what any allocation nets over any number of markets; infinite where that is not worth a try."""
    tokens = problem.graph.forward.first.size - 1
    if tokens > MAX_TOKENS or _find_least_gas(merged, problem.gas) > LITTLE_GAS * net:
        return np.inf, 0.0
    return bound_all_flows(problem, state, workspace, merged, net)


@allocating
def _judge(problem, state, workspace, merged, net, reached, is_thorough):
    """Bound what any allocation nets; where that proves too little and gas counts, with a closer look.

    Returns
    -------
    bound, price : float, float
        As of `certify`.
    flow_bound : float
        Of what any allocation nets over any number of markets; infinite where it is not known.
    reached : int
        As of `fill_limits`.
    """
    flow_bound, flow_slope = np.inf, 0.0
    proven = net * (1.0 + (OPEN if merged.path_count > FEW else OPEN_OF_FEW))
    if problem.gas.any() and net > 0.0:
        flow_bound, flow_slope = _judge_against_all_flows(problem, state, workspace, merged, net)
        if flow_bound <= proven:
            return flow_bound, flow_slope, flow_bound, reached
    may_give_up = _is_full(merged) and not is_thorough  # then better routes may need more paths
    bound, slope = certify(problem, state, workspace, merged, net, may_give_up)
    if flow_bound < bound:
        bound, slope = flow_bound, flow_slope
    if bound <= net * (1.0 + CLOSE) or not problem.gas.any() or net <= 0.0:
        return bound, slope, flow_bound, reached
    is_open = bound > proven
    if is_open:
        forget_open_edges(state)
        most, reached = exclude_edges(problem, state, workspace, merged, reached, net)
        bound = max(net, min(bound, most))
    closer, its_slope, reached = refine_bound(
        problem, state, workspace, merged, (net, bound), reached, is_thorough and is_open and not is_spent(problem.work)
    )
    if closer < bound:
        bound, slope = closer, its_slope
    return bound, slope, flow_bound, reached


@kernel
def generate_columns(paths, count, problem, state, workspace, rounds, is_judged, ends):
    """Improve an allocation by further paths, beginning with the `count` paths given, and judge it.

    Parameters
    ----------
    paths : Paths
        With capacity for all that may be used; changed in place.
    problem : SplitProblem
        Where its `work` is spent, no more columns are tried; the bound is computed all the same.
    rounds : int
        How often columns may be tried; 0 judges the paths as they are, and thoroughly; less than 0 does so briefly.
    is_judged : bool
        Whether a bound is wanted. Without it, the search does not end where the allocation is proven to be optimal.
    ends : int64 array
        Paths of the same problem beside which no other was found: see `dead_ends`. This search's are added.

    Returns
    -------
    net : float
        Net output; -inf if the first paths are not feasible.
    count : int
        Paths in use.
    bound : float
        What no allocation of the amount over routes of at most `problem.max_hops` hops exceeds; infinite if unwanted.
    slope : float
        What less of the amount takes off the bound, for each unit.
    flow_bound : float
        What no allocation exceeds over any number of hops; infinite where that is not known.
    """
    reached = fill_limits(problem, state, workspace.scratch.is_adjacent, MANY_WAYS)
    found = _generate_within_limits(paths, count, problem, state, workspace, (rounds, is_judged, ends), reached)
    clear_limits(problem, state, reached)
    return found


@allocating
def _generate_within_limits(paths, count, problem, state, workspace, asked, reached):
    """Do what `generate_columns` does, with `inflow` filled for the amount: `reached` tokens."""
    rounds, is_judged, ends = asked
    network, graph = create_network(paths.rows.shape[0], problem.max_hops, problem.work), problem.graph
    spend(problem.work, GENERATION)
    most = problem.max_hops * LABELS
    columns = Columns(np.empty((most, problem.max_hops), np.int32), np.zeros(most), np.zeros(problem.max_hops + 1))
    shut, failures, bound = np.zeros(FAILURES_IN_DOUBT, np.int64), 0, np.inf
    enough = ENOUGH if problem.gas.any() else ENOUGH_WITHOUT_GAS
    net, count, total = optimise(paths, count, problem, network, ROUGH)
    if net == -np.inf:
        return net, count, bound, 0.0, np.inf
    merged = MergedPaths(graph, network, count, total)
    stage = 0 if _find_least_gas(merged, problem.gas) < NEARLY_FREE * net else len(MIN_GAINS) - 1
    slope, flow_bound, is_thorough = 0.0, np.inf, rounds == 0
    for _ in range(rounds):
        if _is_full(merged) or is_spent(problem.work):
            break
        used = network.edge[:total].copy()
        size, level = find_columns(merged, net, MIN_GAINS[stage], problem, state, workspace.scratch, columns)
        before = net
        if size > 0:
            net, count = try_columns(paths, count, net, columns, size, level, problem, network)
            if net == before and failures == 0:
                net, count = exchange_paths(paths, count, net, columns, size, level, problem, network)
            _, count, total = optimise(paths, count, problem, network, ROUGH)
            merged = MergedPaths(graph, network, count, total)
        if net > before:
            bound = np.inf
            continue
        if stage + 1 < len(MIN_GAINS):
            stage += 1
            continue
        mark = mark_paths(paths.rows, count)
        if size == 0 and failures > 0:
            note_dead_end(mark, ends)
        if size == 0 or is_dead_end(mark, ends):
            break
        if bound == np.inf and is_judged:
            _shut(shut, failures, state, False)  # else the bound would know nothing of what may flow there
            bound, slope, flow_bound, reached = _judge(problem, state, workspace, merged, net, reached, is_thorough)
            _shut(shut, failures, state, True)
        fresh = _find_new_edge(columns.found[0], used, state)
        if bound <= net * (1.0 + enough) or fresh < 0 or not _may_fail_again(failures, net, bound):
            note_dead_end(mark, ends)
            break
        state.shut[fresh] = True
        shut[failures] = fresh
        failures += 1
    _shut(shut, failures, state, False)
    if rounds > 0 or count > 1:  # one path takes all, however fine the allocation is
        net, count, total = optimise(paths, count, problem, network, FINE)
        merged = MergedPaths(graph, network, count, total)
    if is_judged and (bound == np.inf or not problem.gas.any()):
        bound, slope, flow_bound, reached = _judge(problem, state, workspace, merged, net, reached, is_thorough)
    return net, count, bound, slope, flow_bound
