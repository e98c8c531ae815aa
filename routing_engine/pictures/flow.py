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

TITLE_WIDTH = 100
"""Characters in a line."""

LEAST = 0.004
"""Thinner bands would not be seen."""

TURNS = 8
"""So often columns are put into order, forth and back; more changes nothing that is seen."""

LABEL = {"facecolor": "white", "edgecolor": "none", "alpha": 0.7, "pad": 0.8}
"""Behind the names of tokens, which stand on bands."""


@dataclass(slots=True)
class Node:
    """A token in the picture: its column, its bar's lower end, and how much of the input passes."""

    column: int
    size: float
    bottom: float = 0.0

    @property
    def middle(self) -> float:
        """Where its bar has its middle."""
        return self.bottom + self.size / 2


@dataclass(frozen=True, slots=True)
class Band:
    """A market in the picture: its part of the input, and the lower edges of both its ends."""

    hop: Hop
    share: float
    left: float
    right: float


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
        for band in _attach_bands(route, shares, nodes):
            _draw_band(ax, nodes, band, marks[band.hop.protocol])
        for token, node in nodes.items():
            size = max(node.size, LEAST)
            ax.add_patch(Rectangle((node.column - BAR, node.bottom), 2 * BAR, size, color=INK, zorder=3))
            ax.annotate(
                str(token), (node.column, node.bottom + size), (0, 2),
                textcoords="offset points", ha="center", va="bottom", fontsize=8, bbox=LABEL,
            )  # fmt: skip
        for name, mark in marks.items():
            ax.bar(0, 0, color=_colour(mark), hatch=HATCHES[mark % len(HATCHES)], label=name)
        if marks:
            ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.02), ncols=min(len(marks), 5))
        ax.set_title(fill(route.summary, TITLE_WIDTH), fontsize=10)
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
    """Place tokens: each right of all that lead to it, and near to what it is joined with, so that few bands cross."""
    columns: dict[Token, int] = {route.token_in: 0}
    sizes: defaultdict[Token, float] = defaultdict(float, {route.token_in: 1.0})
    for hop, share in zip(route.hops, shares, strict=True):
        columns[hop.token_out] = max(columns.get(hop.token_out, 0), columns[hop.token_in] + 1)
        sizes[hop.token_out] += share
    last = max(columns.values())
    columns[route.token_out] = last
    nodes = {token: Node(column, sizes[token]) for token, column in columns.items()}
    stacks = [[token for token in nodes if columns[token] == column] for column in range(last + 1)]
    for stack in stacks:
        _stack(nodes, stack)
    for turn in range(TURNS):
        pulls = _measure_pulls(route, shares, nodes, is_forward=turn % 2 == 0)
        for stack in stacks:
            stack.sort(key=lambda token: pulls.get(token, nodes[token].middle))
            _stack(nodes, stack)
    return nodes


def _stack(nodes: Mapping[Token, Node], stack: list[Token]) -> None:
    """Put the tokens of a column on top of each other, in the middle of the picture."""
    height = sum(nodes[token].size for token in stack) + GAP * (len(stack) - 1)
    bottom = max(0.0, (1.0 - height) / 2)
    for token in stack:
        nodes[token].bottom, bottom = bottom, bottom + nodes[token].size + GAP


def _measure_pulls(
    route: Route, shares: list[float], nodes: Mapping[Token, Node], *, is_forward: bool
) -> dict[Token, float]:
    """Return for each token the mean height of those before it, or behind it, weighed by what flows between them."""
    sums: defaultdict[Token, float] = defaultdict(float)
    weights: defaultdict[Token, float] = defaultdict(float)
    for hop, share in zip(route.hops, shares, strict=True):
        token, other = (hop.token_out, hop.token_in) if is_forward else (hop.token_in, hop.token_out)
        sums[token] += share * nodes[other].middle
        weights[token] += share
    return {token: total / weights[token] for token, total in sums.items() if weights[token] > 0}


def _attach_bands(route: Route, shares: list[float], nodes: Mapping[Token, Node]) -> list[Band]:
    """Fix both ends of each market's band: at each token in the order of the bands' other ends."""
    flows = list(enumerate(zip(route.hops, shares, strict=True)))
    ends: list[dict[int, float]] = []
    for is_left in (True, False):
        reached = {token: node.bottom for token, node in nodes.items()}
        lower: dict[int, float] = {}
        order = sorted(flows, key=lambda flow: nodes[flow[1][0].token_out if is_left else flow[1][0].token_in].middle)
        for number, (hop, share) in order:
            token = hop.token_in if is_left else hop.token_out
            lower[number], reached[token] = reached[token], reached[token] + share
        ends.append(lower)
    return [Band(hop, share, ends[0][number], ends[1][number]) for number, (hop, share) in flows]


def _draw_band(ax: Axes, nodes: Mapping[Token, Node], band: Band, mark: int) -> None:
    """Draw a market from its input token's bar to its output token's; narrow bands lie on wide ones."""
    x0, x1 = nodes[band.hop.token_in].column + BAR, nodes[band.hop.token_out].column - BAR
    y0, y1 = band.left, band.right
    halfway, width = (x0 + x1) / 2, max(band.share, LEAST)
    points = [
        (x0, y0), (halfway, y0), (halfway, y1), (x1, y1),
        (x1, y1 + width), (halfway, y1 + width), (halfway, y0 + width), (x0, y0 + width), (x0, y0),
    ]  # fmt: skip
    codes = [Outline.MOVETO, *[Outline.CURVE4] * 3, Outline.LINETO, *[Outline.CURVE4] * 3, Outline.CLOSEPOLY]
    ax.add_patch(
        PathPatch(
            Outline(points, codes), facecolor=_colour(mark), alpha=0.75, edgecolor="white", linewidth=0.6,
            hatch=HATCHES[mark % len(HATCHES)], zorder=2 - band.share,
        )
    )  # fmt: skip


def _colour(mark: int) -> str:
    return COLOURS[mark % len(COLOURS)]
