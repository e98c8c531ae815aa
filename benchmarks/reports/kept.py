"""A run while it is made: kept after each market in a file of its own, from which a run that was cut goes on."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.harness.judge import Bound
from benchmarks.harness.outcome import Outcome
from benchmarks.harness.session import Limits, Part, Round, Say, run_suite
from benchmarks.harness.suite import Arena
from benchmarks.reports.document import Run, append_run, find_facts, make_run, read_run
from benchmarks.reports.figures import MIB
from benchmarks.reports.tables import index_figures

SAME = ("routing_engine", "commit", "python", "processor", "cores", "libraries")
"""Facts in which the halves of a run have to be equal; its load is what it is at its end."""


class OtherRun(Exception):
    """What is kept is of another run than the one that should go on; the text says in what they differ."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a run asks, whom, and where it is kept.

    Parameters
    ----------
    suite : str
        Its name.
    solvers : tuple of str
        As they are asked for.
    limits : Limits
        Of each of them.
    runs : Path
        File to which the run is added once it is whole.
    started : datetime
        When it began.
    """

    suite: str
    solvers: tuple[str, ...]
    limits: Limits
    runs: Path
    started: datetime

    @property
    def kept(self) -> Path:
        """File that has the run as far as it is made; of one run only, also where several add to the same file."""
        return self.runs.with_name(f"{self.runs.stem}.{self.started.astimezone(UTC):%Y%m%dT%H%M%SZ}-{os.getpid()}.cut")


def play(plan: Plan, arenas: Iterable[Arena], say: Say, cut: Path | None = None) -> Run:
    """Ask everything and return the run, which is kept after each market and added to its file at the end.

    Parameters
    ----------
    plan : Plan
        Who is asked.
    arenas : iterable of Arena
        What.
    say : callable
        Is told what is being done.
    cut : Path, optional
        What was kept of a run that was cut: its markets are not asked again, and the file goes with the end of this.

    Raises
    ------
    NoRun, OtherRun
        If `cut` can't be read, or is of another run.
    """
    before = None if cut is None else _read_cut(cut, plan)
    rounds: list[Round] = []
    if before:
        plan = replace(plan, started=datetime.fromisoformat(before["started"]))
    kept = cut or plan.kept
    asked = _list_asked(before)
    for played in _play_rest(plan, arenas, before, say):
        rounds.append(played)
        if played.arena.name in asked:  # the file has it, and others, which must not be lost if this is cut here
            continue
        _keep(kept, {**_describe(plan, rounds), "cut": True})
        say(f"{played.arena.name}: kept in {kept}")
    run = _describe(plan, rounds)
    append_run(plan.runs, run)
    kept.unlink(missing_ok=True)
    return run


def _list_asked(before: Run | None) -> set[str]:
    return {each["name"] for each in before["markets"]} if before else set()


def _describe(plan: Plan, rounds: Sequence[Round]) -> Run:
    return make_run(plan.suite, rounds, plan.limits, plan.started)


def _play_rest(plan: Plan, arenas: Iterable[Arena], before: Run | None, say: Say) -> Iterator[Round]:
    """Yield the rounds that are kept, then ask the others."""
    for arena in arenas:
        if before and arena.name in _list_asked(before):
            yield restore_round(before, arena)
            say(f"{arena.name}: was asked before")
        else:
            yield from run_suite([arena], plan.solvers, plan.limits, say)


def _read_cut(path: Path, plan: Plan) -> Run:
    run = read_run(str(path))
    facts = find_facts()
    before = {"suite": run["suite"], "limits": run["limits"], "solvers": {each["solver"] for each in run["solvers"]}}
    limits = {"start": plan.limits.start_s, "answer": plan.limits.answer_s, "unit": "s"}
    now: dict[str, Any] = {"suite": plan.suite, "limits": limits, "solvers": set(plan.solvers)}
    before |= {name: run["facts"].get(name) for name in SAME}
    now |= {name: facts.get(name) for name in SAME}
    if not run.get("cut"):
        raise OtherRun(f"{path} is whole, and is not continued; leave --continue out")
    for name, value in before.items():
        if now[name] != value:
            raise OtherRun(f"{path} was made with another {name}, {value} and not {now[name]}; use that, or begin anew")
    return run


def _keep(path: Path, run: Run) -> None:
    """Write the run so that at every moment the file is whole, whatever ends this process."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f"{path.name}.new")
    with fresh.open("w", encoding="utf-8") as file:
        file.write(json.dumps(run, ensure_ascii=False, separators=(",", ":"), allow_nan=False) + "\n")
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)


def restore_round(run: Run, arena: Arena) -> Round:
    """Return what came of a market, from the run that has it.

    Raises
    ------
    OtherRun
        If the market, or what was asked on it, was another.
    """
    groups = {each["name"]: each for each in run["groups"] if each["market"] == arena.name}
    market = next(each for each in run["markets"] if each["name"] == arena.name)
    asked = {group.name: group.hash for group in arena.groups}
    if market["hash"] != arena.snapshot.id or {name: each["hash"] for name, each in groups.items()} != asked:
        raise OtherRun(f"{arena.name}: another market or other requests; give the options of the run that was cut")
    bounds = {
        name: [Bound(value=each["bound"].get("value"), scope=each["bound"]["scope"]) for each in group["requests"]]
        for name, group in groups.items()
    }
    parts = tuple(_restore_part(run, arena, about) for about in run["solvers"])
    return Round(arena=arena, bounds=bounds, parts=parts)


def _restore_part(run: Run, arena: Arena, about: dict[str, Any]) -> Part:
    solver, figures = about["solver"], index_figures(run)
    start, first, memory = (
        figures.get((solver, arena.name, name), (None, ""))[0] for name in ("start", "very first request", "memory")
    )
    refused = [each for each in run["unsupported"] if (each["solver"], each["market"]) == (solver, arena.name)]
    names = {group.name for group in arena.groups}
    return Part(
        solver=solver, name=about["name"], version=about["version"], remote=about["remote"],
        unsupported=refused[0]["reason"] if refused else "", start_s=start,
        first_s=None if first is None else first / 1e3, peak_bytes=None if memory is None else round(memory * MIB),
        outcomes={
            row["group"]: [Outcome.read(each) for each in row["outcomes"]]
            for row in run["answers"]
            if row["solver"] == solver and row["group"] in names
        },
    )  # fmt: skip
