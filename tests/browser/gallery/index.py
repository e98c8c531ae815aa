"""The table of all pictures: states by looks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.browser.gallery.looks import Look
from tests.browser.gallery.stage import State
from tests.browser.gallery.timing import Measured

HEAD = """# The checkout page in every state

Taken by `make page` from the real service in a real Chromium: on simulated chains, and where a wallet is named on a
local chain with real contracts. What a customer can only do with scripts has no picture without them.
"""


def write_index(states: Sequence[State], looks: Sequence[Look], folder: Path, measured: Measured) -> str:
    """Return the index as Markdown, with what a visit measured."""
    lines = [HEAD, *(f"* {name}: {value}" for name, value in measured.items()), ""]
    lines.append(f"| state | {' | '.join(look.title for look in looks)} |")
    lines.append(f"|{' --- |' * (len(looks) + 1)}")
    for state in states:
        cells = (_link(folder, f"{state.name}-{look.name}.webp") for look in looks)
        lines.append(f"| {state.title} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _link(folder: Path, name: str) -> str:
    return f'<a href="{name}"><img src="{name}" width="120" alt=""></a>' if (folder / name).exists() else "–"
