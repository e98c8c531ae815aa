"""Runs that several tests look at: with the router, and with one made worse on purpose in its place."""

from __future__ import annotations

import pytest

from benchmarks.harness.session import run_suite
from benchmarks.reports.document import Run, make_run
from tests.support.bench_solvers import LIMITS, OURS, STARTED, WORSE, make_arena, make_market


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep these in one process, so that they share their runs; before pytest-xdist reads it."""
    for item in items:
        if "/unit/bench/" in str(item.path):
            item.add_marker(pytest.mark.xdist_group("bench"))


@pytest.fixture(scope="session")
def runs() -> tuple[Run, Run]:
    """Return two runs on two small markets, of the same solver by name."""
    arenas = [make_arena(make_market(), grows=True), make_arena(make_market(tokens=20, pools=70), "larger", grows=True)]
    good, bad = (
        make_run("small", list(run_suite(arenas, [solver], LIMITS, print)), LIMITS, STARTED) for solver in (OURS, WORSE)
    )
    for part in ("solvers", "figures", "answers"):
        for row in bad[part]:
            row["solver"] = OURS
    return good, bad
