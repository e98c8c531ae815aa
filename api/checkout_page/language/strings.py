"""Every text of the page, one file for each language, and how the language counts."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from babel import Locale

FOLDER = Path(__file__).parents[2] / "templates" / "payment"
LANGUAGES = ("en", "es", "de", "ar", "zh")
DEFAULT = "en"
OTHER = "other"
"""The plural category that every language has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Strings:
    """Texts of one language, for one region.

    Parameters
    ----------
    locale : Locale
        Language and region, by which numbers, dates and plurals are written.
    lang, dir : str
        For the attributes of ``<html>``.
    name : str
        What the language calls itself.
    refusal : mapping
        For reasons why an order can't be paid in a certain way, what to do; scripts put the merchant in.
    called : mapping
        For kinds of tokens, the words that people search them by.
    counts, script_counts : mapping
        Texts with a number ``n``: for each plural category of the language, as CLDR names them, one.
    """

    locale: Locale
    lang: str
    dir: str
    name: str
    page: dict[str, str]
    notice: dict[str, dict[str, str]]
    status: dict[str, dict[str, str]]
    stranded: dict[str, dict[str, str]]
    transfer: dict[str, str]
    transfer_label: dict[str, str]
    claim: dict[str, str]
    refusal: dict[str, str]
    steps: dict[str, str]
    journey: dict[str, dict[str, str]]
    amounts: dict[str, str]
    receipt: dict[str, str]
    route: dict[str, str]
    called: dict[str, str]
    option: dict[str, str]
    fees: dict[str, str]
    wallet: dict[str, str]
    protocols: dict[str, str]
    counts: dict[str, dict[str, str]]
    simulate: dict[str, dict[str, str]]
    not_found: dict[str, str]
    busy: dict[str, str]
    script: dict[str, str]
    script_counts: dict[str, dict[str, str]]

    @property
    def tag(self) -> str:
        """The locale as the web writes it, such as ``es-MX``."""
        return str(self.locale).replace("_", "-")

    @property
    def languages(self) -> tuple[tuple[str, str, str, str], ...]:
        """What can be chosen instead: for each language its name for links, its tag, direction and own name."""
        files = ((each, _read(each)) for each in LANGUAGES)
        return tuple((each, texts["lang"], texts["dir"], texts["name"]) for each, texts in files)

    def say_count(self, name: str, count: int, written: str) -> str:
        """Return a text of `counts` in the plural form that goes with a number, which stands there as `written`."""
        forms = self.counts[name]
        return forms.get(self.locale.plural_form(count), forms[OTHER]).format(n=written)

    def of_status(self, status: str, reason: str) -> dict[str, str]:
        """Return title and text of an order's state.

        Words for a reason with its status come first, then those for it with any (``*``), then those for the status.
        """
        return self.status.get(f"{status}.{reason}") or self.status.get(f"*.{reason}") or self.status[status]


@cache
def load(tag: str = DEFAULT) -> Strings:
    """Return the texts for a locale, such as ``es_MX``, of one of `LANGUAGES`."""
    locale = Locale.parse(tag)
    return Strings(locale=locale, **_read(locale.language))


@cache
def _read(language: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((FOLDER / f"{language}.json").read_text(encoding="utf-8"))
    return content


def fill(texts: dict[str, str], **values: str) -> dict[str, str]:
    """Put values into the placeholders of some texts."""
    return {name: text.format(**values) for name, text in texts.items()}


def isolate(name: str) -> str:
    """Keep a name's writing direction from turning the sentence around it."""
    return f"\N{FIRST STRONG ISOLATE}{name}\N{POP DIRECTIONAL ISOLATE}"


def strip_isolates(text: str) -> str:
    """Leave out what `isolate` adds: as the name of a tab or a bookmark it is a box on some systems."""
    return text.translate(dict.fromkeys(map(ord, "\N{FIRST STRONG ISOLATE}\N{POP DIRECTIONAL ISOLATE}")))
