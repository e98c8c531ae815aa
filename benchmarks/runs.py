"""Runs as JSON lines, one line a run: every figure as a number; and what changed between two of them."""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks.report import Figure, Report, Row, Table

LEAST_CHANGE = 0.01
"""Relative changes below this are not printed, unless asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of the benchmarks.

    Parameters
    ----------
    started : str
        UTC, ISO 8601.
    facts : dict of str to str
        Commit, machine, its load, versions, mode.
    figures : dict of (str, str) to Figure
        By section and what was measured.
    """

    started: str
    facts: dict[str, str]
    figures: dict[tuple[str, str], Figure]

    def write(self) -> str:
        """Return it as one line of JSON; what is infinite or nan becomes null."""
        rows = [
            {"section": section, **asdict(figure), "value": figure.value if math.isfinite(figure.value) else None}
            for (section, _), figure in self.figures.items()
        ]
        return json.dumps({"started": self.started, "facts": self.facts, "figures": rows}, ensure_ascii=False)

    @classmethod
    def read(cls, line: str) -> Run:
        """Read one line."""
        record: dict[str, Any] = json.loads(line)
        figures = {}
        for row in record["figures"]:
            value = math.nan if row["value"] is None else float(row["value"])
            figure = Figure(what=row["what"], value=value, unit=row["unit"], market=row["market"])
            figures[row["section"], row["what"]] = figure
        return cls(started=record["started"], facts=record["facts"], figures=figures)


def make_run(report: Report) -> Run:
    """Return the figures of a report: of its rows that are numbers, and its details."""
    figures = {}
    for section, entries in report.sections.items():
        for entry in entries:
            if isinstance(entry, Row) and entry.value is not None:
                figures[section, entry.what] = Figure(what=entry.what, value=entry.value, unit=entry.unit)
    for section, details in report.details.items():
        for figure in details:
            figures[section, figure.what] = figure
    facts = {**report.facts, "commit": find_commit(), "processor": _find_processor(), "load": _read_load()}
    return Run(started=datetime.now(UTC).isoformat(timespec="seconds"), facts=facts, figures=figures)


def append_run(path: Path, run: Run) -> None:
    """Add a run at the end of a file, which is made where it is missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.write(run.write() + "\n")


def read_run(name: str) -> Run:
    """Read ``FILE``, its last run, or ``FILE#2``, its second; ``FILE#-2`` is the last but one.

    Raises
    ------
    SystemExit
        Saying which file has no such run.
    """
    file, _, number = name.partition("#")
    lines = Path(file).read_text().splitlines()
    place = int(number or -1)
    try:
        return Run.read(lines[place - 1 if place > 0 else place])
    except IndexError:
        raise SystemExit(f"{file} has {len(lines)} runs; there is no run {place}") from None


def find_commit() -> str:
    """Return the commit of the working tree, with a plus where files differ from it; empty outside a repository."""
    commands = (["git", "rev-parse", "--short=12", "HEAD"], ["git", "status", "--porcelain", "--untracked-files=no"])
    answers = [subprocess.run(command, capture_output=True, text=True, check=False) for command in commands]
    return answers[0].stdout.strip() + ("+" if answers[1].stdout.strip() else "")


def _find_processor() -> str:
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def _read_load() -> str:
    """Return how many processes wanted a core: in the last 1, 5 and 15 minutes."""
    return ", ".join(f"{load:.1f}" for load in os.getloadavg())


def compare(before: Run, after: Run, least: float = LEAST_CHANGE) -> Iterator[Table]:
    """Yield what the facts, the common figures and the sets of figures differ in."""
    facts = [
        (name, before.facts.get(name, ""), after.facts.get(name, ""))
        for name in dict.fromkeys([*before.facts, *after.facts])
    ]
    runs = ("started", before.started, after.started)
    changed = (runs, *(row for row in facts if row[1] != row[2]))
    yield Table(title="The two runs", columns=("", "before", "after"), rows=changed)
    rows = []
    for key, old in before.figures.items():
        new = after.figures.get(key)
        if new is not None and _has_changed(old.value, new.value, least):
            rows.append((": ".join(key), *(f"{each.value:.5g}" for each in (old, new)), _describe(old, new), old.unit))
    yield Table(
        title=f"Figures that changed by {least:.1%} or more",
        columns=("figure", "before", "after", "change", "unit"),
        rows=tuple(rows),
    )
    for title, keys in (
        ("Only before", [key for key in before.figures if key not in after.figures]),
        ("Only after", [key for key in after.figures if key not in before.figures]),
    ):
        if keys:
            yield Table(title=title, columns=("figure",), rows=tuple((": ".join(key),) for key in keys))


def _has_changed(old: float, new: float, least: float) -> bool:
    if math.isnan(old) or math.isnan(new):
        return math.isnan(old) != math.isnan(new)
    return abs(new - old) > least * max(abs(old), abs(new))


def _describe(old: Figure, new: Figure) -> str:
    """Return the relative change, and whether the markets were different ones."""
    usable = math.isfinite(old.value) and math.isfinite(new.value) and old.value != 0
    change = f"{new.value / old.value - 1:+.1%}" if usable else ""
    return change if old.market == new.market else f"{change} (another market)".strip()


def main(arguments: Sequence[str]) -> None:
    """Print what changed from one run to another."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks compare", description=main.__doc__)
    parser.add_argument("before", help="file of runs; its last one, or FILE#2 for its second")
    parser.add_argument("after", help="the same")
    parser.add_argument("--least", type=float, default=100 * LEAST_CHANGE, help="percent, below which nothing is said")
    options = parser.parse_args(arguments)
    console = Console(soft_wrap=True, markup=False, highlight=False)
    for table in compare(read_run(options.before), read_run(options.after), options.least / 100):
        console.print(f"\n{table.title}")
        for row in (table.columns, *table.rows):
            console.print(" | ".join(row))
