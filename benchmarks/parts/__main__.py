"""Figures of this engine alone, beside their targets; routers are compared by ``routing-engine bench``."""

from __future__ import annotations

import argparse
import os
import platform
import time
from importlib import import_module
from pathlib import Path

import numba
from rich.console import Console

from benchmarks.parts import Setting
from benchmarks.parts.report import Report
from routing_engine.warm_up import warm_up

SECTIONS = {
    "speed": "Single paths",
    "live": "Updates and start",
    "exact_out": "Recorded markets: exact-out of what exact-in gave",
    "solver": "Recorded market: a CoW auction, solved",
    "capture": "Reading chains",
}
WIDTH = 150
"""Of what is printed into a file or a log."""


def main() -> None:
    """Measure, print, save; the exit code does not depend on targets, because machines differ."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.parts", description=__doc__)
    parser.add_argument("sections", nargs="*", choices=[*SECTIONS, []], help="which parts; all by default")
    parser.add_argument("--full", action="store_true", help="many queries: tens of minutes")
    parser.add_argument("--out", type=Path, default=Path(".benchmarks"), help="folder of targets.json and targets.md")
    options = parser.parse_args()
    console = Console()
    if not console.is_terminal:
        console = Console(width=WIDTH)
    report = Report({"mode": "full" if options.full else "quick", **_facts()})
    for name, value in report.facts.items():
        console.print(f"[dim]{name}: {value}[/]")
    with console.status("Loading kernels …") as status:
        warm_up()
        shared_data = Path(os.environ.get("SHARED_DATA", "../shared"))
        setting = Setting(full=options.full, shared_data=shared_data, say=status.update)
        for section in options.sections or SECTIONS:
            _measure(section, setting, report, console)
    console.print(f"{report.met} targets met, {report.failed} missed")
    console.print("written to " + ", ".join(map(str, report.save(options.out, "targets"))))


def _measure(section: str, setting: Setting, report: Report, console: Console) -> None:
    title = setting.title = SECTIONS[section]
    setting.note("setting up")
    started = time.perf_counter()
    for entry in import_module(f"benchmarks.parts.{section}").run(setting):
        report.add(title, entry)
    report.print_section(console, title)
    console.print(f"[dim]{title}: {time.perf_counter() - started:.0f} s[/]\n")


def _facts() -> dict[str, str]:
    return {
        "machine": f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}",
        "numba threads": str(numba.config.NUMBA_NUM_THREADS),
    }


if __name__ == "__main__":
    main()
