"""Cases that take turns on the databases: what varies from case to case is nothing that a database sees.

A test with the mark `in_turns` runs on each database, and so does each of its cases on one: the first case on all of
them, each further one on the next. Every case on every database would only repeat what the first one shows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import pytest

from tests.support.databases import DIALECTS

MARK = "in_turns"


def choose_turns(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    """Return the items without those cases that another database has its turn with."""
    cases: defaultdict[str, list[str]] = defaultdict(list)
    chosen = []
    for item in items:
        if item.get_closest_marker(MARK) is None:
            chosen.append(item)
            continue
        test, dialect, case = _split(item)
        seen = cases[test]
        if case not in seen:
            seen.append(case)
        turn = seen.index(case)
        if turn == 0 or dialect in (None, DIALECTS[turn % len(DIALECTS)]):
            chosen.append(item)
    return chosen


def _split(item: pytest.Item) -> tuple[str, str | None, str]:
    """Return a test's name, the database that it runs on, and what else its case is."""
    test, _, case = item.nodeid.partition("[")
    parts = case.removesuffix("]").split("-")
    dialect = next((part for part in parts if part in DIALECTS), None)
    return test, dialect, "-".join(part for part in parts if part not in DIALECTS)
