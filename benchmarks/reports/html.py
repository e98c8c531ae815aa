"""Runs as one page of HTML that needs nothing else: no script, no font, no request; pictures are SVG within."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape

from benchmarks.reports.document import Run
from benchmarks.reports.markdown import CLOCKS
from benchmarks.reports.page_pictures import show_gaps, show_growth, show_times
from benchmarks.reports.tables import (
    MISSING,
    TextTable,
    list_faults,
    list_group_tables,
    list_history,
    list_market_tables,
    list_solvers,
    list_sources,
    list_unsupported,
    summarise,
)

Told = tuple[Run, Sequence[Run]]
"""A run with the runs of its suite, which are its history."""

STYLE = """
:root { color-scheme: light; --ink: #1b1f24; --faint: #5b6570; --rule: #d8dee4; --best: #0b6e4f; --bad: #b42318 }
* { box-sizing: border-box }
body { margin: 0 auto; max-width: 76rem; padding: 2rem 1.25rem 4rem; color: var(--ink); background: #fff;
  font: 15px/1.5 system-ui, "Segoe UI", Helvetica, Arial, sans-serif }
h1 { font-size: 1.6rem; margin: 0 0 .25rem } h2 { font-size: 1.2rem; margin: 2.5rem 0 .25rem }
h3 { font-size: 1rem; margin: 1.5rem 0 .25rem } p, dl { max-width: 52rem } .faint, dt { color: var(--faint) }
.wide { overflow-x: auto } table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .87rem }
th, td { padding: .3rem .7rem; text-align: right; border-bottom: 1px solid var(--rule); white-space: nowrap }
th:first-child, td:first-child { text-align: left; padding-left: 0; position: sticky; left: 0; background: #fff }
.words td, .words th { text-align: left; white-space: normal; overflow-wrap: anywhere; vertical-align: top }
.words td:first-child { white-space: nowrap }
th { font-weight: 600; color: var(--faint); vertical-align: bottom; white-space: normal; min-width: 3.5rem }
td.best { color: var(--best); font-weight: 600 } td.bad { color: var(--bad); font-weight: 600 }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; font-size: .87rem } dd { margin: 0 }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 30rem), 1fr)); gap: 1rem;
  margin-top: 1.25rem }
