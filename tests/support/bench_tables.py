"""``python -m tests.support.bench_tables FILE`` publishes the last run of a file: its tables in the documents.

Without a file the tables are written anew from the runs that are published: one of each suite.
"""

from __future__ import annotations

import gzip
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.reports.document import Run, append_run, read_run
from benchmarks.reports.markdown import write_table
from benchmarks.reports.tables import (
    TextTable,
    Values,
    index_figures,
    list_faults,
    list_group_tables,
    list_market_tables,
    list_unsupported,
    show,
    summarise,
)

ROOT = Path(__file__).parents[2]
PUBLISHED = {suite: ROOT / "benchmarks" / "published" / f"{suite}.jsonl.gz" for suite in ("quick", "full", "growth")}
COMPARED = ("routing_engine", "water_fill", "path_frank_wolfe")
"""Solvers that take recorded markets."""


def write_facts(run: Run, asked: int) -> str:
    """Return what a run was, and whether its times say something."""
    facts = run["facts"]
    load = facts["load"].split(",")[0]
    busy = (
        " The machine was busy with other things: wall times and starts say little."
        if float(load) > int(facts["cores"])
        else ""
    )
    return (
        f"{asked:,} requests of the suite `{run['suite']}`, {run['started'][:10]}, commit {facts['commit']}, "
        f"{facts['cores']} cores of {facts['processor']}, load {load} at its end.{busy}\n\n"
    )


def write_summary(run: Run) -> str:
    """Return the table over everything, and where it is of."""
    _, _, table = write_table(summarise(run)).partition("\n\n")
    return write_facts(run, sum(len(group["requests"]) for group in run["groups"])) + table


def write_recorded(run: Run) -> str:
    """Return what a run says of recorded markets: a row for each group of requests."""
    recorded = {market["name"] for market in run["markets"] if market["source"] == "recorded"}
    groups = [group for group in run["groups"] if group["market"] in recorded]
    values = index_figures(run)
    columns = ("requests of Ethereum's recordings", "", *(f"{name}: gap" for name in COMPARED), "the best", "cpu ms")
    rows = tuple(tuple(_list_cells(group["name"], f"{len(group['requests']):,}", values)) for group in groups)
    _, _, table = write_table(TextTable("", columns, rows)).partition("\n\n")
    words = (
        "\n*Gap*: bps to the most that is proven to be there, net of gas, of half of the answers, and of 95 in 100, at "
        "most. *The best*: on how many requests no solver of the run gave more than `routing_engine`, of those with an "
        "answer. *cpu ms*: its processor time, certificate included, median and 95 in 100.\n"
    )
    return write_facts(run, sum(len(group["requests"]) for group in groups)) + table + words


def _list_cells(group: str, asked: str, values: Values) -> Iterator[str]:
    def pair(solver: str, name: str) -> str:
        found = [values.get((solver, group, f"{name} {rank}")) for rank in ("p50", "p95")]
        return "–" if None in found else " / ".join(map(show, found))

    yield from (group, asked)
    for solver in COMPARED:
        yield pair(solver, "gap")
    yield show(values.get((COMPARED[0], group, "equal to the best of this run")))
    yield pair(COMPARED[0], "cpu, first call")


def write_growth(run: Run) -> str:
    """Return how each solver's median time grows with the market, over what it answered."""
    values, groups = index_figures(run), [group["name"] for group in run["groups"]]
    columns = ("cpu ms, warm p50", *groups)
    rows = []
    for solver in run["solvers"]:
        times = [values.get((solver["solver"], group, "cpu, warm p50")) for group in groups]
        rows.append((solver["name"], *map(show, times)))
    _, _, table = write_table(TextTable("", columns, tuple(rows))).partition("\n\n")
    tables = [list_faults(run), *list_market_tables(run)]
    rest = [write_table(each) for each in tables if each.rows]
    return "\n".join([write_facts(run, sum(len(group["requests"]) for group in run["groups"])) + table, *rest])


def write_everything(run: Run) -> str:
    """Return what the page about benchmarks shows: everything but times of groups."""
    tables = [list_faults(run), list_unsupported(run)]
    tables += [next(iter(list_group_tables(run, group["name"]))) for group in run["groups"]]
    tables += list_market_tables(run)
    return "\n".join([write_summary(run), *(write_table(table) for table in tables if table.rows)])


def replace_part(text: str, name: str, part: str) -> str:
    """Return a document with what is between a name's marks replaced."""
    begin, end = f"<!-- bench {name} -->", f"<!-- /bench {name} -->"
    assert text.count(begin) == text.count(end) == 1, name
    return re.sub(f"{begin}\n.*?{end}", lambda _: f"{begin}\n{part.strip()}\n{end}", text, flags=re.DOTALL)


def write_documents() -> dict[Path, str]:
    """Return the documents as they should be, by path."""
    quick, full, growth = (read_run(str(path)) for path in PUBLISHED.values())
    readme, page = ROOT / "README.md", ROOT / "docs" / "benchmarks.md"
    texts = {path: path.read_text() for path in (readme, page)}
    parts = (
        (readme, "quick", write_summary(quick)), (readme, "recorded", write_recorded(full)),
        (page, "recorded", write_recorded(full)), (page, "quick", write_everything(quick)),
        (page, "growth", write_growth(growth)), (page, "full", write_everything(full)),
    )  # fmt: skip
    for path, name, part in parts:
        texts[path] = replace_part(texts[path], name, part)
    return texts


def publish(run: Run) -> None:
    """Keep a run as the one of its suite that the documents show."""
    path = PUBLISHED[run["suite"]]
    plain = path.with_suffix("")
    append_run(plain, run)
    path.write_bytes(gzip.compress(plain.read_bytes(), mtime=0))
    plain.unlink()


def main() -> None:
    """Publish."""
    if len(sys.argv) > 1:
        publish(read_run(sys.argv[1]))
    for path, text in write_documents().items():
        path.write_text(text)


if __name__ == "__main__":
    main()
