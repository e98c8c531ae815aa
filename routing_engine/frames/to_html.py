"""Columns as a notebook shows them."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from routing_engine.frames.column import Column
from routing_engine.frames.shown import choose_columns, describe_hidden, is_numeric, show_values


def write_html(title: str, columns: Sequence[Column]) -> str:
    """Return a table of the first rows; every value is escaped, as names of tokens are anybody's."""
    shown = choose_columns(columns)
    aligned = [' style="text-align: right"' if is_numeric(column) else "" for column in shown]
    head = "".join(f"<th{style}>{escape(column.name)}</th>" for column, style in zip(shown, aligned, strict=True))
    rows = "".join(
        "<tr>" + "".join(f"<td{style}>{escape(text)}</td>" for text, style in zip(row, aligned, strict=True)) + "</tr>"
        for row in zip(*map(show_values, shown), strict=True)
    )
    hidden = f"<p>{escape(describe_hidden(columns, shown))}</p>"
    return f"<p>{escape(title)}</p><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{hidden}"
