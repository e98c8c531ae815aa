"""Notebooks show what their cells show; those on recorded markets where there are some."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.notebooks.cells import read_cells
from tests.support.notebooks.documents import FOLDER, find_stale_pictures, list_notebooks, write_notebook

PART = re.compile(r"<(\w+)(?: id=\"([^\"]*)\")?")
LONG_NUMBER = re.compile(r"\d+\.\d{10,}")
REMEDY = "python -m tests.support.notebooks writes it anew: look at what has changed"


@pytest.mark.parametrize("path", list_notebooks(is_recorded=False), ids=lambda path: path.stem)
def test_cells_show_what_stands_below_them(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    check_notebook(path)


@pytest.mark.shared_data
@pytest.mark.parametrize("path", list_notebooks(is_recorded=True), ids=lambda path: path.stem)
def test_cells_on_recorded_markets_show_what_stands_below_them(
    path: Path, shared_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHARED_DATA", str(shared_data))
    check_notebook(path)


def check_notebook(path: Path) -> None:
    """Run a notebook and compare; of pictures their parts, as the last digits of places may differ by machine.

    So may those of bounds: exponentials are not rounded alike by all processors.
    """
    written = write_notebook(path)
    assert _cut_numbers(path.read_text(encoding="utf-8")) == _cut_numbers(written.pop(path)), REMEDY
    for place, svg in written.items():
        assert PART.findall(place.read_text(encoding="utf-8")) == PART.findall(svg), REMEDY
    assert find_stale_pictures(path, list(written)) == []


def _cut_numbers(text: str) -> str:
    return LONG_NUMBER.sub(lambda found: f"{float(found[0]):.6g}", text)


def test_jobs_have_as_many_lines_as_is_said() -> None:
    text = (FOLDER / "twenty-jobs.md").read_text(encoding="utf-8")
    said = {
        title: int(lines)
        for title, lines in re.findall(r"^\| \d+ \| \[(.+?)\]\(#.+?\) \| (\d+) \|", text, re.MULTILINE)
    }
    sections = re.findall(r"^## \d+\. (.+?)\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    counted = {title: count_lines(read_cells(section)) for title, section in sections}
    kind, *_ = read_cells((FOLDER / "own-protocol.md").read_text(encoding="utf-8"))
    counted["A kind of market of your own"] = count_lines([kind])
    assert said == counted
    assert len(said) == 20


def count_lines(cells: list[str]) -> int:
    """Count lines that are not empty."""
    return sum(1 for cell in cells for line in cell.splitlines() if line.strip())


def test_pictures_say_in_words_what_they_show() -> None:
    for path in list_notebooks(is_recorded=False) + list_notebooks(is_recorded=True):
        for words in re.findall(r"!\[(.*?)\]\(", path.read_text(encoding="utf-8")):
            assert len(words) > 30, path
