"""Measured figures beside their targets: printed as they come, kept as JSON and Markdown."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table as RichTable

MARKS = {True: "✓", False: "✗", None: "·"}
STYLES = {True: "green", False: "red", None: "dim"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One target.

    Parameters
    ----------
    what : str
        What was measured, on what.
    target : str
        What it should be; empty for a figure that has no target.
    measured : str
        What it is.
    passed : bool or None
        None where there is no target, or nothing to measure it on.
    value : float or None
        The figure as a number, where it is one.
    unit : str
        What that number counts.
    """

    what: str
    target: str
    measured: str
    passed: bool | None = None
    value: float | None = None
    unit: str = ""


def at_most(what: str, value: float, limit: float, unit: str, *, digits: int = 3) -> Row:
    """Return a row whose figure may not exceed a limit."""
    return _compare(what, "≤", value, limit, unit, digits)


def at_least(what: str, value: float, limit: float, unit: str, *, digits: int = 3) -> Row:
    """Return a row whose figure may not fall below a limit."""
    return _compare(what, "≥", value, limit, unit, digits)


def _compare(what: str, sign: str, value: float, limit: float, unit: str, digits: int) -> Row:
    return Row(
        what=what, target=f"{sign} {limit:g} {unit}", measured=f"{value:,.{digits}g} {unit}",
        passed=value <= limit if sign == "≤" else value >= limit, value=value, unit=unit,
    )  # fmt: skip


def share(what: str, hits: Sequence[bool], least: float) -> Row:
    """Return a row about the part of the cases that hold."""
    part = sum(hits) / len(hits) if hits else 0.0
    return Row(
        what=what, target=f"≥ {least:.0%}" if least < 1 else "100 %", measured=f"{part:.1%} of {len(hits):,}",
        passed=part >= least, value=100 * part, unit="%",
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Details behind the rows, already as text; the first column is words, the others figures."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(slots=True)
class Report:
    """What a run measured.

    Parameters
    ----------
    facts : dict of str to str
        Machine, versions, mode.
    """

    facts: dict[str, str]
    sections: dict[str, list[Row | Table]] = field(default_factory=dict)

    def add(self, section: str, entry: Row | Table) -> None:
        """Keep one row or table."""
        self.sections.setdefault(section, []).append(entry)

    @property
    def failed(self) -> int:
        """Number of targets that were missed."""
        return sum(row.passed is False for row in self._rows())

    @property
    def met(self) -> int:
        """Number of targets that were met."""
        return sum(row.passed is True for row in self._rows())

    def _rows(self) -> list[Row]:
        return [entry for entries in self.sections.values() for entry in entries if isinstance(entry, Row)]

    def print_section(self, console: Console, section: str) -> None:
        """Print the figures of one section, then its tables."""
        entries = self.sections.get(section, [])
        table = RichTable(title=section, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, expand=False)
        for heading in ("", "what", "target", "measured"):
            table.add_column(heading, justify="right" if heading == "measured" else "left")
        for row in entries:
            if isinstance(row, Row):
                style = STYLES[row.passed]
                table.add_row(f"[{style}]{MARKS[row.passed]}[/]", row.what, row.target, f"[{style}]{row.measured}[/]")
        console.print(table)
        for entry in entries:
            if isinstance(entry, Table):
                details = RichTable(title=entry.title, title_justify="left", box=box.SIMPLE_HEAD)
                for number, heading in enumerate(entry.columns):
                    details.add_column(heading, justify="right" if number else "left")
                for cells in entry.rows:
                    details.add_row(*cells)
                console.print(details)

    def save(self, folder: Path, name: str) -> tuple[Path, Path]:
        """Write ``NAME.json`` and ``NAME.md``."""
        folder.mkdir(parents=True, exist_ok=True)
        document = {
            "facts": self.facts,
            "sections": {title: [asdict(entry) for entry in entries] for title, entries in self.sections.items()},
        }
        as_json, as_markdown = folder / f"{name}.json", folder / f"{name}.md"
        as_json.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")
        as_markdown.write_text(self.markdown())
        return as_json, as_markdown

    def markdown(self) -> str:
        """Return all sections as Markdown tables."""
        lines = [f"- {name}: {value}" for name, value in self.facts.items()]
        for title, entries in self.sections.items():
            lines += ["", f"### {title}", ""]
            rows = [entry for entry in entries if isinstance(entry, Row)]
            if rows:
                lines += ["| | what | target | measured |", "|---|---|---|---|"]
                lines += [f"| {MARKS[row.passed]} | {row.what} | {row.target} | {row.measured} |" for row in rows]
            for table in entries:
                if isinstance(table, Table):
                    lines += ["", f"{table.title}:", "", _line(table.columns), _line(("---",) * len(table.columns))]
                    lines += [_line(cells) for cells in table.rows]
        return "\n".join(lines) + "\n"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
