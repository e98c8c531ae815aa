"""What cells of a notebook show: text, tables and pictures, as Jupyter would."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from typing import Any

import jupytext
import matplotlib as mpl
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from routing_engine.pictures.style import RC


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A figure: what it is in words, and its SVG."""

    words: str
    svg: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What a cell shows."""

    text: str = ""
    table: str = ""
    pictures: tuple[Picture, ...] = ()


def read_cells(markdown: str) -> list[str]:
    """Return the code of a notebook's cells, as Jupyter gets it from jupytext."""
    notebook = jupytext.reads(markdown, fmt="md")
    return [cell.source for cell in notebook.cells if cell.cell_type == "code"]


def run_cells(cells: Sequence[str], name: str) -> Iterator[Shown]:
    """Run cells one after the other in one namespace, and yield what each shows."""
    mpl.use("svg")
    names: dict[str, Any] = {"__name__": "__main__"}
    for number, source in enumerate(cells, 1):
        yield _run_cell(source, f"{name}, cell {number}", names)


def _run_cell(source: str, place: str, names: dict[str, Any]) -> Shown:
    tree = ast.parse(source)
    last = ast.Expression(tree.body.pop().value) if isinstance(tree.body[-1], ast.Expr) else None
    printed = StringIO()
    with redirect_stdout(printed):
        exec(compile(tree, place, "exec", dont_inherit=True), names)
        value = eval(compile(last, place, "eval", dont_inherit=True), names) if last else None
    table = _write_frame(value) if isinstance(value, pd.DataFrame) else ""
    if value is not None and not isinstance(value, pd.DataFrame | Axes):
        printed.write(f"{value!r}\n")
    pictures = tuple(_take_picture(plt.figure(number)) for number in plt.get_fignums())
    plt.close("all")
    return Shown(text=printed.getvalue(), table=table, pictures=pictures)


def _write_frame(frame: pd.DataFrame) -> str:
    """Return a frame as a Markdown table, numbers on the right; an index that only counts is left out."""
    if not isinstance(frame.index, pd.RangeIndex):
        frame = frame.reset_index()
    numeric = [pd.api.types.is_numeric_dtype(frame[name]) for name in frame]
    rows = [[str(name) for name in frame], ["---:" if each else "---" for each in numeric]]
    rows += [[_write_value(value) for value in row] for row in frame.itertuples(index=False)]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _write_value(value: object) -> str:
    if isinstance(value, float):
        return "" if value != value else f"{value:,.10g}"
    return str(value).replace("|", "\\|")


def _take_picture(figure: Figure) -> Picture:
    drawn = StringIO()
    with plt.rc_context(RC):
        figure.savefig(drawn, format="svg", metadata={"Date": None})
    words = [". ".join(part for part in _describe_axes(ax) if part) for ax in figure.axes]
    return Picture(words="; ".join(words), svg=re.sub(r"[ \t]+$", "", drawn.getvalue(), flags=re.MULTILINE))


def _describe_axes(ax: Axes) -> Iterator[str]:
    title = ax.get_title(loc="left") or ax.get_title()
    yield " ".join(title.split())
    if ax.axison:
        yield f"Across: {ax.get_xlabel()}"
        yield f"up: {ax.get_ylabel()}"
