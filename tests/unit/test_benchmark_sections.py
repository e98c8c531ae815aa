"""Benchmarks of recorded data: they say where there is none, and their sums are right."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from benchmarks.asked import COLUMNS, Asked, ask, describe, list_figures, proven, routed
from benchmarks.recorded import BestKnown
from benchmarks.report import Figure, Report, Row, at_most
from benchmarks.runs import Run, append_run, compare, make_run, read_run
from benchmarks.sections import Setting
from benchmarks.sections.exact_out import RoundTrip
from routing_engine import Router, RouteRequest, Snapshot

RECORDED = ("golden", "best_known", "fynd", "exact_out", "requests", "trades", "beyond", "auction", "solver")


@pytest.fixture(scope="module")
def router() -> Router:
    return Router(Snapshot.sandbox())


@pytest.fixture(scope="module")
def answers(router: Router) -> list[Asked]:
    weth, usdc = router.snapshot.token("WETH@1"), router.snapshot.token("USDC@1")
    amounts = (10**18, 10**19, 2**256 - 1)
    return [ask(router, RouteRequest(token_in=weth, token_out=usdc, amount=amount)) for amount in amounts]


@pytest.mark.parametrize("section", RECORDED)
def test_a_section_without_recorded_data_says_so(section: str, tmp_path: Path) -> None:
    setting = Setting(full=False, shared_data=tmp_path, out=tmp_path, say=print)
    (entry,) = import_module(f"benchmarks.sections.{section}").run(setting)
    assert isinstance(entry, Row)
    assert entry.measured == f"none at {tmp_path}"
    assert entry.passed is None


def test_a_request_is_asked_once_with_both_clocks(answers: list[Asked]) -> None:
    assert len(routed(answers)) == 2
    assert all(each.wall_ms > 0 and each.cpu_ms >= 0 for each in answers)
    assert answers[-1].gap == float("inf")
    assert len(proven(answers)) == 2


def test_answers_are_summed_up_in_words_and_in_numbers(answers: list[Asked]) -> None:
    cells = describe("three", answers)
    assert len(cells) == len(COLUMNS)
    assert cells[:3] == ("three", "3", "66.7%")
    figures = {figure.what: figure for figure in list_figures("three", answers, "hash")}
    assert figures["three: asked"].value == 3
    assert figures["three: routed"].value == 2
    assert figures["three: wall time max"].value == max(each.wall_ms for each in answers)
    assert {figure.market for figure in figures.values()} == {"hash"}


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


def test_a_route_is_valued_at_the_gas_price_of_the_best_known() -> None:
    best = BestKnown(gross=1_000, net=900, gas=50)
    assert best.value(1_000, 50) == 900
    assert best.value(1_010, 55) == 900


def test_figures_are_kept_apart_from_what_is_printed() -> None:
    report = Report({})
    report.add("speed", Figure(what="best path", value=1.5, unit="ms"))
    assert report.sections == {}
    assert report.details["speed"][0].value == 1.5


def make(value: float, market: str = "a", what: str = "path") -> Run:
    report = Report({"mode": "quick"})
    report.add("speed", Figure(what=what, value=value, unit="ms", market=market))
    report.add("speed", at_most("median", 2.0, 3, "ms"))
    report.add("speed", Row(what="words", target="", measured="none"))
    return make_run(report)


def test_runs_are_appended_and_read_again(tmp_path: Path) -> None:
    file = tmp_path / "kept" / "runs.jsonl"
    for value in (1.0, float("inf"), 3.0):
        append_run(file, make(value))
    values = [read_run(f"{file}{place}").figures["speed", "path"].value for place in ("", "#1", "#-1", "#2")]
    assert values[:3] == [3.0, 1.0, 3.0]
    assert values[3] != values[3]
    assert set(read_run(str(file)).figures) == {("speed", "path"), ("speed", "median")}
    assert {"mode", "commit", "processor"} <= set(read_run(str(file)).facts)
    with pytest.raises(SystemExit, match="has 3 runs"):
        read_run(f"{file}#4")


def test_runs_are_compared() -> None:
    _, changed, *rest = compare(make(1.0), make(1.5))
    assert changed.rows == (("speed: path", "1", "1.5", "+50.0%", "ms"),)
    assert rest == []
    assert next(iter(compare(make(1.0), make(1.005))))
    assert list(compare(make(1.0), make(1.005)))[1].rows == ()
    assert "another market" in list(compare(make(1.0), make(2.0, "b")))[1].rows[0][3]
    assert list(compare(make(1.0), make(float("nan"))))[1].rows[0][2] == "nan"
    titles = [table.title for table in compare(make(1.0), make(1.0, what="other"))]
    assert titles[2:] == ["Only before", "Only after"]
