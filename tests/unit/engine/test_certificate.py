"""Bounds in whole units, with room for the errors of floats."""

from __future__ import annotations

from math import inf

import pytest

from routing_engine import Certificate, Router, RouteRequest, Snapshot
from routing_engine.certificate import Bounds
from routing_engine.search.allocations.input_bounds import bound_inputs


def of_output(net: float, bound: float) -> float | None:
    return Certificate.of_output(net, Bounds(bound, inf), 4, gas_aware=True).gap_bps


def of_input(gross: float, bound: float) -> float | None:
    return Certificate.of_input(gross, Bounds(bound, 0.0), 4, gas_aware=True).gap_bps


def test_part_of_a_unit_is_nothing_to_gain() -> None:
    assert of_output(1_000, 1_000.9) == 0
    assert of_input(1_000, 999.1) == 0


def test_a_unit_that_a_float_may_have_missed_still_counts() -> None:
    assert of_output(999, 1_000 - 1e-7) == pytest.approx(10, rel=1e-6)
    assert of_input(1_001, 1_000 + 1e-7) == pytest.approx(1e4 / 1_001, rel=1e-6)


def test_large_amounts_are_not_rounded() -> None:
    assert of_output(1e24, 1e24) == 0
    assert of_output(1e24, 1e24 * (1 + 1e-8)) == pytest.approx(1e-4, rel=1e-3)


def test_a_gap_is_a_part_of_the_larger_amount_on_both_sides() -> None:
    assert of_output(1e24, 4e24) == pytest.approx(7_500)
    assert of_input(4e24, 1e24) == pytest.approx(7_500)
    assert of_input(1e24, 1e-9) == pytest.approx(10_000)


def test_a_bound_that_the_answer_has_passed_is_not_believed() -> None:
    for found in (
        Certificate.of_output(1.001e24, Bounds(1e24, inf), 4, gas_aware=True),
        Certificate.of_input(1e24, Bounds(1.001e24, 0.0), 4, gas_aware=True),
    ):
        assert found.gap_bps is None
        assert "the bound is worse than the answer" in found.reason
    assert of_output(1e24 * (1 + 1e-8), 1e24) == 0


def judged(gap_bps: float, scope: str = "routes_up_to_4_hops", *, gas_aware: bool = True) -> str:
    return Certificate(gap_bps=gap_bps, scope=scope, gas_aware=gas_aware).explain()


def test_a_gap_is_explained_with_its_number_and_its_scope() -> None:
    text = judged(14.2)
    assert "No other route is better by more than 14.20 bps: 14.20 of 10,000 of the larger net amount." in text
    assert "Compared are all routes up to 4 hops" in text
    assert "The gas of every market counts." in text
    assert "Not covered are longer paths, other markets" in text


def test_a_gap_of_next_to_nothing_is_not_shown_as_zero() -> None:
    assert "No other route is better by 0.01 bps or more" in judged(0.004)
    assert "need not exist" not in judged(0.0)
    assert Certificate(gap_bps=0.004, scope="all_flows", gas_aware=True).shown_gap == "<0.01 bps"


def test_a_proof_over_all_flows_leaves_no_longer_paths_out() -> None:
    text = judged(1.0, "all_flows", gas_aware=False)
    assert "Compared are all flows" in text
    assert "longer paths" not in text
    assert "Gas does not count." in text


def test_a_gap_that_is_missing_is_explained_by_its_reason() -> None:
    text = Certificate.missing("the gas is worth more than the output", 4).explain()
    assert text.startswith("No gap is proven: the gas is worth more than the output.")
    assert "bps" not in text


def test_the_closer_bound_is_claimed_with_its_scope() -> None:
    flows_closer = Certificate.of_output(1e24, Bounds(1.0002e24, 1.0001e24), 4, gas_aware=True)
    assert flows_closer.scope == "all_flows"
    assert flows_closer.gap_bps == flows_closer.all_flows_gap_bps == pytest.approx(1, rel=1e-3)
    hops_closer = Certificate.of_input(1.0002e24, Bounds(1.0001e24, 1e24), 4, gas_aware=True)
    assert hops_closer.scope == "routes_up_to_4_hops"
    assert hops_closer.gap_bps == pytest.approx(1, rel=1e-3)
    assert hops_closer.all_flows_gap_bps == pytest.approx(2, rel=1e-3)
    assert "longer paths (against these it is 2.00 bps at most)" in hops_closer.explain()
    assert Certificate.of_output(1e24, Bounds(1.0002e24, inf), 4, gas_aware=True).all_flows_gap_bps is None


def test_where_a_unit_of_input_is_worth_next_to_nothing_floats_prove_nothing_about_it() -> None:
    """At a flat end of curves an error of a part in 10^12 of the output is a tenth of the input."""
    wanted, rate = 1e24, 1e-5
    least = bound_inputs(wanted, 1e18, 0.0, rate, Bounds(wanted * (1 + 1e-12), inf))
    assert least.of_hops == 0
    steep = bound_inputs(wanted, 1e18, 0.0, 1e6, Bounds(wanted * (1 + 1e-12), inf))
    assert steep.of_hops == pytest.approx(1e18, rel=2e-9)


def test_a_purchase_of_next_to_nothing_is_proven_by_the_gas_of_any_route() -> None:
    """Of 4 units of USDC and gas for a dollar, 7,280 bps were open: a bound of the input proves nothing there."""
    snapshot = Snapshot.sandbox()
    ends = {"token_in": snapshot.token("USDC@1"), "token_out": snapshot.token("AAVE@1")}
    result = Router(snapshot).find_routes(RouteRequest(**ends, amount=10**10, side="exact_out"))
    assert result.best().amount_in_gross > 10**5 * result.best().amount_in
    assert result.certificate is not None
    assert result.certificate.gap_bps is not None
    assert result.certificate.gap_bps < 1.0
