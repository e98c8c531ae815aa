"""A route as a flow: how its amount divides over tokens, markets and chains, and meets again."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import fill
from typing import TYPE_CHECKING

from matplotlib.patches import PathPatch, Rectangle
from matplotlib.path import Path as Outline

from routing_engine.model import Token
from routing_engine.pictures.flow_layout import GAP, Link, Node, Place, attach_bands, measure_shares, place_nodes
from routing_engine.pictures.style import COLOURS, HATCHES, INK, number_names, use_style
from routing_engine.route import Route

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LINE_PT = 12.0
"""Height of a token's name."""

INCHES, FRAME, TALLEST = 0.4, 2.0, 9.0
"""Height of a picture: for each token or lane in the fullest column, for what is around, and at most."""

BAR = 0.012
"""Half of a token's width, in columns."""

TITLE_WIDTH = 100
"""Characters in a line."""

LEAST = 0.004
"""Thinner bands would not be seen."""

LABEL = {"facecolor": "white", "edgecolor": "none", "alpha": 0.7, "pad": 0.8}
"""Behind the names of tokens, which stand on bands."""


def draw_route(route: Route, ax: Axes | None = None) -> Axes:
    """Draw a route as bands whose widths are parts of its input.

    Tokens are bars, in columns by the number of markets behind them. Bands are markets, coloured and hatched by
    protocol; a band between two chains is a bridge. A band that skips a column has a lane of its own there.

    Parameters
    ----------
    route : Route
        One path or many.
    ax : matplotlib axes, optional
        New ones without.
    """
    links, nodes = place_nodes(route, measure_shares(route))
    marks = number_names(hop.protocol for hop in route.hops)
    edges = attach_bands(links, nodes)
    columns = [
        {place: node for place, node in nodes.items() if node.column == column}
        for column in range(nodes[route.token_out].column + 1)
    ]
    with use_style(ax) as axes:
        if ax is None:
            _make_room(axes, max(map(len, columns)))
        for number, hop in enumerate(route.hops):
            _draw_band(
                axes, [(link, edges[link]) for link in links if link.number == number], nodes, marks[hop.protocol]
            )
        for name, mark in marks.items():
            axes.bar(0, 0, color=_colour(mark), hatch=HATCHES[mark % len(HATCHES)], label=name)
        if marks:
            axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.02), ncols=min(len(marks), 5))
        axes.set_title(fill(route.summary, TITLE_WIDTH), fontsize=10)
        axes.set_xlim(-0.3, len(columns) - 0.7)
        axes.set_ylim(-2 * GAP, max(node.bottom + node.size for node in nodes.values()) + 2 * GAP)
        axes.set_axis_off()
        line = _measure_line(axes)
        for column in columns:
            _draw_column(axes, column, line)
    return axes


def _make_room(ax: Axes, places: int) -> None:
    """Make a picture of its own as high as the names need of a column with so many tokens and lanes."""
    figure = ax.get_figure(root=True)
    if figure:
        width, height = figure.get_size_inches()
        figure.set_size_inches(width, min(TALLEST, max(height, FRAME + INCHES * places)))


def _measure_line(ax: Axes) -> float:
    """Return the height of a name as one of the axes."""
    figure, (low, high) = ax.get_figure(root=True), ax.get_ylim()
    if figure is None:
        return 0.0
    figure.draw_without_rendering()  # what stands around is laid out then
    pixels = LINE_PT * figure.dpi / 72
    return float(pixels / ax.get_window_extent().height * (high - low))


def _draw_column(ax: Axes, nodes: Mapping[Place, Node], line: float) -> None:
    """Draw a column's tokens, and the names of those through which most flows, as far as there is room for lines.

    How many have no name for want of room stands below.
    """
    named: list[float] = []
    tokens = sorted(
        ((each, node) for each, node in nodes.items() if isinstance(each, Token)), key=_get_size, reverse=True
    )
    for token, node in tokens:
        size = max(node.size, LEAST)
        ax.add_patch(Rectangle((node.column - BAR, node.bottom), 2 * BAR, size, color=INK, zorder=3))
        top = node.bottom + size
        if all(abs(top - other) >= line for other in named):
            named.append(top)
            _write(ax, str(token), (node.column, top), "bottom")
    if len(named) < len(tokens):
        lowest = min(node.bottom for node in nodes.values())
        _write(ax, f"and {len(tokens) - len(named)} more", (tokens[0][1].column, lowest), "top")


def _get_size(entry: tuple[Token, Node]) -> float:
    return entry[1].size


def _write(ax: Axes, text: str, at: tuple[float, float], edge: str) -> None:
    """Write above or below a point of the picture."""
    offset = (0, 2 if edge == "bottom" else -3)
    ax.annotate(text, at, offset, textcoords="offset points", ha="center", va=edge, fontsize=8, bbox=LABEL, zorder=4)


def _draw_band(
    ax: Axes, way: list[tuple[Link, tuple[float, float]]], nodes: Mapping[Place, Node], mark: int
) -> None:  # fmt: skip
    """Draw a market from its input token's bar to its output token's; narrow bands lie on wide ones."""
    share = way[0][0].share
    width, last = max(share, LEAST), len(way) - 1
    lower: list[tuple[float, float]] = []
    for number, (link, (y0, y1)) in enumerate(way):
        x0 = nodes[link.left].column + BAR * (number == 0)
        x1 = nodes[link.right].column - BAR * (number == last)
        halfway = (x0 + x1) / 2
        lower += [(x0, y0)] * (number == 0) + [(halfway, y0), (halfway, y1), (x1, y1)]
    upper = [(x, y + width) for x, y in reversed(lower)]
    curves = [Outline.CURVE4] * 3 * len(way)
    codes = [Outline.MOVETO, *curves, Outline.LINETO, *curves, Outline.CLOSEPOLY]
    ax.add_patch(
        PathPatch(
            Outline([*lower, *upper, lower[0]], codes), facecolor=_colour(mark), alpha=0.75, edgecolor="white",
            linewidth=0.6, hatch=HATCHES[mark % len(HATCHES)], zorder=2 - share,
        )
    )  # fmt: skip


def _colour(mark: int) -> str:
    return COLOURS[mark % len(COLOURS)]
