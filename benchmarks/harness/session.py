"""A run: every solver is asked every request, each solver and market in a process of its own, and judged afterwards."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.harness.answer import BadAnswer, read_answer
from benchmarks.harness.judge import Bound, Judge
from benchmarks.harness.outcome import Outcome, describe_fault, describe_verdict
from benchmarks.harness.process import SolverProcess
from benchmarks.harness.replay import BrokenAnswer, Fault
from benchmarks.harness.suite import Arena, Case, Group
from routing_engine import Snapshot
from routing_engine.extensions import describe_error

MOST_TIMEOUTS = 3
"""After so many in one group, the rest of it counts as timed out."""

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a solver may take, in seconds, to start with a market and to answer."""

    start_s: float = 120.0
    answer_s: float = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What one solver did on one market.

    Parameters
    ----------
    solver : str
        As it was asked for.
    name, version : str
        What it says of itself.
    remote : bool
        Whether another process works for it.
    unsupported : str
        Why it does not take this market; empty where it does.
    start_s : float or None
        From nothing to ready for a request, without reading the market's file.
    first_s : float or None
        Of its very first request.
    peak_bytes : int or None
        Most memory of its process.
    outcomes : dict of str to list of Outcome
        By group, in the order of the requests.
    """

    solver: str
    name: str
    version: str
    remote: bool
    unsupported: str
    start_s: float | None
    first_s: float | None
    peak_bytes: int | None
    outcomes: dict[str, list[Outcome]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """What all solvers did on one market, and what is proven of its requests."""

    arena: Arena
    bounds: dict[str, list[Bound]]
    parts: tuple[Part, ...]


def run_suite(arenas: Iterable[Arena], solvers: Sequence[str], limits: Limits, say: Say) -> Iterator[Round]:
    """Yield what came of each market. No solver can end the run."""
    for arena in arenas:
        if not arena.groups:
            continue
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "market.json"
            arena.snapshot.save(path)
            judge = Judge(Snapshot.load(path))
            say(f"{arena.name}: proving bounds")
            bounds = {group.name: [judge.find_bound(case.request) for case in group.cases] for group in arena.groups}
            parts = []
            for solver in solvers:
                say(f"{arena.name}: {solver}")
                parts.append(_Asker(solver, path, arena, judge, limits).run(bounds))
        yield Round(arena=arena, bounds=bounds, parts=tuple(parts))


class _Asker:
    """Asks one solver everything on one market, and starts it again where it has to be killed."""

    def __init__(self, solver: str, market: Path, arena: Arena, judge: Judge, limits: Limits) -> None:
        self._solver, self._market, self._arena, self._judge, self._limits = solver, market, arena, judge, limits
        self._process: SolverProcess | None = None
        self._peak: int | None = None
        self._about: dict[str, Any] = {}
        self._start_s: float | None = None

    def run(self, bounds: dict[str, list[Bound]]) -> Part:
        """Ask all groups in order."""
        outcomes: dict[str, list[Outcome]] = {}
        first_s = None
        try:
            self._revive()
            if not self._about.get("unsupported"):
                first_s = self._warm(self._arena.groups[0].cases[0])
                outcomes = {group.name: self._ask_group(group, bounds[group.name]) for group in self._arena.groups}
        except BrokenAnswer as broken:  # it does not even start
            fault = describe_fault(broken)
            outcomes = {group.name: [fault] * len(group.cases) for group in self._arena.groups}
        finally:
            if self._process:
                self._process.close()
        return Part(
            solver=self._solver, name=self._about.get("name") or self._solver, version=self._about.get("version", ""),
            remote=bool(self._about.get("remote")), unsupported=self._about.get("unsupported", ""),
            start_s=self._start_s, first_s=first_s, peak_bytes=self._peak, outcomes=outcomes,
        )  # fmt: skip

    def _revive(self) -> SolverProcess:
        if self._process and self._process.is_alive:
            return self._process
        if self._process:
            self._process.close()
        self._process = None
        self._process = SolverProcess(self._solver, self._market, self._limits.start_s)
        self._about = self._process.about
        if self._start_s is None and "unsupported" not in self._about:
            self._start_s = self._process.start_s
        return self._process

    def _warm(self, case: Case) -> float | None:
        """Ask a first time, which counts only as the very first request."""
        try:
            return float(self._ask(case, repeat=False)["wall_s"])
        except BrokenAnswer:
            return None

    def _ask_group(self, group: Group, bounds: list[Bound]) -> list[Outcome]:
        asked: list[dict[str, Any] | BrokenAnswer] = []
        timeouts = 0
        for case in group.cases:
            if timeouts >= MOST_TIMEOUTS:
                asked.append(BrokenAnswer(Fault.TIMEOUT, f"not asked after {MOST_TIMEOUTS} timeouts in this group"))
                continue
            try:
                asked.append(self._ask(case, repeat=True))
            except BrokenAnswer as broken:
                timeouts += broken.fault is Fault.TIMEOUT
                asked.append(broken)
        return [
            describe_fault(found) if isinstance(found, BrokenAnswer) else self._judge_answer(case, found, bound)
            for case, found, bound in zip(group.cases, asked, bounds, strict=True)
        ]

    def _ask(self, case: Case, *, repeat: bool) -> dict[str, Any]:
        gas_values = {str(chain): value for chain, value in self._judge.value_gas(case.request).items()}
        line = {**case.document(), "gas_values": gas_values, "repeat": repeat}
        found = self._revive().ask(line, self._limits.answer_s)
        self._peak = max(self._peak or 0, found["peak_bytes"]) if found.get("peak_bytes") else self._peak
        return found

    def _judge_answer(self, case: Case, found: dict[str, Any], bound: Bound) -> Outcome:
        try:
            verdict = self._judge.judge(case.request, read_answer(found["answer"]))
        except BrokenAnswer as broken:
            return describe_fault(broken)
        except BadAnswer as error:
            return Outcome(status=str(Fault.BAD_ANSWER), detail=str(error))
        except Exception as error:  # whatever a market from another package makes of hostile amounts
            return Outcome(status=str(Fault.ERROR), detail=f"the replay fails: {describe_error(error)}")
        return describe_verdict(case, verdict, bound, found)
