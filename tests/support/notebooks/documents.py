"""Notebooks as they should be: each cell followed by what it shows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.support.notebooks.cells import Shown, read_cells, run_cells

FOLDER = Path(__file__).parents[3] / "docs" / "notebooks"
RECORDED = 'os.environ["SHARED_DATA"]'
"""A notebook that says this reads recorded markets."""

_CELL = re.compile(
    r"(?P<cell>^```python\n.*?^```\n)"
    r"(?P<shown>(?:\n```text\n.*?^```\n|\n(?:\|[^\n]*\n)+|\n!\[[^\n]*\]\([a-z-]+-\d+\.svg\)\n)*)",
    re.MULTILINE | re.DOTALL,
)


def list_notebooks(*, is_recorded: bool) -> list[Path]:
    """Return the notebooks that read recorded markets, or the others."""
    found = sorted(FOLDER.glob("*.md"))
    return [path for path in found if (RECORDED in path.read_text(encoding="utf-8")) is is_recorded]


def write_notebook(path: Path) -> dict[Path, str]:
    """Run a notebook; return its text and its pictures by path.

    Raises
    ------
    ValueError
        If jupytext reads other cells than those that are followed by what they show.
    """
    text = path.read_text(encoding="utf-8")
    cells = read_cells(text)
    found = [match["cell"].removeprefix("```python\n").removesuffix("\n```\n") for match in _CELL.finditer(text)]
    if found != cells:
        raise ValueError(f"{path}: jupytext reads {len(cells)} cells, here are {len(found)}; is a fence indented?")
    written: dict[Path, str] = {}
    shown = run_cells(cells, path.stem)
    fresh = _CELL.sub(lambda match: match["cell"] + _write_shown(next(shown), path, written), text)
    return {path: fresh, **written}


def _write_shown(shown: Shown, path: Path, written: dict[Path, str]) -> str:
    return "".join(f"\n{part}" for part in _list_parts(shown, path, written))


def _list_parts(shown: Shown, path: Path, written: dict[Path, str]) -> Iterator[str]:
    if shown.text:
        yield f"```text\n{shown.text.rstrip()}\n```\n"
    if shown.table:
        yield shown.table
    for picture in shown.pictures:
        place = path.with_name(f"{path.stem}-{len(written) + 1}.svg")
        written[place] = picture.svg
        yield f"![{picture.words}]({place.name})\n"


def find_stale_pictures(path: Path, written: Sequence[Path]) -> list[Path]:
    """Return the pictures of a notebook that it no longer draws."""
    return sorted(set(path.parent.glob(f"{path.stem}-[0-9]*.svg")) - set(written))
