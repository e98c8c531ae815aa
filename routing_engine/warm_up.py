"""Compile all kernels into their cache, at installation or at the start of a process.

Run it by ``routing-engine warm``, or where that is not installed by ``python -m routing_engine.warm_up``.
"""

from __future__ import annotations

import sys
import time
from multiprocessing import get_context
from typing import Any

import numpy as np

from routing_engine.batch.rehearsal import build_tiny_market, rehearse
from routing_engine.graph.graph import Graph
from routing_engine.jit.ahead import begin_to_compile, compile_for, is_all_compiled, note_that_all_is_compiled
from routing_engine.jit.compilation import report_progress
from routing_engine.kernels.arrays import SplitProblem
from routing_engine.kernels.bound.flow_limits import clear_limits, fill_limits
from routing_engine.kernels.search.labels import LABELS
from routing_engine.kernels.split.column_generation import generate_columns, judge
from routing_engine.kernels.split.column_pricing import Columns
from routing_engine.kernels.split.flow_network import MAX_EDGES, MergedPaths, Paths, create_network
from routing_engine.kernels.split.pruning import optimise, reallocate
from routing_engine.kernels.split.try_columns import append_open_paths, find_columns, try_columns
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
    begin_to_compile()
    report_progress(_show)
    if not is_all_compiled():
        _compile_on_two_cores()
    warm_up()
    note_that_all_is_compiled()
    print(f"routing kernels are ready ({time.perf_counter() - started:.1f} s)", file=sys.stderr)


def _compile_on_two_cores() -> None:
    # Most of the time goes into `generate_columns`. The other process compiles the part of it that judges an
    # allocation; meanwhile this one compiles the rest, and then all of it together.
    context = get_context("spawn")
    is_judge_ready = context.Event()
    helper = context.Process(target=_compile_judge_and_small_kernels, args=(is_judge_ready,))
    helper.start()
    _compile_division(helper, is_judge_ready)
    helper.join()


def _show(kernel: str, seconds: float) -> None:
    if seconds >= SHOWN_S:
        print(f"compiled {kernel} ({seconds:.1f} s)", file=sys.stderr, flush=True)


def _compile_judge_and_small_kernels(is_judge_ready: Any) -> None:
    """Compile what judges an allocation, tell so, and compile what else Python calls."""
    report_progress(_show)
    graph = Router(build_tiny_market()).graph
    search, problem = Search(graph), _pose_problem(graph)
    state, workspace = search.get_memory()
    merged = MergedPaths(problem.graph, create_network(1, MAX_HOPS, problem.work), 0, 0)
    compile_for(judge, problem, state, workspace, merged, 0.0, 0, False)
    is_judge_ready.set()
    first, second = graph.tokens[:2]
    request = RouteRequest(token_in=first, token_out=second, amount=10**7)
    search.find_candidates(request, problem.gas, graph.every_market, MAX_HOPS, problem.work)
    paths = _begin_paths(graph)
    compile_for(fill_limits, problem, state, workspace.scratch.is_adjacent, False)
    compile_for(clear_limits, state, 0)
    edges, flows = np.zeros(MAX_EDGES, np.int64), np.zeros(MAX_EDGES)
    compile_for(reallocate, paths, 1, 1.0, problem.graph, problem.work, edges, flows)
    compile_for(append_open_paths, paths, 1, problem, state, workspace.scratch)


def _compile_division(helper: Any, is_judge_ready: Any) -> None:
    """Compile the division of an amount, the judge last: once it is ready, or its process has ended without it."""
    graph = Router(build_tiny_market()).graph
    problem, (state, workspace) = _pose_problem(graph), Search(graph).get_memory()
    paths, network = _begin_paths(graph), create_network(1, MAX_HOPS, problem.work)
    merged = MergedPaths(problem.graph, network, 0, 0)
    columns = Columns(np.full((MAX_HOPS * LABELS, MAX_HOPS), -1, np.int32), np.zeros(MAX_HOPS * LABELS))
    compile_for(optimise, paths, 1, problem, network, 0.0)
    compile_for(try_columns, paths, 1, 0.0, columns, 1, 0.0, problem, network)
    compile_for(find_columns, merged, 0.0, 0.0, problem, state, workspace.scratch, columns)
    while helper.is_alive() and not is_judge_ready.wait(0.1):
        pass
    compile_for(generate_columns, paths, 1, problem, state, workspace, 1)


def _begin_paths(graph: Graph) -> Paths:
    parts = [([edge], 5e6) for edge in np.flatnonzero(graph.source == 0).tolist()]
    return Allocation.from_parts(parts, 2, MAX_HOPS).paths


def _pose_problem(graph: Graph) -> SplitProblem:
    return SplitProblem(
        graph=graph.arrays, allowed=graph.every_market, wraps=graph.wraps, gas=np.zeros(1), units=graph.units, start=0,
        end=1, max_hops=MAX_HOPS, amount=1e7, least_price=0.0, work=np.zeros(1, np.int64),
    )  # fmt: skip


if __name__ == "__main__":
    main()
