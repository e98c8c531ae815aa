"""Thousands of requests, drawn from the OpenAPI document and beyond it, to the running service on PostgreSQL.

No answer is a 5xx, each is one that the document shows, nobody reads another vendor's data, and in the end the books
are right. `FUZZ_CASES` says how many are thrown and `CHAOS_SEED` which dice; `make marathon` throws 50,000, and fails
for an answer that takes over a second each time. `docs/fuzzing.md` says what is thrown.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.fuzz.arena import open_arena
from tests.fuzz.report import list_unreached, read_log_errors, write_report
from tests.fuzz.run import begin_run, read_owners
from tests.support.books import read_books_when_calm

CASES = int(os.environ.get("FUZZ_CASES", "1500"))
SEED = int(os.environ.get("CHAOS_SEED", "7"))
LIMIT_S = float(os.environ.get("FUZZ_LIMIT_S", "inf"))
CALM_S = 90
SLOWEST_MACHINE_S = 0.3
"""A case, with everything around it."""


@pytest.mark.rule("errors.1")
@pytest.mark.timeout(max(600, CASES * SLOWEST_MACHINE_S))
def test_whatever_is_thrown_the_service_answers_as_documented(
    make_database_url: Callable[[str], str], tmp_path: Path
) -> None:
    with open_arena(make_database_url("postgresql"), tmp_path) as arena:
        with begin_run(arena, SEED, LIMIT_S) as run:
            run.throw_all(CASES)
            run.throw_more(CASES // 3, lambda: bool(list_unreached(run)))
        books = read_books_when_calm(arena.database, CALM_S)
        owners = read_owners(arena.database)
        print(f"\n{write_report(run)}\norders {dict(books.statuses)}")
    assert list(run.judge.findings.values()) == []
    assert run.judge.list_leaks(owners) == []
    assert books.wrong == []
    assert read_log_errors(arena) == []
    assert run.judge.cases >= CASES
    assert list_unreached(run) == []
