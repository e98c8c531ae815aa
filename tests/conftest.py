"""Fixtures and collection rules that hold for every test."""

from __future__ import annotations

import os
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

from tests.support import bounds_checked
from tests.support.databases import databases, make_database_url, postgres_server, sqlite_folder
from tests.support.in_turns import choose_turns
from tests.support.logs import log_plainly
from tests.support.small_disk import may_mount

__all__ = ["databases", "make_database_url", "postgres_server", "sqlite_folder"]

# A machine may be slow, and a test that fails now and then is worth less than none.
settings.register_profile("anywhere", deadline=None)
settings.load_profile("anywhere")

log_plainly()

RECURSION_LIMIT = sys.getrecursionlimit()
# A test that is the first to need a kernel would find the notice of its compilation in what it captures.
os.environ.setdefault("ROUTING_ENGINE_QUIET", "1")

SHARED_DATA = Path(os.environ.get("SHARED_DATA", Path(__file__).parents[2] / "shared"))


def pytest_sessionstart() -> None:
    """Take no kernels that don't look at their indices for such that do."""
    if os.environ.get(bounds_checked.FLAG, "0") not in ("", "0"):
        bounds_checked.require_checked_kernels()


def pytest_report_header(config: pytest.Config) -> str:
    """Say which recorded data this run had."""
    found = sorted(p.name for p in SHARED_DATA.iterdir() if p.is_dir()) if SHARED_DATA.is_dir() else []
    return f"recorded data: {SHARED_DATA if found else 'none (generated data only)'} {' '.join(found)}"


if TYPE_CHECKING:
    from tests.support.distribution import ModuleScheduling


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ModuleScheduling:
    """Let workers share modules, not tests."""
    from tests.support.distribution import ModuleScheduling

    return ModuleScheduling(config, log)


LONG_FIRST = ("browser", "chaos", "deploy", "fuzz", "docs", "clients", "evm", "packaging")
"""Folders in which single modules take minutes or wait for most of their time.

Whoever has one test left is given what comes next already, so a module of one long test stands before a short one.
"""
SECOND_CHANCES = {
    "browser": pytest.mark.flaky(reruns=1),
    **dict.fromkeys(
        ("chaos", "clients", "deploy", "docs", "packaging"),
        pytest.mark.flaky(reruns=1, only_rerun=["TimeoutError", "TimeoutExpired"]),
    ),
}
"""Whose tests run again once if they fail: where a page or processes race with a busy machine (ADR 135).

Of processes only waiting that took too long counts as that: whatever such a test says of money stands at once. The
whole run grants only a few (`--max-suite-reruns`) and names them at its end.
"""
HERE = {"shared_data": SHARED_DATA.is_dir, "small_disk": may_mount}
"""Whether there is what the tests with a mark need."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests that need what is not here, and begin with those that take long.

    A worker takes the next group or module when it has none, in this order. A long one at the end would leave the
    others without work. Cases that take turns on the databases are taken once.
    """
    items[:] = sorted(choose_turns(items), key=_place)
    for item in items:
        chance = next((chance for folder, chance in SECOND_CHANCES.items() if folder in _folders(item)), None)
        if chance:
            item.add_marker(chance)
    needed = {name: [item for item in items if item.get_closest_marker(name)] for name in HERE}
    absent = [item for name, found in needed.items() if found and not HERE[name]() for item in found]
    config.hook.pytest_deselected(items=absent)
    items[:] = [item for item in items if item not in absent]


def _place(item: pytest.Item) -> int:
    folders = _folders(item)
    return next((place for place, name in enumerate(LONG_FIRST) if name in folders), len(LONG_FIRST))


def _folders(item: pytest.Item) -> tuple[str, ...]:
    return item.path.relative_to(item.config.rootpath).parts


REFERENCES = {"evm_cases": "contract bytecode", "vector_cases": "recorded answers"}
"""What tests compare quotes with, by the name of the property under which they record how many."""


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """List how many cases were compared with real contracts and their answers, as the tests recorded them."""
    for kind, reference in REFERENCES.items():
        totals: Counter[str] = Counter()
        for report in terminalreporter.getreports("passed"):
            totals.update({value[0]: value[1] for name, value in report.user_properties if name == kind})
        if totals:
            terminalreporter.write_sep("-", f"compared with {reference}, no mismatch")
            terminalreporter.write_line("\n".join(f"{count:>8,}  {what}" for what, count in sorted(totals.items())))


@pytest.fixture(autouse=True)
def plain_recursion_limit() -> None:
    """Begin each test as a process begins: eth_account, which some tests import, lets Python recurse without end."""
    sys.setrecursionlimit(RECURSION_LIMIT)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of recorded data, for tests marked `shared_data`."""
    return SHARED_DATA
