"""Each language has every text, with the same placeholders, as text and not as markup."""

from __future__ import annotations

import json
import re
import string
import unicodedata
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from babel import Locale

from api.checkout_page.language.strings import DEFAULT, FOLDER, LANGUAGES, OTHER, load

PLURALS = ("counts", "script_counts")
SAME = re.compile(r"dir|protocols\.(?!canonical$|bridge$|cctp_fast).*|page\.token|script\.seconds_left|called\..*")
"""Texts that may be as in English: names, a unit, words to search by, and a word that German has too."""
SHORT_FORMS = frozenset({"zero", "one", "two"})
"""Plural forms in which a number may be a word, or part of one."""
MARKUP = re.compile("[<>&]|https?:|javascript:")
OPENING = ("\N{LEFT-TO-RIGHT ISOLATE}", "\N{RIGHT-TO-LEFT ISOLATE}", "\N{FIRST STRONG ISOLATE}")
CLOSING = "\N{POP DIRECTIONAL ISOLATE}"
SCRIPTS = {"ar": "ARABIC", "zh": "CJK"}
PROJECT = Path(__file__).parents[3]
TRANSLATIONS = tuple(each for each in LANGUAGES if each != DEFAULT)


@cache
def read(language: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((FOLDER / f"{language}.json").read_text(encoding="utf-8"))
    return content


def list_texts(node: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
    """Yield each text with its dotted path; a text with plural forms is that for *other*."""
    if isinstance(node, str):
        yield ".".join(path), node
    elif path[:1] and path[0] in PLURALS and len(path) == 2:
        yield ".".join(path), node[OTHER]
    else:
        for key, value in node.items():
            yield from list_texts(value, (*path, key))


def list_forms(language: str) -> Iterator[tuple[str, dict[str, str]]]:
    for section in PLURALS:
        for name, forms in read(language)[section].items():
            yield f"{section}.{name}", forms


def placeholders(text: str) -> list[str]:
    """Return the names in braces; raises where braces do not match."""
    return sorted(name for _, name, _, _ in string.Formatter().parse(text) if name is not None)


def has_words(text: str) -> bool:
    """Tell whether a text holds more than placeholders and punctuation."""
    return any(sign.isalpha() for literal, *_ in string.Formatter().parse(text) for sign in literal)


def test_there_is_one_file_for_each_language() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.json")) == sorted(LANGUAGES)
    assert [load(each).lang for each in LANGUAGES] == ["en", "es", "de", "ar", "zh-Hans"]
    assert [load(each).dir for each in LANGUAGES] == [Locale(each).text_direction for each in LANGUAGES]


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_key_stands_twice(language: str) -> None:
    def refuse_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        names = sorted(name for name, _ in pairs)
        assert all(before != after for before, after in pairwise(names)), names
        return dict(pairs)

    json.loads((FOLDER / f"{language}.json").read_text(encoding="utf-8"), object_pairs_hook=refuse_twins)


@pytest.mark.parametrize("language", TRANSLATIONS)
def test_each_language_has_the_same_texts_with_the_same_placeholders(language: str) -> None:
    ours, theirs = dict(list_texts(read(DEFAULT))), dict(list_texts(read(language)))
    assert theirs.keys() == ours.keys()
    differing = [name for name, text in theirs.items() if set(placeholders(text)) != set(placeholders(ours[name]))]
    assert differing == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_plural_category_of_a_language_has_its_form(language: str) -> None:
    categories = Locale(language).plural_form.tags | {OTHER}
    for name, forms in list_forms(language):
        assert forms.keys() == categories, name
        for category, text in forms.items():
            optional = {"n"} if category in SHORT_FORMS else set()
            assert set(placeholders(text)) | optional == set(placeholders(forms[OTHER])) | optional, (name, category)


@pytest.mark.parametrize("language", LANGUAGES)
def test_texts_are_text_and_nothing_else(language: str) -> None:
    texts = [
        *list_texts(read(language)),
        *((name, text) for name, forms in list_forms(language) for text in forms.values()),
    ]
    for name, text in texts:
        assert text.strip(), name
        assert text == text.strip() or name == "transfer.separator", name
        assert not MARKUP.search(text), name
        assert text == unicodedata.normalize("NFC", text), name
        assert sum(text.count(mark) for mark in OPENING) == text.count(CLOSING), name
        unseen = {sign for sign in text if unicodedata.category(sign) in {"Cc", "Cf", "Co", "Cn"}}
        assert unseen <= {*OPENING, CLOSING}, name


@pytest.mark.parametrize("language", TRANSLATIONS)
def test_nothing_was_left_in_english(language: str) -> None:
    ours, theirs = dict(list_texts(read(DEFAULT))), dict(list_texts(read(language)))
    same = [
        name for name, text in theirs.items() if text == ours[name] and has_words(text) and not SAME.fullmatch(name)
    ]
    assert same == []
    script = SCRIPTS.get(language)
    if script:
        foreign = [
            name
            for name, text in theirs.items()
            if has_words(text)
            and not SAME.fullmatch(name)
            and name not in {"lang", "dir"}
            and not any(unicodedata.name(sign, "").startswith(script) for sign in text)
        ]
        assert foreign == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_customers_are_addressed_formally(language: str) -> None:
    words = {
        "de": r"\b([Dd]u|[Dd]ein\w*|[Dd]ir|[Dd]ich|[Ee]uch)\b",
        "es": r"\b(tú|tu|tus|te|tuyo|tienes|puedes|elige|abre|paga tu)\b",
        "zh": "你",
    }.get(language)
    if words:
        assert [name for name, text in list_texts(read(language)) if re.search(words, text)] == []


@pytest.mark.parametrize(
    ("language", "others"),
    [
        ("de", "unterschreib|Nummer (der|einer|Ihrer) Transaktion|Vorgänge|Münze"),
        ("es", r"\b[Tt]oken|[Mm]onedero|[Cc]artera"),
        ("ar", "رقم المعاملة|رقم معاملت"),
        ("zh", "交易号|交易哈希"),
    ],
)
def test_a_thing_has_one_name(language: str, others: str) -> None:
    """Found by a second reader: a transaction's number, coins and signing were called this here and that there."""
    assert [name for name, text in list_texts(read(language)) if re.search(others, text)] == []


def test_no_view_of_the_page_forgets_the_customers_language() -> None:
    views = (PROJECT / "api" / "blueprints" / "payment_page.py").read_text()
    assert "strings.load(" not in views
