"""One word, one meaning: words that the field's own have replaced do not come back, and classes share no names."""

from __future__ import annotations

import pytest

from tests.architecture.exceptions import REPLACED_BUT_USED, SHARED_CLASS_NAMES
from tests.architecture.words import REPLACED, find_replaced, holds, list_shared_class_names


def test_replaced_words_are_no_identifiers() -> None:
    found = find_replaced()
    assert {word for word, _ in found} == REPLACED_BUT_USED, "\n".join(
        f"{module}: {word}, which is now: {REPLACED[word][0]}"
        for word, module in found
        if word not in REPLACED_BUT_USED
    )


def test_classes_of_different_packages_have_different_names() -> None:
    assert set(list_shared_class_names()) == SHARED_CLASS_NAMES, "name the new ones apart; take the others off the list"


@pytest.mark.parametrize(
    ("name", "word", "is_held"),
    [
        ("worth", "worth", True), ("clear_worths", "worths", True), ("worthwhile", "worth", False),
        ("MarginalWorth", "worth", True), ("Load", "Load", True), ("load", "Load", False), ("Loaded", "Load", False),
    ],
)  # fmt: skip
def test_a_word_is_looked_for_in_names(name: str, word: str, is_held: bool) -> None:
    assert holds(name, word) == is_held
