"""A route as a flow: how its amount divides over tokens, markets and chains, and meets again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from textwrap import fill
from typing import TYPE_CHECKING

from matplotlib.patches import PathPatch, Rectangle
from matplotlib.path import Path as Outline

from routing_engine.model import Hop, Token
from routing_engine.pictures.style import COLOURS, HATCHES, INK, number_names, use_style
from routing_engine.route import Route

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GAP = 0.06
"""Between two tokens of one column, as a part of the route's input."""

BAR = 0.012
"""Half of a token's width, in columns."""

TITLE_WIDTH = 90
"""Characters in a line."""

LEAST = 0.004
"""Thinner bands would not be seen."""


LABEL = {"facecolor": "white", "edgecolor": "none", "alpha": 0.7, "pad": 0.8}
"""Behind the names of tokens, which stand on bands."""


@dataclass(slots=True)
class Node:
    """A token in the picture: its column, where its bar begins, and how much of the input passes."""

    column: int
    size: float
    bottom: float = 0.0
    left: float = 0.0
    right: float = 0.0


def draw_route(route: Route, ax: Axes | None = None) -> Axes:
    """Draw a route as bands whose widths are parts of its input.

    Tokens are bars, in columns by the number of markets behind them. Bands are markets, coloured and hatched by
    protocol; a band between two chains is a bridge.

    Parameters
    ----------
    route : Route
        One path or many.
    ax : matplotlib axes, optional
        New ones without.
    """
    shares = _measure_shares(route)
    nodes = _place_nodes(route, shares)
    marks = number_names(hop.protocol for hop in route.hops)
    with use_style(ax) as ax:
        for hop, share in zip(route.hops, shares, strict=True):
            _draw_band(ax, nodes, hop, share, marks[hop.protocol])
        for token, node in nodes.items():
            ax.add_patch(Rectangle((node.column - BAR, node.bottom), 2 * BAR, max(node.size, LEAST), color=INK))
            ax.annotate(
                str(token), (node.column, node.bottom + max(node.size, LEAST)), (0, 2),
                textcoords="offset points", ha="center", va="bottom", fontsize=8, bbox=LABEL,
            )  # fmt: skip
        for name, mark in marks.items():
            ax.bar(0, 0, color=_colour(mark), hatch=HATCHES[mark % len(HATCHES)], label=name)
        if marks:
            ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.02), ncols=min(len(marks), 5))
        ax.set_title(fill(route.summary, TITLE_WIDTH))
        ax.set_xlim(-0.3, max(node.column for node in nodes.values()) + 0.3)
        ax.set_ylim(-0.02, max(node.bottom + node.size for node in nodes.values()) + 2 * GAP)
        ax.set_axis_off()
    return ax


def _measure_shares(route: Route) -> list[float]:
    """Return for each hop the part of the route's input that goes through it."""
    spent: defaultdict[Token, int] = defaultdict(int)
    for hop in route.hops:
        spent[hop.token_in] += hop.amount_in
    held: defaultdict[Token, float] = defaultdict(float, {route.token_in: 1.0})
    shares = []
    for hop in route.hops:
        shares.append(held[hop.token_in] * hop.amount_in / max(spent[hop.token_in], 1))
        held[hop.token_out] += shares[-1]
    return shares


def _place_nodes(route: Route, shares: list[float]) -> Mapping[Token, Node]:
    """Place tokens: each right of all that lead to it; in a column, the largest in the middle line's order."""
    columns: dict[Token, int] = {route.token_in: 0}
    sizes: defaultdict[Token, float] = defaultdict(float, {route.token_in: 1.0})
    for hop, share in zip(route.hops, shares, strict=True):
        columns[hop.token_out] = max(columns.get(hop.token_out, 0), columns[hop.token_in] + 1)
        sizes[hop.token_out] += share
    last = max(columns.values())
    columns[route.token_out] = last
    nodes = {token: Node(column, sizes[token]) for token, column in columns.items()}
    for column in range(last + 1):
        here = sorted((node for node in nodes.values() if node.column == column), key=lambda node: node.size)
        height = sum(node.size for node in here) + GAP * (len(here) - 1)
        bottom = max(0.0, (1.0 - height) / 2)
        for node in here:
            node.bottom, bottom = bottom, bottom + node.size + GAP
    return nodes


def _draw_band(ax: Axes, nodes: Mapping[Token, Node], hop: Hop, share: float, mark: int) -> None:
    """Draw a market from its input token's bar to its output token's, on top of those drawn before."""
    source, target = nodes[hop.token_in], nodes[hop.token_out]
    x0, x1 = source.column + BAR, target.column - BAR
    y0, y1 = source.bottom + source.right, target.bottom + target.left
    source.right, target.left = source.right + share, target.left + share
    halfway, width = (x0 + x1) / 2, max(share, LEAST)
    points = [
        (x0, y0), (halfway, y0), (halfway, y1), (x1, y1),
        (x1, y1 + width), (halfway, y1 + width), (halfway, y0 + width), (x0, y0 + width), (x0, y0),
    ]  # fmt: skip
    codes = [Outline.MOVETO, *[Outline.CURVE4] * 3, Outline.LINETO, *[Outline.CURVE4] * 3, Outline.CLOSEPOLY]
    ax.add_patch(
        PathPatch(
            Outline(points, codes), facecolor=_colour(mark), alpha=0.75, edgecolor="white", linewidth=0.6,
            hatch=HATCHES[mark % len(HATCHES)],
        )
    )  # fmt: skip


def _colour(mark: int) -> str:
    return COLOURS[mark % len(COLOURS)]
