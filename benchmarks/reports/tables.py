"""A run as tables of text: for Markdown and HTML alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.harness.outcome import ANSWERED, NONE
from benchmarks.reports.document import Run
from benchmarks.reports.figures import EVERYTHING, GROWTH

MISSING = "–"
CLOCK = "wall, first call"
QUALITY = (
    ("answered", "coverage"), ("failures", "failures"), ("gap bps p50", "gap p50"), ("p95", "gap p95"),
    ("max", "gap max"), ("equal to the best", "equal to the best of this run"),
    ("below it bps p95", "below the best of this run p95"), ("swaps", "swaps p50"), ("gas p50", "gas p50"),
)  # fmt: skip
"""Columns of quality, each of a figure."""

SUMMARY = (
    ("answered", "coverage"), ("failures", "failures"), ("gap bps p50", "gap p50"), ("p95", "gap p95"),
    ("equal to the best", "equal to the best of this run"), ("wall ms p50", f"{CLOCK} p50"), ("p95", f"{CLOCK} p95"),
    ("p99", f"{CLOCK} p99"), ("cpu ms p50", "cpu, first call p50"), ("p95", "cpu, first call p95"),
    ("p99", "cpu, first call p99"), ("start s", "start"), ("MiB", "memory"),
)  # fmt: skip
TIMES = tuple(
    (f"{label} p50" if rank == 50 else f"p{rank}", f"{clock} p{rank}")
    for clock, label in (
        ("wall, first call", "wall ms, first"), ("cpu, first call", "cpu ms, first"), ("wall, warm", "wall ms, warm"),
        ("cpu, warm", "cpu ms, warm"),
    )
    for rank in (50, 95, 99)
)  # fmt: skip
MARKET = (("start s", "start"), ("very first request ms", "very first request"), ("MiB", "memory"))

Values = Mapping[tuple[str, str, str], tuple[float, str]]


@dataclass(frozen=True, slots=True)
class TextTable:
    """Cells of text; the first column holds words, the others figures."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def index_figures(run: Run) -> Values:
    """Return values and units by solver, what they were measured on, and name."""
    return {(row["solver"], row["on"], row["name"]): (row["value"], row["unit"]) for row in run["figures"]}


def list_solvers(run: Run) -> dict[str, str]:
    """Return how reports name the solvers, by what they were asked for as."""
    rows = run["solvers"]
    counts = Counter(row["name"] for row in rows)
    return {row["solver"]: row["name"] if counts[row["name"]] == 1 else row["solver"] for row in rows}


def summarise(run: Run) -> TextTable:
    """Return one row a solver, over all groups."""
    asked = "the markets asked before it was cut" if run.get("cut") else "everything"
    return _table(run, EVERYTHING, SUMMARY, f"Suite {run['suite']}, {asked}", lacking=True)


def list_group_tables(run: Run, group: str) -> Iterator[TextTable]:
    """Yield what came of one group: quality, then times."""
    for title, columns in (("quality", (*QUALITY, *_known(run, group))), ("times", TIMES)):
        yield _table(run, group, columns, f"{group}: {title}")


def list_market_tables(run: Run) -> Iterator[TextTable]:
    """Yield starts and memory of each market, and how they grow."""
    for market in run["markets"]:
        yield _table(run, market["name"], MARKET, f"{market['name']}: start and memory")
    names = ("time, power of markets", "memory, power of markets")
    if any(row["on"] == GROWTH for row in run["figures"]):
        columns = tuple(zip(("median time grows as pools to the", "memory grows as pools to the"), names, strict=True))
        yield _table(run, GROWTH, columns, "Growth")


def list_faults(run: Run) -> TextTable:
    """Return what failed, by solver and reason, with one example each."""
    names = list_solvers(run)
    counts: Counter[tuple[str, str]] = Counter()
    example: dict[tuple[str, str], str] = {}
    for row in run["answers"]:
        for outcome in row["outcomes"]:
            if outcome["status"] not in (ANSWERED, NONE):
                key = names[row["solver"]], outcome["status"]
                counts[key] += 1
                example.setdefault(key, f"{row['group']}: {outcome.get('detail', '')}")
    rows = tuple((*key, f"{count:,}", _cut(example[key])) for key, count in sorted(counts.items()))
    return TextTable("Answers that do not count", ("solver", "reason", "requests", "for example"), rows)


def list_unsupported(run: Run) -> TextTable:
    """Return which markets solvers do not take."""
    names = list_solvers(run)
    reasons: dict[tuple[str, str], list[str]] = {}
    for row in run["unsupported"]:
        reasons.setdefault((names[row["solver"]], row["reason"]), []).append(row["market"])
    rows = tuple((solver, ", ".join(markets), reason) for (solver, reason), markets in reasons.items())
    return TextTable("Markets that solvers do not take", ("solver", "markets", "why"), rows)


def list_sources(run: Run) -> TextTable:
    """Return what was asked, on what, with the hashes that make it the same elsewhere."""
    markets = {each["name"]: each for each in run["markets"]}
    rows = []
    for group in run["groups"]:
        market = markets[group["market"]]
        left = f", {group['left_out']:,} left out" if group["left_out"] else ""
        size = f"{market['markets']:,} / {market['tokens']:,}"
        cells = (
            group["name"],
            f"{len(group['requests']):,}{left}",
            market["source"],
            size,
            market["hash"],
            group["hash"],
        )
        rows.append(cells)
    columns = ("group", "requests", "market", "markets / tokens", "market's hash", "requests' hash")
    return TextTable("What was asked", columns, tuple(rows))


def list_history(run: Run, history: Sequence[Run]) -> TextTable:
    """Return the same suite's figures in earlier runs, newest last."""
    rows = []
    for each in history:
        values = index_figures(each)
        for solver, name in list_solvers(each).items():
            cells = [show(values.get((solver, EVERYTHING, figure))) for _, figure in SUMMARY]
            rows.append((f"{each['started'][:16]} {each['facts']['commit']}", name, *cells))
    return TextTable("The same suite before", ("run", "solver", *(title for title, _ in SUMMARY)), tuple(rows))


def show(found: tuple[float, str] | None) -> str:
    """Return a figure for people: few digits, `MISSING` where there is none."""
    if found is None:
        return MISSING
    value, unit = found
    if unit == "%":
        return f"{value:.4g} %"
    if unit in ("requests", "gas units"):
        return f"{value:,.0f}"
    if value and abs(value) < 0.001:
        return "< 0.001" if value > 0 else "> -0.001"
    return f"{value:,.3g}" if abs(value) < 1000 else f"{value:,.0f}"


def _known(run: Run, group: str) -> tuple[tuple[str, str], ...]:
    names = [row["name"] for row in run["figures"] if row["on"] == group and row["name"].startswith("above ")]
    return tuple((f"bps {name}", name) for name in dict.fromkeys(names) if name != "above the bound")


def _table(
    run: Run, on: str, columns: tuple[tuple[str, str], ...], title: str, *, lacking: bool = False
) -> TextTable:  # fmt: skip
    values = index_figures(run)
    rows = []
    for solver, name in list_solvers(run).items():
        found = [values.get((solver, on, figure)) for _, figure in columns]
        if lacking or any(each is not None for each in found):
            rows.append((name, *map(show, found)))
    return TextTable(title, ("solver", *(shown for shown, _ in columns)), tuple(rows))


def _cut(text: str, most: int = 160) -> str:
    return text if len(text) <= most else f"{text[:most]}…"
