"""A run as one page of HTML that needs nothing else: no script, no font, no request; pictures are SVG within."""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Callable, Sequence
from html import escape
from typing import TYPE_CHECKING

import matplotlib as mpl

from benchmarks.harness.outcome import ANSWERED
from benchmarks.reports.document import Run
from benchmarks.reports.markdown import CLOCKS
from benchmarks.reports.tables import (
    MISSING,
    TextTable,
    index_figures,
    list_faults,
    list_group_tables,
    list_history,
    list_market_tables,
    list_solvers,
    list_sources,
    list_unsupported,
    summarise,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
nav a { margin-right: 1rem; color: #0057b8 }
"""
LEAST_BEST = ("failures", "gap bps p50", "p95", "max", "p99", "wall ms p50", "cpu ms p50", "below it bps p95")
"""Columns whose smallest value is marked, by how they begin; and those of times."""

SIZE = (7.2, 4.2)


def write_html(run: Run, history: Sequence[Run] = ()) -> str:
    """Return the page of a run; earlier runs of the same suite are its history."""
    title = f"Routers compared: suite {run['suite']}"
    groups = [group["name"] for group in run["groups"]]
    links = "".join(f'<a href="#g{number}">{escape(name)}</a> ' for number, name in enumerate(groups))
    parts = [
        f"<h1>{escape(title)}</h1>",
        f'<p class="faint">{escape(run["started"])} · commit {escape(run["facts"]["commit"] or MISSING)} · '
        f"{len(list_solvers(run))} solvers · {sum(len(group['requests']) for group in run['groups'])} requests</p>",
        f"<p>{_explain()}</p>",
        _write_table(summarise(run)),
        _write_pair([_draw_gaps(run, groups), _draw_times(run, groups)]),
        *(_write_table(table, words=True) for table in (list_faults(run), list_unsupported(run)) if table.rows),
        _write_growth(run),
        f"<h2>Groups</h2><nav>{links}</nav>",
        *(_write_group(run, number, group) for number, group in enumerate(groups)),
        "<h2>Start and memory</h2>",
        *(_write_table(table) for table in list_market_tables(run)),
        "<h2>History</h2>" + _write_table(list_history(run, history)) if len(history) > 1 else "",
        "<h2>What was asked, and where</h2>",
        _write_table(list_sources(run), words=True),
        _write_facts(run),
    ]
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{escape(title)}</title>'
    body = "\n".join(parts)
    return f'<!doctype html>\n<html lang="en"><head>{head}<style>{STYLE}</style></head>\n<body>{body}</body></html>\n'


def _explain() -> str:
    return (
        "Every answer was replayed in exact integers through the markets, as it stands and with each market used once "
        "for all that passes through it; the better counts, its gas valued by one model. <em>Gap</em> is how far the "
        "best there is can be above an answer at most, net of gas: a bound proven by duality, over routes of as many "
        "hops as the request allows. <em>Equal to the best</em> is the part of the requests on which no solver of this "
        f"run gave more. Percentiles are over what each answered. {escape(CLOCKS).replace('*', '')}"
    )


def _write_group(run: Run, number: int, group: str) -> str:
    tables = "".join(_write_table(table) for table in list_group_tables(run, group))
    pictures = _write_pair([_draw_gaps(run, [group]), _draw_times(run, [group])])
    opened = " open" if number == 0 else ""
    return f'<details id="g{number}"{opened}><summary>{escape(group)}</summary>{tables}{pictures}</details>'


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


def _list_values(run: Run, groups: Sequence[str], field: str) -> dict[str, list[float]]:
    """Return what each solver's answers have in a field, in the order in which reports name the solvers."""
    names = list_solvers(run)
    found: dict[str, list[float]] = {name: [] for name in names.values()}
    for row in run["answers"]:
        if row["group"] in groups:
            counted = [each for each in row["outcomes"] if each["status"] == ANSWERED]
            found[names[row["solver"]]] += [each[field] for each in counted if field in each]
    return found


def _count(run: Run, groups: Sequence[str]) -> int:
    return sum(len(group["requests"]) for group in run["groups"] if group["name"] in groups)


def _draw_gaps(run: Run, groups: Sequence[str]) -> str:
    from routing_engine.pictures.distributions import draw_gaps

    return _draw(lambda: draw_gaps(_list_values(run, groups, "gap_bps"), _count(run, groups)))


def _draw_times(run: Run, groups: Sequence[str]) -> str:
    from routing_engine.pictures.distributions import draw_times

    return _draw(lambda: draw_times(_list_values(run, groups, "wall_ms"), _count(run, groups)))


def _write_growth(run: Run) -> str:
    from routing_engine.pictures.distributions import draw_growth

    grown = {market["name"]: market["markets"] for market in run["markets"] if market["grows"]}
    if len(grown) < 2:
        return ""
    times: dict[str, list[tuple[int, float]]] = {}
    memory: dict[str, list[tuple[int, float]]] = {}
    values = index_figures(run)
    for solver, name in list_solvers(run).items():
        for market, pools in grown.items():
            groups = [group["name"] for group in run["groups"] if group["market"] == market]
            walls = sorted(_list_values(run, groups, "warm_wall_ms")[name])
            if walls:
                times.setdefault(name, []).append((pools, walls[len(walls) // 2]))
            if (solver, market, "memory") in values:
                memory.setdefault(name, []).append((pools, values[solver, market, "memory"][0]))
    pictures = [
        _draw(lambda: draw_growth(times, "median time of a warm call, ms")),
        _draw(lambda: draw_growth(memory, "most memory, MiB")),
    ]
    return f"<h2>Growth</h2>{_write_pair(pictures)}"


def _draw(draw: Callable[[], Axes]) -> str:
    """Return a picture as SVG that can stand within a page, its ids its own."""
    mpl.use("svg")
    from matplotlib import pyplot as plt

    from routing_engine.pictures.style import RC

    with plt.rc_context({**RC, "figure.figsize": SIZE}):
        figure = draw().figure
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
        plt.close(figure)  # type: ignore[arg-type]
    text = buffer.getvalue()
    return _name_apart(text[text.index("<svg") :])


def _name_apart(svg: str) -> str:
    """Prefix ids, so that several pictures can share a page; and leave out what points elsewhere."""
    prefix = f"p{zlib.crc32(svg.encode()):x}-"
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\bid="', f'id="{prefix}', svg)
    return re.sub(r'(xlink:href="|href="|url\()#', rf"\1#{prefix}", svg)
