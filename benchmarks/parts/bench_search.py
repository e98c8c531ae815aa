"""Single calls through the Python API, to compare versions by; `routing-engine bench` is where the peers are."""

from __future__ import annotations

from dataclasses import replace
from itertools import cycle

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from routing_engine import Router, RouteRequest, Snapshot
from routing_engine.graph.graph import Graph
from routing_engine.request import MAX_SPLITS


@pytest.mark.benchmark(group="best path, 5,000 tokens / 20,000 pools")
@pytest.mark.parametrize("max_hops", [2, 3, 4])
def test_router(benchmark: BenchmarkFixture, router: Router, requests: list[RouteRequest], max_hops: int) -> None:
    queue = cycle([replace(request, max_hops=max_hops) for request in requests])
    benchmark(lambda: router.find_routes(next(queue)))


@pytest.mark.benchmark(group="best path, 5,000 tokens / 20,000 pools")
def test_router_exact_out(benchmark: BenchmarkFixture, router: Router, requests: list[RouteRequest]) -> None:
    queue = cycle([replace(request, side="exact_out") for request in requests])
    benchmark(lambda: router.find_routes(next(queue)))


@pytest.mark.benchmark(group="divided route, 5,000 tokens / 20,000 pools")
@pytest.mark.parametrize("max_hops", [3, 4])
def test_divided(benchmark: BenchmarkFixture, router: Router, requests: list[RouteRequest], max_hops: int) -> None:
    queue = cycle([replace(request, max_hops=max_hops, max_splits=MAX_SPLITS) for request in requests])
    benchmark(lambda: router.find_routes(next(queue)))


@pytest.mark.benchmark(group="snapshots")
def test_compile_a_graph(benchmark: BenchmarkFixture, snapshot: Snapshot) -> None:
    benchmark.pedantic(Graph.compile, (snapshot.markets.values(),), rounds=3)


@pytest.mark.benchmark(group="snapshots")
def test_apply_a_thousand_changes(benchmark: BenchmarkFixture, snapshot: Snapshot) -> None:
    changes = [replace(market, reserve0=market.reserve0 + 1) for market in list(snapshot.markets.values())[:1000]]
    benchmark.pedantic(snapshot.apply, (changes,), rounds=5)
