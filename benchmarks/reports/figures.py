"""The figures of a run: each a number with a unit, a solver, and what it was measured on."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from benchmarks.harness.outcome import ANSWERED, NONE, Outcome
from benchmarks.harness.session import Part, Round
from benchmarks.harness.suite import Case
from benchmarks.measure import percentile
from routing_engine import Side
from routing_engine.fixed_point import BPS

RANKS = (50, 95, 99)
CLOCKS = {"wall_ms": "wall, first call", "cpu_ms": "cpu, first call", "warm_wall_ms": "wall, warm",
          "warm_cpu_ms": "cpu, warm"}  # fmt: skip
EQUAL = 1e-9
"""Routes closer than this part of the output, or than one unit, count as equal: divisions differ in last units."""

MIB = 2**20
GROWTH, EVERYTHING = "growth", "everything"
"""Where figures stand that several markets have together, and all groups."""


class Kind(StrEnum):
    """What a figure is about."""

    QUALITY = "quality"
    TIME = "time"
    MEMORY = "memory"


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One number.

    Parameters
    ----------
    solver, on, name : str
        Whose; the group, or the market, that it was measured on; what it is.
    value : float
        Finite.
    unit : str
        What it counts.
    kind : Kind
        What it is about.
    better : {"less", "more", ""}
        Empty where it is neither, or depends on who else took part.
    """

    solver: str
    on: str
    name: str
    value: float
    unit: str
    kind: Kind = Kind.QUALITY
    better: str = ""


def list_figures(rounds: Sequence[Round]) -> list[Figure]:
    """Return all figures of a run, in the order of its groups and solvers."""
    found = [figure for each in rounds for figure in _list_round(each)]
    found += [*_list_everything(rounds), *_list_growth(rounds)]
    return [figure for figure in found if math.isfinite(figure.value)]


def _list_everything(rounds: Sequence[Round]) -> Iterator[Figure]:
    """Yield the figures of all groups together; a market that a solver does not take is one without answers."""
    cases, best = list[Case](), list[int | None]()
    rows: dict[str, list[Outcome]] = {part.solver: [] for played in rounds for part in played.parts}
    for played in rounds:
        for group in played.arena.groups:
            unanswered = [Outcome(status=NONE)] * len(group.cases)
            given = {part.solver: part.outcomes.get(group.name, unanswered) for part in played.parts}
            for solver, outcomes in given.items():
                rows[solver] += outcomes
            cases += group.cases
            best += _find_best(group.cases, given.values())
    for solver, outcomes in rows.items():
        for figure in _list_group(cases, outcomes, best):
            yield Figure(solver=solver, on=EVERYTHING, **figure)
    for solver in rows:
        parts = [part for played in rounds for part in played.parts if part.solver == solver]
        yield from _list_market(EVERYTHING, max(parts, key=lambda part: (part.peak_bytes or 0, part.start_s or 0)))


def _list_round(played: Round) -> Iterator[Figure]:
    for group in played.arena.groups:
        rows = {part.solver: part.outcomes[group.name] for part in played.parts if group.name in part.outcomes}
        best = _find_best(group.cases, rows.values())
        for solver, outcomes in rows.items():
            for figure in _list_group(group.cases, outcomes, best):
                yield Figure(solver=solver, on=group.name, **figure)
    for part in played.parts:
        yield from _list_market(played.arena.name, part)


def _find_best(cases: Sequence[Case], rows: Iterable[list[Outcome]]) -> list[int | None]:
    """Return the best net amount of each request, None where nobody has one."""
    best = []
    for number, case in enumerate(cases):
        choose = min if case.request.side == Side.EXACT_OUT else max
        nets = [outcome.net for outcomes in [*rows] if (outcome := outcomes[number]).net is not None]
        best.append(choose(nets, default=None))
    return best


