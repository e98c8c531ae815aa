"""What a run saw, for people; and what it should have seen and did not."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence

from api.openapi.document import list_operations
from tests.fuzz.arena import Arena
from tests.fuzz.run import Run

SLOWEST = 8
WRONG = {"error", "critical"}
"""Levels of lines in the log that tell of a fault in the service itself."""
ERRORS_SHOWN = 5


def write_report(run: Run) -> str:
    """Say how many requests each operation got and how they were answered, and how long that took."""
    judge, own = run.judge, read_own_times(run.arena)
    names = _list_names(run)
    others = sum((judge.statuses[name] for name in judge.statuses if name not in names), Counter[int]())
    slowest = sorted(judge.times, key=lambda each: -each.seconds)[:SLOWEST]
    lines = [
        f"{judge.cases:,} cases {dict(judge.parts)}, in seconds {dict(run.took)}, dice {run.number}",
        describe_times("caller's clock", [each.seconds * 1000 for each in judge.times]),
        describe_times("service's own ", own),
        f"over the limit at first: {run.late}",
        *(f"  {each.seconds * 1000:7.1f} ms  {each.what}" for each in slowest),
        *(f"  {name:26} {dict(sorted(judge.statuses[name].items()))}" for name in names),
        f"  {'other addresses, methods':26} {dict(sorted(others.items()))}",
    ]
    return "\n".join(lines)


def describe_times(whose: str, milliseconds: Sequence[float]) -> str:
    """Say how long answers took."""
    cuts = statistics.quantiles(milliseconds, n=1000)
    parts = {"p50": cuts[499], "p99": cuts[989], "p99.9": cuts[998], "max": max(milliseconds)}
    return f"{whose}: " + ", ".join(f"{name} {value:.1f} ms" for name, value in parts.items())


def read_own_times(arena: Arena) -> list[float]:
    """Return how many milliseconds the service says that it took for each answer, of which streams are the first."""
    return [float(str(line["ms"])) for line in arena.read_log() if line.get("event") == "request"]


def read_log_errors(arena: Arena) -> list[dict[str, object]]:
    """Return the first faults that the service's processes have logged."""
    return [line for line in arena.read_log() if line.get("level") in WRONG][:ERRORS_SHOWN]


def list_unreached(run: Run) -> list[str]:
    """Return the operations that never did what they were asked."""
    return [name for name in _list_names(run) if not any(200 <= status < 300 for status in run.judge.statuses[name])]


def _list_names(run: Run) -> list[str]:
    return [each["operationId"] for _, _, each in list_operations(run.judge.contract.document)]
