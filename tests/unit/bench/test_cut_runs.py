"""A run that is killed keeps the markets that it has asked: they can be reported, and it goes on with the others."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import jsonschema_rs
import pytest

from benchmarks.harness.suite import Arena
from benchmarks.reports.document import Run, read_run
from benchmarks.reports.figures import Kind
from benchmarks.reports.kept import Plan, play
from benchmarks.suites.folder import list_arenas
from tests.support.bench_solvers import HERE, KILL, LIMITS, OURS, STARTED, make_arena, make_market

ROOT = Path(__file__).parents[3]
KILLER, REFUSING = f"{HERE}:Killer", f"{HERE}:refuse"
START = "from routing_engine.cli import main; main()"
MARKETS = ("first", "second", "third")


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with three small markets, and requests for each."""
    folder = tmp_path_factory.mktemp("cut") / "mine"
    folder.mkdir()
    for number, name in enumerate(MARKETS):
        snapshot = make_market(tokens=10 + number, pools=25 + number)
        snapshot.save(folder / f"{name}.json")
        asked = [case.document() for case in make_arena(snapshot).groups[0].cases]
        lines = [
            json.dumps({name: each[name] for name in ("token_in", "token_out", "amount", "side")}) for each in asked
        ]
        (folder / f"{name}.requests.jsonl").write_text("\n".join(lines))
    return folder


def run_bench(suite: Path, *options: object, kills: bool = False) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own."""
    flag = suite.parent / "kill"
    if kills:
        flag.touch()
    command = [sys.executable, "-c", START, "bench", *(str(option) for option in options)]
    environment = {**os.environ, KILL: str(flag), "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=suite.parent, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def cut(suite: Path) -> Path:
    """What is left of a run that was killed in its second market."""
    done = run_bench(suite, *ask(suite), kills=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert not (suite.parent / "runs.jsonl").exists()
    (left,) = suite.parent.glob("*.cut*")
    return left


def ask(suite: Path, solvers: tuple[str, ...] = (KILLER, REFUSING)) -> list[object]:
    """Return the command that is killed, and goes on."""
    named = [option for solver in solvers for option in ("--solver", solver)]
    return ["run", "--suite", suite, "--runs", suite.parent / "runs.jsonl", *named]


def test_what_was_asked_is_kept(suite: Path, cut: Path) -> None:
    run = read_run(str(cut))
    assert run["cut"] is True
    assert [each["name"] for each in run["markets"]] == ["first"]
    schema = json.loads((ROOT / "benchmarks" / "reports" / "run.schema.json").read_text())
    jsonschema_rs.validator_for(schema).validate(run)
    told = run_bench(suite, "report", cut)
    assert told.returncode == 0, told.stderr
    assert "the markets asked before it was cut" in told.stdout


def test_one_that_is_cut_again_while_it_reads_what_was_asked_loses_nothing(suite: Path, tmp_path: Path) -> None:
    arenas = list(list_arenas(suite, ()))
    plan = Plan(suite="mine", solvers=(REFUSING,), limits=LIMITS, runs=tmp_path / "runs.jsonl", started=STARTED)

    def stop_after(count: int) -> Iterator[Arena]:
        yield from arenas[:count]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        play(plan, stop_after(2), print)
    (kept,) = tmp_path.glob("*.cut")
    before = kept.read_bytes()
    with pytest.raises(KeyboardInterrupt):
        play(plan, stop_after(1), print, kept)
    assert kept.read_bytes() == before


@pytest.mark.parametrize(
    ("change", "said"),
    [(("--most", "2"), "other requests"), (("--timeout", "5"), "another limits"), (("--solver", OURS), "solvers")],
)
def test_it_goes_on_as_it_began_only(suite: Path, cut: Path, change: tuple[str, ...], said: str) -> None:
    before = cut.read_bytes()
    done = run_bench(suite, *ask(suite), "--continue", cut, *change)
    assert done.returncode == 2
    assert said in done.stderr
    assert cut.read_bytes() == before


def test_it_goes_on_and_is_as_one_that_was_never_cut(suite: Path, cut: Path) -> None:
    kept, began = read_run(str(cut)), cut.read_bytes()
    done = run_bench(suite, *ask(suite), "--continue", cut)
    assert done.returncode == 0, done.stderr
    assert "first: was asked before" in done.stderr
    assert not cut.exists()
    runs = suite.parent / "runs.jsonl"
    gone_on = read_run(str(runs))
    assert "cut" not in gone_on
    assert gone_on["started"] == kept["started"]
    assert gone_on["answers"][0] == kept["answers"][0], "what was asked before the cut is not asked again"
    assert list_figures(gone_on, "first") == list_figures(kept, "first")
    whole = run_bench(suite, *ask(suite))
    assert whole.returncode == 0, whole.stderr
    never_cut = read_run(str(runs))
    for part in ("markets", "groups", "solvers", "unsupported"):
        assert gone_on[part] == never_cut[part]
    assert list_quality(gone_on) == list_quality(never_cut)
    assert not [*suite.parent.glob("*.cut*")]
    cut.write_bytes(began)
    finished = suite.parent / "finished"
    finished.write_text(json.dumps(gone_on))
    refused = run_bench(suite, *ask(suite), "--continue", finished)
    assert refused.returncode == 2
    assert "is whole" in refused.stderr


def list_figures(run: Run, market: str) -> list[tuple[str, str, float]]:
    """Return start, first request and memory of a market."""
    rows = [row for row in run["figures"] if row["on"] == market]
    return [(row["solver"], row["name"], pytest.approx(row["value"])) for row in rows]


def list_quality(run: Run) -> list[dict[str, object]]:
    """Return the figures that do not depend on the machine."""
    return [row for row in run["figures"] if row["kind"] == Kind.QUALITY]