def _list_group(cases: Sequence[Case], outcomes: list[Outcome], best: list[int | None]) -> Iterator[dict[str, object]]:
    answered = [each for each in outcomes if each.status == ANSWERED]
    failed = [each for each in outcomes if each.status not in (ANSWERED, NONE)]
    yield _less("failures", len(failed), "requests")
    yield _more("coverage", 100 * len(answered) / max(1, len(outcomes)), "%")
    gaps = [each.gap_bps for each in answered if each.gap_bps is not None]
    yield {"name": "gap known", "value": len(gaps), "unit": "requests"}
    for rank in (*RANKS, 100):
        yield _less(f"gap {_name_rank(rank)}", percentile(gaps, rank), "bps")
    yield _less("above the bound", sum(each.above_bound for each in answered), "requests")
    below = [*_list_below(cases, outcomes, best)]
    for rank in (50, 95, 100):
        name = f"below the best of this run {_name_rank(rank)}"
        yield {"name": name, "value": percentile(below, rank), "unit": "bps"}
    there = sum(each is not None for each in best)
    yield {"name": "equal to the best of this run", "value": 100 * below.count(0.0) / max(1, there), "unit": "%"}
    yield {"name": "gas p50", "value": percentile([each.gas or 0 for each in answered], 50), "unit": "gas units"}
    yield {"name": "swaps p50", "value": percentile([each.swaps or 0 for each in answered], 50), "unit": "swaps"}
    claims = [abs(each.claimed - each.gross) / each.gross * BPS for each in answered if each.claimed and each.gross]
    yield {"name": "claim off by max", "value": percentile(claims, 100), "unit": "bps"}
    for name in dict.fromkeys(name for each in answered for name in each.above_known):
        above = [each.above_known[name] for each in answered if name in each.above_known]
        for rank, label in ((0, "least"), (50, "p50")):
            yield _more(f"above {name} {label}", percentile(above, rank), "bps")
    for clock, label in CLOCKS.items():
        times = [getattr(each, clock) for each in answered if getattr(each, clock) is not None]
        for rank in RANKS:
            yield {**_less(f"{label} {_name_rank(rank)}", percentile(times, rank), "ms"), "kind": Kind.TIME}


def _list_below(cases: Sequence[Case], outcomes: list[Outcome], best: list[int | None]) -> Iterator[float]:
    """Yield by how many bps answers are worse than the best of all; 0 where they are equal to it."""
    for case, outcome, most in zip(cases, outcomes, best, strict=True):
        if outcome.net is None or not most:
            continue
        apart = abs(outcome.net - most)
        output = abs(outcome.gross or most) if case.request.side == Side.EXACT_IN else abs(most)
        yield 0.0 if apart <= max(1, EQUAL * output) else apart / max(1, abs(most)) * BPS


def _list_market(name: str, part: Part) -> Iterator[Figure]:
    values = (
        ("start", part.start_s, "s", Kind.TIME),
        ("very first request", None if part.first_s is None else 1e3 * part.first_s, "ms", Kind.TIME),
        ("memory", None if part.peak_bytes is None else part.peak_bytes / MIB, "MiB", Kind.MEMORY),
    )
    for what, value, unit, kind in values:
        if value is not None:
            yield Figure(solver=part.solver, on=name, name=what, value=value, unit=unit, kind=kind, better="less")


def _list_growth(rounds: Sequence[Round]) -> Iterator[Figure]:
    """Yield by which power of the number of markets a solver's median time, and its memory, grow."""
    points: dict[tuple[str, str], list[tuple[int, float]]] = defaultdict(list)
    for each in rounds:
        if each.arena.grows:
            size = len(each.arena.snapshot.markets)
            for part in each.parts:
                rows = [row for outcomes in part.outcomes.values() for row in outcomes if row.status == ANSWERED]
                times = [row.warm_wall_ms for row in rows if row.warm_wall_ms]
                if times:
                    points[part.solver, "time"].append((size, percentile(times, 50)))
                if part.peak_bytes:
                    points[part.solver, "memory"].append((size, part.peak_bytes / MIB))
    for (solver, what), found in points.items():
        if len(found) > 1:
            kind = Kind.TIME if what == "time" else Kind.MEMORY
            yield Figure(
                solver=solver, on=GROWTH, name=f"{what}, power of markets", value=fit_power(found), unit="power",
                kind=kind, better="less",
            )  # fmt: skip


def fit_power(points: Sequence[tuple[int, float]]) -> float:
    """Return p of the line through the points that fits y ~ x**p best, by least squares of logarithms."""
    xs, ys = ([math.log(value) for value in column] for column in zip(*points, strict=True))
    middle, level = sum(xs) / len(xs), sum(ys) / len(ys)
    spread = sum((x - middle) ** 2 for x in xs)
    return sum((x - middle) * (y - level) for x, y in zip(xs, ys, strict=True)) / spread if spread else math.nan


def _name_rank(rank: int) -> str:
    return "max" if rank == 100 else f"p{rank}"


def _less(name: str, value: float, unit: str) -> dict[str, object]:
    return {"name": name, "value": value, "unit": unit, "better": "less"}


def _more(name: str, value: float, unit: str) -> dict[str, object]:
    return {"name": name, "value": value, "unit": unit, "better": "more"}
