"""Twenty seconds of what `make soak` does for ten minutes: of all that is acknowledged nothing is lost or doubled."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.chaos.soak.plan import Part, Plan
from tests.chaos.soak.report import write_report
from tests.chaos.soak.run import run_soak

pytestmark = pytest.mark.xdist_group("chaos")
SHORT = Plan(seconds=20, rate=4, seed=7, kills=8, stops=2, told_share=0.6, watched_share=1.0)


def test_a_plan_follows_from_its_seed() -> None:
    plan, same, other = (Plan(seconds=600, rate=100, seed=seed, kills=120, stops=30) for seed in (7, 7, 8))
    assert (plan.arrivals, plan.faults) == (same.arrivals, same.faults)
    assert plan.arrivals != other.arrivals
    kills = [fault.part for fault in plan.faults if not fault.lasts_s]
    assert {part: kills.count(part) for part in Part} == {
        "api": 48,
        "worker": 30,
        "stream": 18,
        "redis": 12,
        "database": 12,
    }
    assert 59_000 < len(plan.arrivals) < 61_000


@pytest.mark.timeout(400)
def test_nothing_is_lost_or_doubled_while_every_part_is_killed(tmp_path: Path) -> None:
    run = run_soak(SHORT, tmp_path / "soak")
    report = write_report(run, tmp_path / "soak")
    figures = json.loads((tmp_path / "soak" / "figures.json").read_text())
    print(json.dumps(figures, indent=1))
    assert run.verdict.wrong == [], report.read_text()
    assert run.kills.total() == SHORT.kills
    assert run.stops.total() == SHORT.stops
    assert figures["acknowledged"] > 0
    assert figures["payments"] > 0
    assert figures["events"] > figures["payments"]
    assert figures["streams"]["told"] > 0
    assert (tmp_path / "soak" / "soak.png").read_bytes().startswith(b"\x89PNG")
