"""Every text of the page, from one file; a translation is another file."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "templates" / "payment"
DEFAULT = "en"


@dataclass(frozen=True, slots=True, kw_only=True)
class Strings:
    """Texts of one language.

    Parameters
    ----------
    lang, dir : str
        For the attributes of ``<html>``.
    """

    lang: str
    dir: str
    page: dict[str, str]
    notice: dict[str, dict[str, str]]
    status: dict[str, dict[str, str]]
    stranded: dict[str, dict[str, str]]
    transfer: dict[str, str]
    claim: dict[str, str]
    steps: dict[str, str]
    route: dict[str, str]
    fees: dict[str, str]
    wallet: dict[str, str]
    protocols: dict[str, str]
    duration: dict[str, str]
    simulate: dict[str, dict[str, str]]
    not_found: dict[str, str]
    busy: dict[str, str]
    script: dict[str, str]

    def of_status(self, status: str, reason: str) -> dict[str, str]:
        """Return title and text of an order's state.

        Words for a reason with its status come first, then those for it with any (``*``), then those for the status.
        """
        return self.status.get(f"{status}.{reason}") or self.status.get(f"*.{reason}") or self.status[status]


@cache
def load(lang: str = DEFAULT) -> Strings:
    """Read a language's file."""
    content: dict[str, Any] = json.loads((FOLDER / f"{lang}.json").read_text(encoding="utf-8"))
    return Strings(**content)


def fill(texts: dict[str, str], **values: str) -> dict[str, str]:
    """Put values into the placeholders of some texts."""
    return {name: text.format(**values) for name, text in texts.items()}


def isolate(name: str) -> str:
    """Keep a name's writing direction from turning the sentence around it."""
    return f"\N{FIRST STRONG ISOLATE}{name}\N{POP DIRECTIONAL ISOLATE}"
