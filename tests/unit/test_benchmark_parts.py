"""Benchmarks of recorded data: they say where there is none, and their sums are right."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.parts import Setting, exact_out
from benchmarks.parts.asked import Asked, ask
from benchmarks.parts.exact_out import RoundTrip
from benchmarks.parts.report import Row
from routing_engine import Router, RouteRequest, Snapshot


@pytest.fixture(scope="module")
def router() -> Router:
    return Router(Snapshot.sandbox())


@pytest.fixture(scope="module")
def answers(router: Router) -> list[Asked]:
    weth, usdc = router.snapshot.token("WETH@1"), router.snapshot.token("USDC@1")
    amounts = (10**18, 10**19, 2**256 - 1)
    return [ask(router, RouteRequest(token_in=weth, token_out=usdc, amount=amount)) for amount in amounts]


def test_a_section_without_recorded_data_says_so(tmp_path: Path) -> None:
    (entry,) = exact_out.run(Setting(full=False, shared_data=tmp_path, say=print))
    assert isinstance(entry, Row)
    assert entry.measured == f"none at {tmp_path}"
    assert entry.passed is None


def test_what_was_bought_back_is_compared_with_what_was_sold(router: Router, answers: list[Asked]) -> None:
    there = answers[0]
    sold = there.result.best()
    request = RouteRequest(
        token_in=sold.token_in, token_out=sold.token_out, amount=sold.amount_out, side="exact_out"
    )  # fmt: skip
    found = RoundTrip("one", there, ask(router, request))
    assert found.input_above <= 0.1
    twice = RouteRequest(token_in=sold.token_in, token_out=sold.token_out, amount=2 * sold.amount_out, side="exact_out")
    assert RoundTrip("twice", there, ask(router, twice)).input_above > 9_999
    assert RoundTrip("none", there, answers[-1]).above == float("inf")
