"""What a benchmark measured of several solvers: which part of the requests is within a gap, or a time; and growth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any

from matplotlib.ticker import LogLocator

from routing_engine.pictures.style import COLOURS, INK, LINES, MARKERS, show_plainly, use_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEAST_GAP_BPS = 0.01
"""Gaps below this are drawn on a linear scale: nobody tells them apart."""

MARKS = 7
"""On a line: without colours, four kinds of lines are not enough."""

ROOM = 1.5
"""Above and below the points of growth, of which the dotted line may leave the picture."""

DECADES = 30
"""Within less than this, powers of ten alone are too few numbers on an axis."""

BESIDE: Any = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)}
"""Where the legend is: lines go everywhere within the axes."""


def draw_gaps(gaps: Mapping[str, Sequence[float]], asked: int, ax: Axes | None = None) -> Axes:
    """Draw which part of the requests each solver answers within how many bps of the best there is.

    Parameters
    ----------
    gaps : mapping of str to sequence of float
        Of the requests that each answers, in bps; by the name that the legend shows.
    asked : int
        Requests in all: those without an answer are never within.
    ax : matplotlib axes, optional
        New ones without.
    """
    with use_style(ax) as ax:
        _draw_shares(gaps, asked, ax)
        ax.set_xscale("symlog", linthresh=LEAST_GAP_BPS, linscale=0.5)
        ax.set_xlim(0.0, 10_000.0)
        show_plainly(ax)
        ax.set_xlabel("proven gap to the best there is, bps, gas included")
        ax.set_title("Requests answered within a gap")
    return ax


def draw_times(times: Mapping[str, Sequence[float]], asked: int, ax: Axes | None = None) -> Axes:
    """Draw which part of the requests each solver answers within how many milliseconds; see `draw_gaps`."""
    with use_style(ax) as ax:
        _draw_shares(times, asked, ax)
        ax.set(xscale="log", xlabel="time, milliseconds")
        show_plainly(ax)
        ax.set_title("Requests answered within a time")
    return ax


def draw_growth(points: Mapping[str, Sequence[tuple[int, float]]], unit: str, ax: Axes | None = None) -> Axes:
    """Draw how a figure grows with the number of pools; the dotted line grows as they do.

    Parameters
    ----------
    points : mapping of str to sequence of (int, float)
        Pools and the figure, by the name that the legend shows.
    unit : str
        What the figure counts.
    ax : matplotlib axes, optional
        New ones without.
    """
    marks = zip(cycle(COLOURS), cycle(MARKERS), cycle(LINES), strict=False)
    with use_style(ax) as ax:
        for (name, found), (colour, marker, line) in zip(points.items(), marks, strict=False):
            ax.plot(*zip(*found, strict=True), color=colour, marker=marker, linestyle=line, label=name)
        every = [point for found in points.values() for point in found]
        if every:
            low, high = min(every), max(every)
            ax.plot([low[0], high[0]], [low[1], low[1] * high[0] / low[0]], color=INK, linestyle=":", linewidth=0.8)
        ax.set(xscale="log", yscale="log", xlabel="pools", ylabel=unit)
        if every:
            values = [value for _, value in every]
            ax.set_ylim(min(values) / ROOM, max(values) * ROOM)
        show_plainly(ax)
        if every and max(values) < DECADES * min(values):
            ax.yaxis.set_minor_locator(LogLocator(subs=(2, 5)))
            ax.yaxis.set_minor_formatter(ax.yaxis.get_major_formatter())
        ax.set_title(f"Growth, {unit}")
        if points:
            ax.legend(**BESIDE)
    return ax


def _draw_shares(values: Mapping[str, Sequence[float]], asked: int, ax: Axes) -> None:
    """Draw a step for each request, up to the part that has an answer."""
    looks = zip(cycle(COLOURS), cycle(LINES), cycle(MARKERS), strict=False)
    for (name, found), (colour, line, marker) in zip(values.items(), looks, strict=False):
        ordered = sorted(found)
        parts = [100 * number / asked for number in range(1, len(ordered) + 1)]
        ax.step(
            ordered, parts, where="post", color=colour, linestyle=line, label=name, marker=marker, markersize=4.5,
            markevery=max(1, len(ordered) // MARKS),
        )  # fmt: skip
    ax.set_ylim(0, 103)
    ax.set_ylabel("requests, %")
    ax.legend(**BESIDE)
