"""The pictures of a run, as SVG that can stand within a page."""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import matplotlib as mpl

from benchmarks.harness.outcome import ANSWERED
from benchmarks.reports.document import Run
from benchmarks.reports.tables import index_figures, list_solvers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE = (7.2, 4.2)


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


def show_gaps(run: Run, groups: Sequence[str]) -> str:
    """Return which part of some groups each solver answers within a gap."""
    from routing_engine.pictures.distributions import draw_gaps

    return _draw(lambda: draw_gaps(_list_values(run, groups, "gap_bps"), _count(run, groups)))


def show_times(run: Run, groups: Sequence[str]) -> str:
    """Return which part of some groups each solver answers within a time."""
    from routing_engine.pictures.distributions import draw_times

    return _draw(lambda: draw_times(_list_values(run, groups, "wall_ms"), _count(run, groups)))


def show_growth(run: Run) -> list[str]:
    """Return how time and memory grow with the markets; nothing where the run has no markets of several sizes."""
    from routing_engine.pictures.distributions import draw_growth

    grown = {market["name"]: market["markets"] for market in run["markets"] if market["grows"]}
    if len(grown) < 2:
        return []
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
    return [
        _draw(lambda: draw_growth(times, "median time of a warm call, ms")),
        _draw(lambda: draw_growth(memory, "most memory, MiB")),
    ]


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
