"""Bounds by prices of tokens are attacked: nothing gets past them, and of many paths they leave little open."""

from __future__ import annotations

import pytest

from routing_engine import Router, RouteRequest, Snapshot
from routing_engine.kernels.arrays import SplitProblem
from routing_engine.kernels.bound.all_flows.least_flow_bound import find_least_flow_bound
from routing_engine.sandbox import gas_prices, sandbox_markets
from routing_engine.search.splits import flow_bounds
from tests.differential.test_attacks import ATTACKS
from tests.differential.test_certificate import PATIENT_MS
from tests.support.certificate_attacks import attack

RUNS, UNIT = 4, 10**18


@pytest.fixture
def always_asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[float, float]]:
    """Have such a bound found for every allocation; what was proven before and by it is listed."""
    asked: list[tuple[float, float]] = []

    def bound_flows(_: object, problem: SplitProblem, net: float) -> flow_bounds.FlowBound:
        bound, slope = find_least_flow_bound(problem, net)
        asked.append((net, bound))
        return flow_bounds.FlowBound(bound, slope, problem)

    monkeypatch.setattr(flow_bounds, "FEW", 0)
    monkeypatch.setattr(flow_bounds, "OPEN", -0.5)
    monkeypatch.setattr(flow_bounds, "LITTLE_GAS", float("inf"))
    monkeypatch.setattr(flow_bounds, "bound_flows", bound_flows)
    return asked


@pytest.mark.parametrize("run", range(RUNS))
def test_no_bound_of_all_flows_is_broken(run: int, always_asked: list[tuple[float, float]]) -> None:
    tried = [each for seed in range(run, ATTACKS // 10, RUNS) for each in attack(seed)]
    assert not [each.broken for each in tried if each.broken]
    assert len(tried) > 1.2 * (ATTACKS // 10) / RUNS
    close = [net for net, bound in always_asked if net > 0.999 * bound]
    assert len(close) > 0.4 * (ATTACKS // 10) / RUNS  # it says something, too


def test_of_many_paths_little_stays_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """An amount that a hundred paths share, by prices of tokens and without."""
    snapshot = Snapshot(sandbox_markets(), gas_prices=gas_prices())
    request = RouteRequest(
        token_in=snapshot.token("WETH@1"), token_out=snapshot.token("USDC@1"), amount=5_000 * UNIT,
        time_budget_ms=PATIENT_MS,
    )  # fmt: skip
    gaps = []
    for few in (flow_bounds.FEW, 1_000):
        monkeypatch.setattr(flow_bounds, "FEW", few)
        certificate = Router(snapshot).find_routes(request).certificate
        assert certificate
        assert certificate.gap_bps is not None
        gaps.append(certificate.gap_bps)
    assert gaps[0] < 2.0
    assert gaps[1] > 20.0
