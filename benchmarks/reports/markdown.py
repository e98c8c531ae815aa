"""Runs as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.reports.compare import Change
from benchmarks.reports.document import Run
from benchmarks.reports.tables import (
    TextTable,
    list_faults,
    list_group_tables,
    list_history,
    list_market_tables,
    list_sources,
    list_unsupported,
    summarise,
)

CLOCKS = (
    "*First call* is a request's first in a process that has answered one before; *warm* is its fastest of up to five. "
    "The wall clock is what a caller waits, the processor's is of the solver's whole process."
)


def write_summary(run: Run) -> str:
    """Return the table of a run over all its groups, and what failed."""
    return "\n".join(write_table(table) for table in (summarise(run), list_faults(run)) if table.rows)


def write_markdown(run: Run, history: Sequence[Run] = ()) -> str:
    """Return everything that a run measured."""
    lines = [f"# Benchmark: {run['suite']}", "", f"- measured: {run['started']}"]
    lines += [f"- {name}: {value}" for name, value in run["facts"].items()]
    lines += ["", CLOCKS, "", write_table(summarise(run))]
    tables = [list_faults(run), list_unsupported(run), list_sources(run)]
    tables += [table for group in run["groups"] for table in list_group_tables(run, group["name"])]
    tables += list_market_tables(run)
    tables += [list_history(run, history)] if len(history) > 1 else []
    return "\n".join([*lines, *(write_table(table) for table in tables if table.rows)])


def write_changes(changes: Sequence[Change], skipped: Sequence[str], lost: Sequence[str]) -> str:
    """Return what changed between two runs."""
    rows = tuple(
        (each.name, f"{each.before:.5g}", f"{each.after:.5g}", each.unit, _show_worse(each.worse)) for each in changes
    )
    tables = [TextTable("What changed, the worst first", ("figure", "before", "after", "unit", ""), rows)]
    tables += [TextTable("Not compared", ("why",), tuple((each,) for each in skipped))]
    tables += [TextTable("Not there any more", ("figure",), tuple((each,) for each in lost))]
    return "\n".join(write_table(table) for table in tables if table.rows)


def _show_worse(worse: float | None) -> str:
    if worse is None:
        return ""
    if abs(worse) == float("inf"):
        return "worse" if worse > 0 else "better"
    return f"{abs(worse):.1%} {'worse' if worse > 0 else 'better'}"


def write_table(table: TextTable) -> str:
    """Return one table under its title."""
    align = ("---", *("---:" for _ in table.columns[1:]))
    lines = [f"### {table.title}", "", *(_line(row) for row in (table.columns, align, *table.rows)), ""]
    return "\n".join(lines)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"
