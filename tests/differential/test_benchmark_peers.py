"""The peers that benchmarks compare with are worth comparing with: their answers are right, and really replayed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.harness.judge import Judge
from benchmarks.harness.replay import run_merged
from benchmarks.instances import CONSISTENT, LOOPS, constant_product_market, queries
from benchmarks.measure import gas_price, request_of
from benchmarks.parts.report import Report, Row, Table, at_least, at_most, share
from benchmarks.peers.convex import TOLERANCE, optimum
from benchmarks.peers.networkx_paths import NetworkxPaths
from benchmarks.peers.rustworkx_paths import RustworkxPaths
from routing_engine import Router, RouteRequest
from tests.support.emulations import CHUNKS, Emulations
from tests.support.exhaustive import exhaustive
from tests.support.peer_routes import Division, routes_of, run_in_turn

SIZES = (0.001, 0.1)


@pytest.fixture(scope="module", params=[CONSISTENT, LOOPS], ids=["prices agree", "loops"])
def router(request: pytest.FixtureRequest) -> Router:
    return Router(constant_product_market(tokens=12, pools=30, disagreement=request.param))


@pytest.fixture(scope="module")
def requests(router: Router) -> list[RouteRequest]:
    return [request_of(query, max_hops=3) for query in queries(router, 4, SIZES)]


def outputs(router: Router, request: RouteRequest, answer: Division) -> list[int]:
    return [route.amount_out for route in routes_of(router, request, answer)]


def test_one_chunk_takes_a_good_path_and_more_chunks_spend_everything(
    router: Router, requests: list[RouteRequest]
) -> None:
    emulations = Emulations(router)
    equal = 0
    for request in requests:
        every = exhaustive(router, request)
        (best,) = outputs(router, request, every)
        (one,) = outputs(router, request, emulations.chunked(request, 1))
        assert one <= best
        equal += one == best
        many = emulations.chunked(request)
        assert sum(amount for amount, _ in many.paths) == request.amount
        assert 1 <= len(many.paths) <= CHUNKS
        for route in routes_of(router, request, many):
            assert route.amount_in == request.amount
    assert equal >= len(requests) - 1


def test_disjoint_paths_are_divided_to_their_optimum(router: Router, requests: list[RouteRequest]) -> None:
    emulations = Emulations(router)
    divided = 0
    for request in requests:
        answer = emulations.disjoint(request)
        used = [market for _, path in answer.paths for market in path]
        assert len(set(used)) == len(used)
        (best,) = outputs(router, request, answer)
        if len(answer.paths) < 2:
            continue
        divided += 1
        (first, one), (second, other), *rest = answer.paths
        for shift in (first // 50, -(min(first, second) // 50)):
            moved = Division(paths=((first - shift, one), (second + shift, other), *rest))
            assert max(outputs(router, request, moved)) < best
    assert divided > 2


def test_merged_hops_use_each_market_once_and_give_more(router: Router) -> None:
    a, b = router.graph.tokens[:2]
    pool = next(market for market in router.graph.markets if set(market.tokens) == {a, b})
    amount = pool.limits(a, b).min_amount_in * 10**6 + 10**20
    apart = run_in_turn(router.snapshot.markets, a, ((amount, (pool.id,)), (amount, (pool.id,))))
    (merged,) = run_merged(router.snapshot.markets, a, apart) or ()
    assert merged.amount_in == 2 * amount
    assert merged.amount_out >= sum(hop.amount_out for hop in apart)


def test_bellman_ford_finds_the_best_rate_for_almost_nothing() -> None:
    router = Router(constant_product_market(tokens=12, pools=30))
    for query in queries(router, 5, (1e-9,)):
        request = request_of(query, max_hops=4)
        answers = []
        for search in (RustworkxPaths(), NetworkxPaths()):
            search.load(router.snapshot)
            answers.append(search.solve(request, {}))
        assert answers[0] == answers[1]
        assert answers[0] is not None
        found = Judge(router.snapshot).judge(request, answers[0])
        assert found is not None
        (best,) = outputs(router, request, exhaustive(router, request))
        assert found.gross >= best * (1 - 1e-6)


def test_layers_bound_no_more_than_all_flows(router: Router, requests: list[RouteRequest]) -> None:
    for request in requests:
        every, few = (optimum(router, request, layered=layered) for layered in (False, True))
        assert every.solved
        assert few.solved
        assert few.amount_out <= every.amount_out * (1 + 2 * TOLERANCE)
        assert router.find_routes(request).best().amount_out <= few.amount_out * (1 + TOLERANCE)


def test_gas_prices_make_a_pool_cost_a_basis_point() -> None:
    router = Router(constant_product_market(tokens=12, pools=30))
    for query in queries(router, 4, (0.01,)):
        request = request_of(query, max_splits=1, gas_prices={1: gas_price(router, query)})
        route = router.find_routes(request).best()
        assert route.gas_cost_out == pytest.approx(1e-4 * route.amount_out * len(route.hops), rel=0.01)


def test_reports_keep_targets_and_figures(tmp_path: Path) -> None:
    report = Report({"machine": "some"})
    report.add("speed", at_most("path", 3.0, 2, "ms"))
    report.add("speed", at_least("ratio", 3.0, 2, "×"))
    report.add("quality", share("all", [True, True, False], 1))
    report.add("quality", Row(what="noted", target="", measured="7"))
    report.add("quality", Table(title="details", columns=("case", "ms"), rows=(("one", "1"),)))
    assert (report.met, report.failed) == (1, 2)
    as_json, as_markdown = report.save(tmp_path, "targets")
    assert json.loads(as_json.read_text())["sections"]["quality"][0]["measured"] == "66.7% of 3"
    text = as_markdown.read_text()
    assert "| ✗ | path | ≤ 2 ms | 3 ms |" in text
    assert "| one | 1 |" in text