.pair svg { width: 100%; height: auto } details { margin-top: 1rem } summary { cursor: pointer; font-weight: 600 }
nav a { margin-right: 1rem; color: #0057b8 } h2 a { color: inherit } section { margin-top: 3rem }
nav.top { position: sticky; top: 0; z-index: 1; padding: .5rem 0; background: #fff;
  border-bottom: 1px solid var(--rule) }
section, details { scroll-margin-top: 3rem } .suite { font-size: 1.45rem; border-top: 3px solid; padding-top: .75rem }
"""
LEAST_BEST = ("failures", "gap bps p50", "p95", "max", "p99", "wall ms p50", "cpu ms p50", "below it bps p95")
"""Columns whose smallest value is marked, by how they begin; and those of times."""


def write_html(told: Sequence[Told]) -> str:
    """Return the page of one run, or of several: then their pictures side by side come first, and each has a part."""
    suites = [run["suite"] for run, _ in told]
    title = f"Routers compared: suite{'s' * (len(told) > 1)} {', '.join(suites)}"
    parts = [f"<h1>{escape(title)}</h1>", f"<p>{_explain()}</p>"]
    if len(told) > 1:
        parts += [_link({f"s{number}": f"suite {suite}" for number, suite in enumerate(suites)}, "top")]
        parts += [_write_overview(number, run) for number, (run, _) in enumerate(told)]
    for number, (run, history) in enumerate(told):
        parts += [f'<section id="s{number}"><h2 class="suite">Suite {escape(run["suite"])}</h2>', _describe(run)]
        parts += [*_write_run(run, history, f"s{number}", has_overview=len(told) > 1), "</section>"]
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{escape(title)}</title>'
    body = "\n".join(parts)
    return f'<!doctype html>\n<html lang="en"><head>{head}<style>{STYLE}</style></head>\n<body>{body}</body></html>\n'


def _write_overview(number: int, run: Run) -> str:
    title = f'<h2><a href="#s{number}">Suite {escape(run["suite"])}</a></h2>'
    return title + _describe(run) + _write_table(summarise(run)) + _write_pair(_show_whole(run))


def _describe(run: Run) -> str:
    asked = sum(len(group["requests"]) for group in run["groups"])
    return (
        f'<p class="faint">{escape(run["started"])} · commit {escape(run["facts"]["commit"] or MISSING)} · '
        f"{len(list_solvers(run))} solvers · {asked:,} requests · load {escape(run['facts']['load'])}</p>"
    )


def _show_whole(run: Run) -> list[str]:
    groups = [group["name"] for group in run["groups"]]
    return [show_gaps(run, groups), show_times(run, groups), *show_growth(run)]


def _write_run(run: Run, history: Sequence[Run], prefix: str, *, has_overview: bool) -> Iterator[str]:
    """Yield the parts of one run; what an overview shows above is not shown again."""
    if not has_overview:
        yield _write_table(summarise(run)) + _write_pair(_show_whole(run))
    yield from (_write_table(table, words=True) for table in (list_faults(run), list_unsupported(run)) if table.rows)
    yield "<h2>Groups</h2>"
    yield _link({f"{prefix}g{number}": group["name"] for number, group in enumerate(run["groups"])})
    for number, group in enumerate(run["groups"]):
        yield _write_group(run, f"{prefix}g{number}", group["name"], is_open=number == 0)
    yield "<h2>Start and memory</h2>"
    yield from (_write_table(table) for table in list_market_tables(run))
    if len(history) > 1:
        yield "<h2>History</h2>" + _write_table(list_history(run, history))
    yield "<h2>What was asked, and where</h2>" + _write_table(list_sources(run), words=True) + _write_facts(run)


def _link(places: dict[str, str], kind: str = "") -> str:
    links = "".join(f'<a href="#{place}">{escape(name)}</a> ' for place, name in places.items())
    return f'<nav class="{kind}">{links}</nav>'


def _explain() -> str:
    return (
        "Every answer was replayed in exact integers through the markets, as it stands and with each market used once "
        "for all that passes through it; the better counts, its gas valued by one model. <em>Gap</em> is how far the "
        "best there is can be above an answer at most, net of gas: a bound proven by duality, over routes of as many "
        "hops as the request allows. <em>Equal to the best</em> is the part of the requests on which no solver of this "
        f"run gave more. Percentiles are over what each answered. {escape(CLOCKS).replace('*', '')}"
    )


def _write_group(run: Run, place: str, group: str, *, is_open: bool) -> str:
    tables = "".join(_write_table(table) for table in list_group_tables(run, group))
    pictures = _write_pair([show_gaps(run, [group]), show_times(run, [group])])
    opened = " open" if is_open else ""
    return f'<details id="{place}"{opened}><summary>{escape(group)}</summary>{tables}{pictures}</details>'


def _write_table(table: TextTable, *, words: bool = False) -> str:
    columns = [_mark(table, number) for number in range(len(table.columns))]
    head = "".join(f"<th>{escape(cell)}</th>" for cell in table.columns)
    rows = "".join(
        "<tr>"
        + "".join(f"<td{marks[line]}>{escape(cell)}</td>" for cell, marks in zip(row, columns, strict=True))
        + "</tr>"
        for line, row in enumerate(table.rows)
    )
    kind = ' class="words"' if words else ""
    return (
        f'<h3>{escape(table.title)}</h3><div class="wide"><table{kind}><thead><tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _mark(table: TextTable, number: int) -> list[str]:
    """Return the class of each cell of a column: failures are marked, and the least of times and gaps."""
    title, cells = table.columns[number], [row[number] for row in table.rows]
    if title == "failures":
        return ["" if cell in ("0", MISSING) else ' class="bad"' for cell in cells]
    values = [_read(cell) for cell in cells]
    known = [value for value in values if value is not None]
    if title not in LEAST_BEST or len(known) < 2 or table.columns[0] != "solver" or "solver" in table.columns[1:]:
        return [""] * len(cells)
    return [' class="best"' if value == min(known) else "" for value in values]


def _read(cell: str) -> float | None:
    found = re.fullmatch(r"<? ?([\d.,]+(?:e[+-]\d+)?)", cell)
    return float(found[1].replace(",", "")) if found else None


def _write_facts(run: Run) -> str:
    limits = run["limits"]
    facts = {**run["facts"], "limits": f"{limits['start']:g} s to start, {limits['answer']:g} s for an answer"}
    facts["solvers"] = ", ".join(f"{row['name']} {row['version']}".strip() for row in run["solvers"])
    rows = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in facts.items())
    return f"<dl>{rows}</dl>"


def _write_pair(pictures: Sequence[str]) -> str:
    return f'<div class="pair">{"".join(f"<div>{picture}</div>" for picture in pictures)}</div>'
