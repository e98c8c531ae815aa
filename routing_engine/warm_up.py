"""Compile all kernels into their cache, at installation or at the start of a process.

Run it by ``python -m routing_engine.warm_up``.
"""

from __future__ import annotations

import sys
import time
from multiprocessing import get_context

import numpy as np

from routing_engine.batch.rehearsal import build_tiny_market, rehearse
from routing_engine.kernels.arrays import Task
from routing_engine.kernels.bound.dual_bound import certify
from routing_engine.kernels.bound.flow_limits import clear_most, fill_most
from routing_engine.kernels.search.labels import LABELS
from routing_engine.kernels.split.flow_network import MAX_EDGES, new_network
from routing_engine.kernels.split.newton_allocation import FINE
from routing_engine.kernels.split.pruning import optimise, prune, redivide
from routing_engine.kernels.split.try_columns import find_additions
from routing_engine.request import MAX_HOPS, RouteRequest
from routing_engine.router import Router
from routing_engine.search.path_search import Search


def warm_up() -> None:
    """Run every kernel once, so that no request ever waits for a compiler; from the cache it takes a second or less."""
    rehearse(Router)


def main() -> None:
    """Warm up on two cores, and say how long it took."""
    started = time.perf_counter()
    # Searches and divisions do not call each other, so either's kernels can be compiled without the other's; what calls
    # both comes last, and finds them in the cache.
    searches = get_context("spawn").Process(target=_compile_searches)
    searches.start()
    _compile_divisions()
    searches.join()
    warm_up()
    print(f"routing kernels are ready ({time.perf_counter() - started:.1f} s)", file=sys.stderr)


def _compile_searches() -> None:
    """Compile the search for paths, for additions, and the certificate."""
    graph = Router(build_tiny_market()).graph
    first, second = graph.tokens[:2]
    search, gas = Search(graph), np.zeros(1)
    search.candidates(RouteRequest(token_in=first, token_out=second, amount=10**7), gas, graph.every_market, MAX_HOPS)
    task = Task(allowed=graph.every_market, gas=gas, start=0, end=1, max_hops=MAX_HOPS)
    scratch, load, worths = search.workspace()
    reached = fill_most(graph.board, load, task, 1e7, scratch.near, False)
    found, price = np.full((MAX_HOPS * LABELS, MAX_HOPS), -1, np.int32), np.zeros(MAX_HOPS * LABELS)
    find_additions(graph.board, load, task, 0.0, 0.0, scratch, found, price)
    certify(graph.board, load, task, worths, scratch.near, 0, 0, new_network(1, MAX_HOPS), 1e7, 0.0)
    clear_most(load, reached)


def _compile_divisions() -> None:
    """Compile the division of an amount over given paths."""
    graph = Router(build_tiny_market()).graph
    task = Task(allowed=graph.every_market, gas=np.zeros(1), start=0, end=1, max_hops=MAX_HOPS)
    paths, x = np.full((2, MAX_HOPS), -1, np.int32), np.array([5e6, 5e6])
    paths[:, 0] = np.flatnonzero(graph.source == 0)
    redivide(paths, 2, 1e7, x, graph.board, np.zeros(MAX_EDGES, np.int64), np.zeros(MAX_EDGES))
    network = new_network(2, MAX_HOPS)
    net, count, total = optimise(paths, 2, 1e7, x, graph.board, task, network, FINE)
    prune(paths, count, 1e7, x, net, total, graph.board, task, network)


if __name__ == "__main__":
    main()
