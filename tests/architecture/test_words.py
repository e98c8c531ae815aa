"""One word, one meaning: words that the field's own have replaced do not come back, and classes share no names."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.architecture.exceptions import NOUN_FUNCTIONS, REPLACED_BUT_USED, SHARED_CLASS_NAMES
from tests.architecture.source import Module
from tests.architecture.verbs import WORDS, find_nouns, first_word, list_names, read_adapters
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


def test_functions_of_adapters_begin_with_a_verb() -> None:
    assert find_nouns(read_adapters()) == NOUN_FUNCTIONS, "name the new ones by a verb; take the others off the list"


def test_every_verb_is_used() -> None:
    assert {first_word(name) for module in read_adapters() for name in list_names(module)} >= WORDS


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("def deployed(chain_id): ...", {"deployed"}),
        ("def find_deployments(chain_id): ...", set()),
        ("class Pool:\n    def key_of(self, log): ...\n    async def _emitters(self): ...", {"key_of", "_emitters"}),
        ("class Pool:\n    @property\n    def tokens(self): ...\n    def __len__(self): ...", set()),
        ("def read():\n    def answers(): ...", {"answers"}),
    ],
)
def test_a_name_without_a_verb_is_found(source: str, found: set[str], tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text(source)
    assert find_nouns([Module("module", path)]) == found
