"""``make bench``: measured figures beside every target, peers in the same run.

``python -m benchmarks compare A B`` prints what changed between two runs that were kept.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
from importlib import import_module, metadata
from pathlib import Path

import numba
from rich.console import Console

from benchmarks import runs
from benchmarks.peers import node
from benchmarks.report import Report
from benchmarks.sections import Setting
from routing_engine.warm_up import warm_up

SECTIONS = {
    "speed": "Single paths",
    "splits": "Divided routes and certificates",
    "peers": "Against every peer",
    "oracle": "Against a convex solver",
    "certificates": "Certificates attacked",
    "live": "Updates and start",
    "golden": "Recorded market: Fynd's scenarios",
    "best_known": "Recorded market: the scenarios against the best known",
    "fynd": "Recorded markets: Fynd's routers of today, re-created",
    "exact_out": "Recorded markets: exact-out of what exact-in gave",
    "requests": "Recorded markets: real requests",
    "trades": "Recorded markets: ten thousand trades",
    "beyond": "Recorded markets: sizes beyond their depth",
    "auction": "Recorded market: a CoW auction",
    "solver": "Recorded market: a CoW auction, solved",
    "capture": "Reading chains",
    "growth": "Growth",
}
WIDTH = 150
"""Of what is printed into a file or a log."""

LIBRARIES = ("networkx", "rustworkx", "cvxpy", "clarabel", "numpy", "numba")


def main() -> None:
    """Measure, or compare two runs."""
    if sys.argv[1:2] == ["compare"]:
        runs.main(sys.argv[2:])
    else:
        measure()


def measure() -> None:
    """Measure, print, save; the exit code does not depend on targets, because machines differ."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("sections", nargs="*", choices=[*SECTIONS, []], help="which parts; all by default")
    parser.add_argument("--full", action="store_true", help="many queries: tens of minutes")
    parser.add_argument("--out", type=Path, default=Path(".benchmarks"), help="folder of targets.json and targets.md")
    parser.add_argument("--append", type=Path, metavar="FILE", help="runs as JSON lines; OUT/runs.jsonl by default")
    options = parser.parse_args()
    console = Console()
    if not console.is_terminal:
        console = Console(width=WIDTH)
    report = Report({"mode": "full" if options.full else "quick", **_facts()})
    for name, value in report.facts.items():
        console.print(f"[dim]{name}: {value}[/]")
    with console.status("Loading kernels …") as status:
        warm_up()
        node.install()
        shared_data = Path(os.environ.get("SHARED_DATA", "../shared"))
        setting = Setting(full=options.full, shared_data=shared_data, out=options.out, say=status.update)
        for section in options.sections or SECTIONS:
            _measure(section, setting, report, console)
    console.print(f"{report.met} targets met, {report.failed} missed")
    console.print("written to " + ", ".join(map(str, report.save(options.out, "targets"))))
    runs.append_run(options.append or options.out / "runs.jsonl", runs.make_run(report))


def _measure(section: str, setting: Setting, report: Report, console: Console) -> None:
    title = setting.title = SECTIONS[section]
    setting.note("setting up")
    started = time.perf_counter()
    for entry in import_module(f"benchmarks.sections.{section}").run(setting):
        report.add(title, entry)
    report.print_section(console, title)
    console.print(f"[dim]{title}: {time.perf_counter() - started:.0f} s[/]\n")


def _facts() -> dict[str, str]:
    versions = [f"{name} {metadata.version(name)}" for name in LIBRARIES]
    versions += [f"{name} {version}" for name, version in node.versions().items()]
    return {
        "machine": f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}",
        "peers": ", ".join(versions),
        "numba threads": str(numba.config.NUMBA_NUM_THREADS),
    }


if __name__ == "__main__":
    main()
