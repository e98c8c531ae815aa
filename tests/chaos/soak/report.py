"""The report of a run: Markdown, figures as JSON, and one picture with four parts."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tests.chaos.soak.plan import Part
from tests.chaos.soak.run import Run

COLOURS = {
    Part.API: "tab:blue",
    Part.WORKER: "tab:orange",
    Part.STREAM: "tab:green",
    Part.REDIS: "tab:purple",
    Part.DATABASE: "tab:red",
}
LONGEST_BIN_S = 10.0
BINS = 60
"""How many columns a run has at least."""


def write_report(run: Run, folder: Path) -> Path:
    """Write the report into a folder; return its path."""
    figures = {**describe_load(run), **run.verdict.figures}
    (folder / "figures.json").write_text(json.dumps(figures, indent=1, sort_keys=True) + "\n")
    draw(run, folder / "soak.png")
    path = folder / "report.md"
    path.write_text(_write_text(run, figures))
    return path


def describe_load(run: Run) -> dict[str, Any]:
    """Return figures of the load and of what it cost."""
    latencies = sorted(
        each.acknowledged_s - each.planned_s for each in run.results.orders if each.acknowledged_s is not None
    )
    count = max(1, len(latencies))
    return {
        "rate": len(run.results.orders) / run.plan.seconds,
        "latency_p50_s": _find_quantile(latencies, 0.5),
        "latency_p95_s": _find_quantile(latencies, 0.95),
        "latency_p99_s": _find_quantile(latencies, 0.99),
        "at_first_try": sum(each.attempts == 1 for each in run.results.orders),
        "answers": dict(run.results.statuses),
        "streams": dict(run.results.streams),
        "client_late_s": run.results.late_s,
        "cpu_s": dict(run.samples.cpu_s),
        "cpu_ms_an_order": sum(run.samples.cpu_s.values()) * 1000 / count,
        "kills": dict(run.kills),
        "stops": dict(run.stops),
    }


def _find_quantile(values: Sequence[float], share: float) -> float:
    return values[int(share * (len(values) - 1))] if values else 0.0


def _write_text(run: Run, figures: dict[str, Any]) -> str:
    plan, wrong = run.plan, [*run.verdict.wrong, *run.verdict.late]
    rows = [f"| {name} | {_show(value)} |" for name, value in figures.items()]
    faults = [f"| {at_s:.1f} | {fault.word} | {name} | {fault.lasts_s:.1f} |" for at_s, fault, name in run.done]
    return "\n".join(
        [
            "# Soak",
            "",
            f"{plan.seconds:.0f} s of an open loop at {plan.rate:g} orders/s, seed {plan.seed}: {run.kills.total()} "
            f"kills (-9) and {run.stops.total()} stops. "
            + ("Everything held." if not wrong else f"**{len(wrong)} things did not hold.**"),
            "",
            *(f"- {each}" for each in wrong),
            "",
            "![Rates, latencies, memory and queues; lines are kills, bands are stops](soak.png)",
            "",
            "Latencies count from the planned moment. A delivery is late by when it first came to a receiver, refused "
            "or not, counted from the event's own time. Memory is judged over the time in which a process is not "
            "killed: all of it for one HTTP process, half of it for one worker.",
            "",
            "| figure | value |",
            "|---|---|",
            *rows,
            "",
            "| second | what | process | for s |",
            "|---|---|---|---|",
            *faults,
            "",
        ]
    )


def _show(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_show(each)}" for name, each in sorted(value.items()))
    return f"{value:,.3f}".rstrip("0").rstrip(".") if isinstance(value, float) else f"{value:,}"


def draw(run: Run, path: Path) -> None:
    """Draw rates, latencies, memory and queues over time."""
    figure = Figure(figsize=(14, 15), layout="constrained")
    axes = figure.subplots(4, 1, sharex=True)
    _draw_rates(run, axes[0])
    _draw_latencies(run, axes[1])
    for axis, series, title in (
        (axes[2], run.samples.memory_mb, "memory, MB"),
        (axes[3], run.samples.queues, "waiting"),
    ):
        for name, points in sorted(series.items()):
            axis.plot([at for at, _ in points], [value for _, value in points], label=name, linewidth=1)
        axis.set_ylabel(title)
        axis.set_ylim(bottom=0)
        axis.legend(loc="upper left", fontsize=8)
    for axis in axes:
        _mark_faults(run, axis)
    axes[3].set_xlabel("seconds")
    handles = [axes[0].plot([], [], color=colour, label=f"{part} killed")[0] for part, colour in COLOURS.items()]
    figure.legend(handles=handles, loc="outside upper center", ncols=len(COLOURS), fontsize=9)
    figure.savefig(path, dpi=90)


def _draw_rates(run: Run, axis: Axes) -> None:
    width = min(LONGEST_BIN_S, run.plan.seconds / BINS)
    planned = Counter(int(each.planned_s // width) for each in run.results.orders)
    done = Counter(int(each.acknowledged_s // width) for each in run.results.orders if each.acknowledged_s is not None)
    for counts, label in ((planned, "arriving"), (done, "acknowledged")):
        bins = range(max(counts, default=0) + 1)
        axis.step([each * width for each in bins], [counts[each] / width for each in bins], label=label, where="post")
    axis.set_ylabel("orders a second")
    axis.set_ylim(bottom=0)
    axis.legend(loc="upper left", fontsize=8)


def _draw_latencies(run: Run, axis: Axes) -> None:
    done = [each for each in run.results.orders if each.acknowledged_s is not None]
    late = [max(0.001, (each.acknowledged_s or 0.0) - each.planned_s) for each in done]
    axis.scatter([each.planned_s for each in done], late, s=2, color="black", alpha=0.3)
    axis.set_yscale("log")
    axis.set_ylabel("s to acknowledgement")


def _mark_faults(run: Run, axis: Axes) -> None:
    for at_s, fault, _ in run.done:
        if fault.lasts_s:
            axis.axvspan(at_s, at_s + fault.lasts_s, color=COLOURS[fault.part], alpha=0.12, linewidth=0)
        else:
            axis.axvline(at_s, color=COLOURS[fault.part], alpha=0.5, linewidth=0.8)
