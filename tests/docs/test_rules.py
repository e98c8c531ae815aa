"""`docs/rules.md` names each rule of the interface and the tests that hold it, and nothing else."""

from __future__ import annotations

import ast
import re

import pytest

from tests.support.rules import (
    DOCUMENT,
    NEEDS_RECORDINGS,
    ROOT,
    SKIPS,
    Holder,
    find_holders,
    list_marks,
    read_chapters,
    write_page,
)

LEAST = 300
"""Rules that there are at least: a chapter that is lost shows."""


def test_the_page_is_what_the_marks_say() -> None:
    assert DOCUMENT.read_text(encoding="utf-8") == write_page(), "run python -m tests.support.rules"


def test_every_rule_has_a_test_or_says_why_not() -> None:
    chapters, holders = read_chapters(), find_holders()
    rules = {rule for chapter in chapters for rule in chapter.rules}
    unheld = {rule for chapter in chapters for rule in chapter.unheld}
    assert len(rules) > LEAST
    assert rules - set(holders) == unheld, "mark a test with each rule; strike what is held from `unheld`"


def test_no_mark_names_an_unknown_rule() -> None:
    rules = {rule for chapter in read_chapters() for rule in chapter.rules}
    assert set(find_holders()) - rules == set(), "add the rule to tests/rules"


def test_no_rule_rests_on_tests_that_may_not_run() -> None:
    sometimes = SKIPS | {NEEDS_RECORDINGS}
    weak = [rule for rule, holders in find_holders().items() if all(sometimes & each.marks for each in holders)]
    assert weak == []


def test_every_test_of_the_page_is_in_its_file() -> None:
    named = re.findall(r"\[`(test_\w+)`\]\(\.\./([^)]+)\)", DOCUMENT.read_text(encoding="utf-8"))
    assert len(named) > LEAST
    for test, path in set(named):
        assert re.search(rf"^(async )?def {test}\(", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE), test


def test_each_rule_is_a_sentence_and_stands_once() -> None:
    texts = [(rule, text) for chapter in read_chapters() for rule, text in chapter.rules.items()]
    assert [rule for rule, text in texts if not re.fullmatch(r"[^|\n]{10,160}\.", text)] == []
    assert len({text for _, text in texts}) == len(texts)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('@pytest.mark.rule("a.1", "b.2")\ndef test_x(): ...', {"a.1": "", "b.2": ""}),
        ('@pytest.mark.slow\n@pytest.mark.rule("a.1")\nasync def test_x(): ...', {"a.1": "slow"}),
        ('pytestmark = pytest.mark.rule("a.1")\ndef test_x(): ...', {"a.1": ""}),
        ('pytestmark = [pytest.mark.shared_data, pytest.mark.rule("a.1")]\ndef test_x(): ...', {"a.1": "shared_data"}),
        ('@pytest.mark.rule("a.1")\ndef helper(): ...', {}),
        ('@other.rule("a.1")\ndef test_x(): ...', {}),
    ],
)
def test_marks_are_read_from_the_text(text: str, expected: dict[str, str]) -> None:
    found = dict(list_marks("tests/test_it.py", ast.parse(text)))
    assert {rule: "".join(holder.marks - {"rule"}) for rule, holder in found.items()} == expected
    assert all(holder == Holder("tests/test_it.py", "test_x", holder.marks) for holder in found.values())
