"""What is compiled before the first request: kernels that Python calls, and their large parts, with their arguments."""

from __future__ import annotations

from typing import Any

import numpy as np

from routing_engine.batch.rehearsal import build_tiny_market
from routing_engine.curves.kernels import cryptoswap, stableswap, stableswap_dynamic_fee
from routing_engine.curves.kernels.edge_curve import compute_amounts_in, compute_amounts_out
from routing_engine.curves.kernels.mobius_pieces import fit_pieces
from routing_engine.curves.kernels.shapes import shape_in, shape_out
from routing_engine.graph.graph import Graph
from routing_engine.kernels.arrays import FORWARD, PathProblem, SplitProblem, Weights
from routing_engine.kernels.bound.all_flows.flow_bound import bound_all_flows
from routing_engine.kernels.bound.all_flows.flow_paths import find_flow_paths
from routing_engine.kernels.bound.all_flows.least_flow_bound import find_least_flow_bound
from routing_engine.kernels.bound.branching import refine_bound
from routing_engine.kernels.bound.dual_bound import certify
from routing_engine.kernels.bound.dual_prices import compute_dual_prices
from routing_engine.kernels.bound.exclusion import exclude_edges
from routing_engine.kernels.bound.flow_limits import clear_limits, fill_limits
from routing_engine.kernels.bound.payable import bound_payable
from routing_engine.kernels.bound.settled_prices import settle_prices
from routing_engine.kernels.reference_prices import find_widest_prices
from routing_engine.kernels.search.best_paths import find_best_paths
from routing_engine.kernels.search.labels import LABELS
from routing_engine.kernels.split.column_generation import generate_columns
from routing_engine.kernels.split.column_pricing import Columns, Threshold
from routing_engine.kernels.split.flow_network import MAX_EDGES, MergedPaths, create_network
from routing_engine.kernels.split.newton_allocation import allocate
from routing_engine.kernels.split.pruning import reallocate
from routing_engine.kernels.split.try_columns import append_open_paths, rank_columns
from routing_engine.kernels.workspace import create_flow_state, create_workspace
from routing_engine.request import MAX_HOPS
from routing_engine.search.allocations.allocation import Allocation

Kernel = tuple[Any, tuple[Any, ...]]
"""A kernel, and arguments of the types that it is called with; their values do not matter."""


def list_kernels(*, with_formulas: bool = False) -> list[Kernel]:
    """List what is to be compiled: neighbours have much in common, and what takes long does not stand in the middle.

    The formulas of stable, weighted, Solidly and crypto pools come with it on demand: without one, nobody needs them.
    """
    market = build_tiny_market()
    graph = Graph.compile(market.markets.values(), market.gas_prices)
    formulas = list_formulas() if with_formulas else []
    return [*_list_bounds(graph), *_list_small_kernels(graph), *formulas, *_list_divisions(graph)]


def list_formulas() -> list[Kernel]:
    """List what computes the curves of pools that are given by a formula, and turns them into pieces."""
    params = np.zeros(1)
    once = (
        cryptoswap.removed_for, cryptoswap.added_for, cryptoswap.crypto_out, cryptoswap.crypto_in,
        stableswap.invariant_in, stableswap_dynamic_fee.stable_fee_in, stableswap_dynamic_fee.growing_limit,
        stableswap_dynamic_fee.output_growth,
    )  # fmt: skip
    twice = cryptoswap.imbalance, cryptoswap.kept_share, stableswap_dynamic_fee.kept_share
    return [
        *((kernel, (params, 0, 0.0)) for kernel in once),
        *((kernel, (params, 0, 0.0, 0.0)) for kernel in twice),
        (shape_in, (0, params, 0, 0.0)),
        (shape_out, (0, params, 0, 0.0)),
        (fit_pieces, (0, params, 0.0, 0.0, 0.0, 0.0)),
    ]


def _list_bounds(graph: Graph) -> list[Kernel]:
    problem = _pose_problem(graph)
    state, workspace = _create_memory(graph)
    network = create_network.py_func(1, MAX_HOPS, problem.work)
    judged = problem, state, workspace, MergedPaths(problem.graph, network, 0, 0)
    return [
        (refine_bound, (*judged, (0.0, 0.0), 0, False)),
        (exclude_edges, (*judged, 0, 0.0)),
        (bound_all_flows, (*judged, 0.0)),
        (compute_dual_prices, (problem, state, workspace, 0.0)),
        (certify, (*judged, 0.0, False)),
        (fill_limits, (problem, state, workspace.scratch.is_adjacent, False)),
        (clear_limits, (problem, state, 0)),
        (bound_payable, (problem, 0.0, 0.0)),
        (find_least_flow_bound, (problem, 0.0)),
        (find_flow_paths, (Allocation.from_parts([], 1, MAX_HOPS).paths, problem, 0.0)),
    ]


def _list_small_kernels(graph: Graph) -> list[Kernel]:
    edges, numbers = graph.forward.edges, np.zeros(1)
    return [
        (settle_prices, (graph.arrays, numbers, numbers)),
        (find_widest_prices, (graph.forward.first, graph.target, numbers, numbers, 0)),
        (compute_amounts_in, (edges, graph.pieces, numbers)),
        (compute_amounts_out, (edges, graph.pieces, numbers)),
    ]


def _list_divisions(graph: Graph) -> list[Kernel]:
    problem = _pose_problem(graph)
    state, workspace = _create_memory(graph)
    paths = Allocation.from_parts([([0], 1.0)], 2, MAX_HOPS).paths
    merged = MergedPaths(problem.graph, create_network.py_func(1, MAX_HOPS, problem.work), 0, 0)
    columns = Columns(np.zeros((1, MAX_HOPS), np.int32), np.zeros(1), np.zeros(MAX_HOPS + 1))
    weights = Weights(np.zeros(1), np.zeros(1), 0.0, 0.0, False)
    ways = PathProblem(
        graph.forward, graph.reverse, graph.pieces, graph.every_market, weights, 0, 1, 0.0, FORWARD, MAX_HOPS, False,
        problem.work,
    )  # fmt: skip
    edges, flows = np.zeros(MAX_EDGES, np.int64), np.zeros(MAX_EDGES)
    found = np.zeros((MAX_HOPS * LABELS, MAX_HOPS), np.int32), np.zeros((MAX_HOPS * LABELS, 2))
    return [
        (append_open_paths, (paths, 1, problem, state, workspace.scratch)),
        (reallocate, (paths, 1, 1.0, problem.graph, problem.work, edges, flows)),
        (rank_columns, (problem, state, Threshold(0.0, 0.0), workspace.scratch, columns)),
        (find_best_paths, (ways, workspace.scratch, *found)),
        (allocate, (1.0, paths.x, merged, 0.0)),
        (generate_columns, (paths, 1, problem, state, workspace, 1, True, np.zeros(1, np.int64))),
    ]


def _create_memory(graph: Graph) -> tuple[Any, Any]:
    tokens, markets, edges = len(graph.tokens), len(graph.markets), graph.source.size
    return create_flow_state(tokens, markets, edges, MAX_HOPS), create_workspace(tokens, MAX_HOPS)


def _pose_problem(graph: Graph) -> SplitProblem:
    return SplitProblem(
        graph=graph.arrays, allowed=graph.every_market, wraps=graph.wraps, gas=np.zeros(1), units=np.zeros(1), start=0,
        end=1, max_hops=MAX_HOPS, amount=1e7, least_price=0.0, work=np.zeros(1, np.int64),
    )  # fmt: skip
