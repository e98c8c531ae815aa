"""Parts of a document that are written by a program, between two comments; the rest is people's."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

GUIDE = Path(__file__).parents[3] / "docs" / "guide"
_REGION = re.compile(
    r"(?P<begin><!-- (?P<name>[a-z-]+): written by python -m tests\.support\.guide -->\n)(?P<body>.*?)"
    r"(?P<end><!-- end of (?P=name) -->)",
    re.DOTALL,
)


def list_regions(text: str) -> list[str]:
    """Return the names of a document's written parts."""
    return [found["name"] for found in _REGION.finditer(text)]


def fill_regions(text: str, parts: Mapping[str, str]) -> str:
    """Return a document with its written parts as they should be.

    Parameters
    ----------
    parts : mapping of str to str
        Markdown by the name of the region.

    Raises
    ------
    KeyError
        If the document has a region of another name.
    """
    return _REGION.sub(lambda found: f"{found['begin']}\n{parts[found['name']]}\n\n{found['end']}", text)


def write_table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """Return a table; a bar in a cell is no border."""
    lines = [head, tuple("---" for _ in head), *(tuple(cell.replace("|", "\\|") for cell in row) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
