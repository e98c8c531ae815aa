"""Columns as a terminal shows them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import rich.box
import rich.table
from rich.cells import cell_len
from rich.text import Text

from routing_engine.frames.column import Column
from routing_engine.frames.shown import choose_columns, describe_hidden, is_numeric, show_values

GAP = 3
"""Between two columns, in characters."""


def render(title: str, columns: Sequence[Column], width: int) -> Iterator[Text | rich.table.Table]:
    """Yield a title and a table of the first rows and of as many columns as fit into a line.

    Nothing in it is markup, as names of tokens are anybody's.
    """
    shown = list(_fit(choose_columns(columns), width))
    table = rich.table.Table(box=rich.box.SIMPLE_HEAD, pad_edge=False)
    for column in shown:
        justify: Literal["right", "left"] = "right" if is_numeric(column) else "left"
        table.add_column(Text(column.name), justify=justify, no_wrap=True)
    for row in zip(*map(show_values, shown), strict=True):
        table.add_row(*map(Text, row))
    yield Text(title)
    yield table
    if hidden := describe_hidden(columns, shown):
        yield Text(hidden)


def _fit(columns: Sequence[Column], width: int) -> Iterator[Column]:
    for column in columns:
        width -= max(map(cell_len, [column.name, *show_values(column)])) + GAP
        if width < 0:
            return
        yield column
