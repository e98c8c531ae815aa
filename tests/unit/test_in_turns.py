"""Cases that take turns on the databases: each is tried, and each test on all databases."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from types import SimpleNamespace
from typing import Any

from tests.support.databases import DIALECTS
from tests.support.in_turns import choose_turns

CASES = ("a", "b-c", "d", "e")


def make_items(test: str, cases: Iterable[str], *, is_marked: bool = True) -> list[Any]:
    """Make items of a test that runs each case on each database."""
    return [
        SimpleNamespace(nodeid=f"{test}[{dialect}-{case}]", get_closest_marker=lambda _: is_marked or None)
        for dialect, case in product(DIALECTS, cases)
    ]


def test_the_first_case_runs_on_each_database_and_each_other_on_one() -> None:
    chosen = [item.nodeid for item in choose_turns(make_items("t", CASES))]
    assert chosen == ["t[sqlite-a]", "t[sqlite-d]", "t[postgresql-a]", "t[postgresql-b-c]", "t[postgresql-e]"]


def test_each_test_has_turns_of_its_own() -> None:
    items = make_items("t", CASES[:1]) + make_items("u", CASES[:2])
    assert [item.nodeid for item in choose_turns(items)] == [
        "t[sqlite-a]", "t[postgresql-a]", "u[sqlite-a]", "u[postgresql-a]", "u[postgresql-b-c]",
    ]  # fmt: skip


def test_a_case_that_is_asked_for_alone_is_run() -> None:
    (item,) = (item for item in make_items("t", CASES) if item.nodeid == "t[sqlite-b-c]")
    assert choose_turns([item]) == [item]


def test_others_are_left_alone() -> None:
    items = make_items("t", CASES, is_marked=False)
    items += [SimpleNamespace(nodeid=f"t[{case}]", get_closest_marker=lambda _: True) for case in CASES]
    assert choose_turns(items) == items
