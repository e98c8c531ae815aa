"""Requests asked once each, with both clocks of that first call, and what is said of many of them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks.measure import gap_of, percentile
from benchmarks.report import Figure
from benchmarks.sections import Setting
from routing_engine import Router, RouteRequest, RouteResult

RANKS = (50, 95, 99, 100)
RANK_NAMES = ("p50", "p95", "p99", "max")
PROVEN_BPS = 1.0
COLUMNS = (
    "", "asked", "routed", *(f"wall ms {name}" for name in RANK_NAMES), *(f"cpu {name}" for name in RANK_NAMES),
    "proven ≤ 1 bps", "without a gap", "gap bps p50", "p95",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Asked:
    """A request, its answer, and what the first call took.

    Parameters
    ----------
    request : RouteRequest
        The question.
    result : RouteResult
        The answer.
    wall_ms, cpu_ms : float
        Of that one call: what the caller waited, and the processor's time for this thread.
    """

    request: RouteRequest
    result: RouteResult
    wall_ms: float
    cpu_ms: float

    @property
    def gap(self) -> float:
        """The proven gap in bps; infinite where nothing is proven."""
        return gap_of(self.result)


def ask(router: Router, request: RouteRequest) -> Asked:
    """Ask once, and read both clocks."""
    wall, cpu = time.perf_counter(), time.thread_time()
    result = router.find_routes(request)
    cpu, wall = time.thread_time() - cpu, time.perf_counter() - wall
    return Asked(request, result, 1e3 * wall, 1e3 * cpu)


def ask_all(setting: Setting, what: str, router: Router, requests: Sequence[RouteRequest]) -> list[Asked]:
    """Ask every request once, in order."""
    answers = []
    for number, request in enumerate(requests):
        if number % 20 == 0:
            setting.note(f"{what}, {number} of {len(requests)}")
        answers.append(ask(router, request))
    return answers


def routed(answers: Sequence[Asked]) -> list[Asked]:
    """Return those that have a route."""
    return [each for each in answers if each.result.routes]


def proven(answers: Sequence[Asked], bps: float = PROVEN_BPS) -> list[bool]:
    """Return, for each answer with a route, whether it is proven to within so many bps."""
    return [each.gap <= bps for each in routed(answers)]


def describe(name: str, answers: Sequence[Asked]) -> tuple[str, ...]:
    """Return the cells of a row with `COLUMNS`."""
    found = routed(answers)
    unproven = sum(each.gap == float("inf") for each in found)
    gaps = [each.gap for each in found]
    return (
        name, f"{len(answers):,}", f"{len(found) / max(1, len(answers)):.1%}",
        *(f"{percentile([each.wall_ms for each in answers], rank):.2f}" for rank in RANKS),
        *(f"{percentile([each.cpu_ms for each in answers], rank):.2f}" for rank in RANKS),
        f"{sum(proven(answers)) / max(1, len(found)):.1%}", f"{unproven / max(1, len(found)):.1%}",
        *(f"{percentile(gaps, rank):.3g}" for rank in (50, 95)),
    )  # fmt: skip


def list_figures(name: str, answers: Sequence[Asked], market: str) -> Iterator[Figure]:
    """Yield the same as numbers."""
    found = routed(answers)
    for clock in ("wall", "cpu"):
        times = [getattr(each, f"{clock}_ms") for each in answers]
        for rank, label in zip(RANKS, RANK_NAMES, strict=True):
            yield Figure(what=f"{name}: {clock} time {label}", value=percentile(times, rank), unit="ms", market=market)
    yield Figure(what=f"{name}: asked", value=len(answers), unit="requests", market=market)
    yield Figure(what=f"{name}: routed", value=len(found), unit="requests", market=market)
    yield Figure(what=f"{name}: proven within 1 bps", value=sum(proven(answers)), unit="requests", market=market)
    unproven = sum(each.gap == float("inf") for each in found)
    yield Figure(what=f"{name}: without a gap", value=unproven, unit="requests", market=market)
