"""A route as a flow: how its amount divides over tokens, markets and chains, and meets again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from textwrap import fill
from typing import TYPE_CHECKING

from matplotlib.patches import PathPatch, Rectangle
from matplotlib.path import Path as Outline

from routing_engine.model import Token
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


Place = Token | tuple[Token, Token, int]
"""A token; or a lane in a column, on which markets from one token to another pass the tokens there."""


@dataclass(slots=True)
class Node:
    """A token or a lane in the picture: its column, its lower end, and how much of the input passes."""

    column: int
    size: float
    bottom: float = 0.0

    @property
    def middle(self) -> float:
        """Where it has its middle."""
        return self.bottom + self.size / 2


@dataclass(frozen=True, slots=True)
class Link:
    """A market's band from one column to the next: which hop's, its part of the input, and between what."""

    number: int
    share: float
    left: Place
    right: Place


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
    links, nodes = _place_nodes(route, _measure_shares(route))
    marks = number_names(hop.protocol for hop in route.hops)
    edges = _attach_bands(links, nodes)
    with use_style(ax) as ax:
        for number, hop in enumerate(route.hops):
            _draw_band(ax, [(link, edges[link]) for link in links if link.number == number], nodes, marks[hop.protocol])
        for token, node in nodes.items():
            if isinstance(token, Token):
                _draw_token(ax, token, node)
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


def _place_nodes(route: Route, shares: list[float]) -> tuple[list[Link], Mapping[Place, Node]]:
    """Place tokens: each right of all that lead to it, and near to what it is joined with, so that few bands cross."""
    columns: dict[Token, int] = {route.token_in: 0}
    for hop in route.hops:
        columns[hop.token_out] = max(columns.get(hop.token_out, 0), columns[hop.token_in] + 1)
    last = max(columns.values())
    columns[route.token_out] = last
    links = _list_links(route, shares, columns)
    nodes: dict[Place, Node] = {token: Node(column, 0.0) for token, column in columns.items()}
    nodes[route.token_in].size = 1.0
    for link in links:
        if not isinstance(link.right, Token):
            nodes.setdefault(link.right, Node(link.right[2], 0.0))
        nodes[link.right].size += link.share
    stacks = [[place for place, node in nodes.items() if node.column == column] for column in range(last + 1)]
    for stack in stacks:
        _stack(nodes, stack)
    for turn in range(TURNS):
        pulls = _measure_pulls(links, nodes, is_forward=turn % 2 == 0)
        for stack in stacks:
            stack.sort(key=lambda place: pulls.get(place, nodes[place].middle))
            _stack(nodes, stack)
    return links, nodes


def _list_links(route: Route, shares: list[float], columns: Mapping[Token, int]) -> list[Link]:
    """Return each hop's way from column to column."""
    links = []
    for number, (hop, share) in enumerate(zip(route.hops, shares, strict=True)):
        between = range(columns[hop.token_in] + 1, columns[hop.token_out])
        way: list[Place] = [hop.token_in, *((hop.token_in, hop.token_out, each) for each in between), hop.token_out]
        links += [Link(number, share, left, right) for left, right in pairwise(way)]
    return links


def _stack(nodes: Mapping[Place, Node], stack: list[Place]) -> None:
    """Put what a column has on top of each other, in the middle of the picture."""
    height = sum(nodes[place].size for place in stack) + GAP * (len(stack) - 1)
    bottom = max(0.0, (1.0 - height) / 2)
    for place in stack:
        nodes[place].bottom, bottom = bottom, bottom + nodes[place].size + GAP


def _measure_pulls(links: list[Link], nodes: Mapping[Place, Node], *, is_forward: bool) -> dict[Place, float]:
    """Return for each node the mean height of those before it, or behind it, weighed by what flows between them."""
    sums: defaultdict[Place, float] = defaultdict(float)
    weights: defaultdict[Place, float] = defaultdict(float)
    for link in links:
        place, other = (link.right, link.left) if is_forward else (link.left, link.right)
        sums[place] += link.share * nodes[other].middle
        weights[place] += link.share
    return {place: total / weights[place] for place, total in sums.items() if weights[place] > 0}


def _attach_bands(links: list[Link], nodes: Mapping[Place, Node]) -> dict[Link, tuple[float, float]]:
    """Fix both lower ends of each link: at each node in the order of the links' other ends."""
    ends: list[dict[Link, float]] = []
    for is_left in (True, False):
        reached = {place: node.bottom for place, node in nodes.items()}
        lower: dict[Link, float] = {}
        for link in sorted(links, key=lambda link: nodes[link.right if is_left else link.left].middle):
            place = link.left if is_left else link.right
            lower[link], reached[place] = reached[place], reached[place] + link.share
        ends.append(lower)
    return {link: (ends[0][link], ends[1][link]) for link in links}


def _draw_token(ax: Axes, token: Token, node: Node) -> None:
    size = max(node.size, LEAST)
    ax.add_patch(Rectangle((node.column - BAR, node.bottom), 2 * BAR, size, color=INK, zorder=3))
    ax.annotate(
        str(token), (node.column, node.bottom + size), (0, 2),
        textcoords="offset points", ha="center", va="bottom", fontsize=8, bbox=LABEL,
    )  # fmt: skip


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
