"""Compile all kernels into their cache, at installation or at the start of a process.

Run it by ``routing-engine warm``, or where that is not installed by ``python -m routing_engine.warm_up``.
"""

from __future__ import annotations

import sys
import time
from multiprocessing import get_context

import numpy as np

from routing_engine.batch.rehearsal import build_tiny_market, rehearse
from routing_engine.graph.graph import Graph
from routing_engine.jit.compilation import report_progress
from routing_engine.kernels.arrays import SplitProblem
from routing_engine.kernels.bound.dual_bound import certify
from routing_engine.kernels.bound.flow_limits import clear_limits, fill_limits
from routing_engine.kernels.search.labels import LABELS
from routing_engine.kernels.split.column_pricing import Columns, Threshold
from routing_engine.kernels.split.flow_network import MAX_EDGES, MergedPaths, create_network
from routing_engine.kernels.split.newton_allocation import FINE
from routing_engine.kernels.split.pruning import optimise, prune, reallocate
from routing_engine.kernels.split.try_columns import rank_columns
from routing_engine.request import MAX_HOPS, RouteRequest
from routing_engine.router import Router
from routing_engine.search.allocation import Allocation
from routing_engine.search.path_search import Search

SHOWN_S = 2.0
"""Kernels that take less time are not shown."""


def warm_up() -> None:
    """Run every kernel once, so that no request ever waits for a compiler; from the cache it takes a second or less."""
    rehearse(Router)


def main() -> None:
    """Warm up on two cores, and show on stderr what is compiled and how long it took."""
    started = time.perf_counter()
    report_progress(_show)
    # Searches and allocations do not call each other, so either's kernels can be compiled without the other's. What
    # calls both comes last, and finds them in the cache.
    searches = get_context("spawn").Process(target=_compile_searches)
    searches.start()
    _compile_allocations()
    searches.join()
    warm_up()
    print(f"routing kernels are ready ({time.perf_counter() - started:.1f} s)", file=sys.stderr)


def _show(kernel: str, seconds: float) -> None:
    if seconds >= SHOWN_S:
        print(f"compiled {kernel} ({seconds:.1f} s)", file=sys.stderr, flush=True)


def _compile_searches() -> None:
    """Compile the search for paths, for columns, and the certificate, in a process of its own."""
    report_progress(_show)
    graph = Router(build_tiny_market()).graph
    first, second = graph.tokens[:2]
    search, problem = Search(graph), _pose_problem(graph)
    request = RouteRequest(token_in=first, token_out=second, amount=10**7)
    search.find_candidates(request, problem.gas, graph.every_market, MAX_HOPS)
    state, workspace = search.get_memory()
    reached = fill_limits(problem, state, workspace.scratch.is_adjacent, False)
    columns = Columns(np.full((MAX_HOPS * LABELS, MAX_HOPS), -1, np.int32), np.zeros(MAX_HOPS * LABELS))
    rank_columns(problem, state, Threshold(0.0, 0.0), workspace.scratch, columns)
    nothing = MergedPaths(problem.graph, create_network(1, MAX_HOPS), 0, 0)
    certify(problem, state, workspace, nothing, 0.0)
    clear_limits(state, reached)


def _compile_allocations() -> None:
    """Compile the allocation of an amount to given paths."""
    graph = Router(build_tiny_market()).graph
    problem, parts = _pose_problem(graph), [([edge], 5e6) for edge in np.flatnonzero(graph.source == 0).tolist()]
    paths = Allocation.from_parts(parts, 2, MAX_HOPS).paths
    reallocate(paths, 2, problem.amount, problem.graph, np.zeros(MAX_EDGES, np.int64), np.zeros(MAX_EDGES))
    network = create_network(2, MAX_HOPS)
    net, count, total = optimise(paths, 2, problem, network, FINE)
    prune(paths, count, net, total, problem, network)


def _pose_problem(graph: Graph) -> SplitProblem:
    return SplitProblem(
        graph=graph.arrays, allowed=graph.every_market, wraps=graph.wraps, gas=np.zeros(1), units=graph.units, start=0,
        end=1, max_hops=MAX_HOPS, amount=1e7, least_price=0.0,
    )  # fmt: skip


if __name__ == "__main__":
    main()
