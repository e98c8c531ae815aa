"""Solvers run in processes of their own: whatever they do, the run goes on and says what it was."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import jsonschema_rs
import pytest

from benchmarks.harness.outcome import Outcome
from benchmarks.harness.session import Round, run_suite
from benchmarks.harness.solver import UnknownSolver, check_name, make_solver
from benchmarks.harness.suite import Arena, Case, Group, thin
from benchmarks.peers.this_router import ThisRouter
from benchmarks.reports.document import Run, append_run, make_run, read_run, read_runs
from tests.support.bench_solvers import HERE, LIMITS, OURS, STARTED, Faulty, make_arena, make_market

SCHEMA = Path(__file__).parents[3] / "benchmarks" / "reports" / "run.schema.json"
FAULTY, REFUSING = f"{HERE}:Faulty", f"{HERE}:refuse"


@pytest.fixture(scope="module")
def faulty() -> Round:
    """A solver that does all that is wrong, each once."""
    snapshot = make_market()
    case = make_arena(snapshot).groups[0].cases[-1]
    base = case.request.amount // 100 * 100
    cases = tuple(Case(request=replace(case.request, amount=base + n)) for n in range(len(Faulty.ACTS)))
    arena = Arena(name="faulty", source="generated", snapshot=snapshot, groups=(Group(name="faulty", cases=cases),))
    (played,) = run_suite([arena], [FAULTY, REFUSING, f"{HERE}:nothing"], replace(LIMITS, answer_s=5), print)
    return played


def test_every_fault_has_its_name_and_ends_nothing(faulty: Round) -> None:
    outcomes = faulty.parts[0].outcomes["faulty"]
    expected = ["bad_answer" if act == "not_json" else act for act in Faulty.ACTS]
    assert [outcome.status for outcome in outcomes] == expected
    details = {outcome.status: outcome.detail for outcome in outcomes}
    assert "KeyError: 'lost'" in details["error"]
    assert "ended with 3" in details["crashed"]
    assert "within 5 s" in details["timeout"]
    answered = outcomes[0]
    assert answered.claimed == 1
    assert answered.gross is not None
    assert answered.gross > 10**6


def test_who_takes_no_market_is_no_failure(faulty: Round) -> None:
    _, refusing, missing = faulty.parts
    assert refusing.unsupported == "not this one"
    assert refusing.outcomes == {}
    (outcome, *_) = missing.outcomes["faulty"]
    assert outcome.status == "error"
    assert "cannot be loaded" in outcome.detail


def test_outcomes_are_kept_and_read_again(faulty: Round) -> None:
    for outcome in faulty.parts[0].outcomes["faulty"]:
        assert Outcome.read(json.loads(json.dumps(outcome.document()))) == outcome


def test_both_clocks_start_and_memory_are_measured(runs: tuple[Run, Run]) -> None:
    figures = {(row["on"], row["name"]): row for row in runs[0]["figures"]}
    for name in ("wall, first call p50", "cpu, first call p95", "wall, warm p99", "cpu, warm p50"):
        assert figures["small trades", name]["value"] > 0
        assert figures["small trades", name]["unit"] == "ms"
    assert (
        figures["small trades", "wall, warm p50"]["value"] <= figures["small trades", "wall, first call p50"]["value"]
    )
    assert 0 < figures["small", "start"]["value"] < 120
    assert 20 < figures["small", "memory"]["value"] < 5_000
    assert figures["growth", "time, power of markets"]["unit"] == "power"
    assert figures["everything", "coverage"]["value"] == 100
    assert figures["everything", "gap p50"]["value"] < 1


def test_runs_are_of_the_documented_form(runs: tuple[Run, Run], faulty: Round, tmp_path: Path) -> None:
    validator = jsonschema_rs.validator_for(json.loads(SCHEMA.read_text()))
    for run in (*runs, make_run("faulty", [faulty], LIMITS, STARTED)):
        validator.validate(json.loads(json.dumps(run)))
    file = tmp_path / "deep" / "runs.jsonl"
    for run in runs:
        append_run(file, run)
    assert [read_run(f"{file}{place}")["solvers"] for place in ("", "#1", "#-1")] == [
        runs[1]["solvers"], runs[0]["solvers"], runs[1]["solvers"],
    ]  # fmt: skip
    assert len(read_runs(file)) == 2


def test_the_same_questions_have_the_same_hashes(runs: tuple[Run, Run]) -> None:
    for name in ("markets", "groups"):
        assert [each["hash"] for each in runs[0][name]] == [each["hash"] for each in runs[1][name]]
    assert len({each["hash"] for each in runs[0]["markets"] + runs[0]["groups"]}) == 4


def test_solvers_go_by_three_kinds_of_names() -> None:
    assert isinstance(make_solver(OURS), ThisRouter)
    for name in ("nobody", "benchmarks.peers.this_router:Nobody", "no.such.module:x", "benchmarks.measure:REPEATS"):
        with pytest.raises(UnknownSolver):
            make_solver(name)
    with pytest.raises(UnknownSolver, match="installed: "):
        check_name("nobody")
    check_name("http://127.0.0.1:1")


def test_a_group_is_thinned_evenly() -> None:
    arena = make_arena(make_market())
    thinned = thin(arena, 2).groups[0]
    assert thinned.cases == arena.groups[0].cases[::2]
    assert thinned.hash != arena.groups[0].hash
    assert thin(arena, 99).groups == arena.groups
