"""Where the tokens and bands of a route's picture are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from routing_engine.model import Token
from routing_engine.route import Route

GAP, GAPS = 0.06, 0.9
"""Between two tokens of one column, as a part of the route's input; and the most that all gaps of a column take."""

TURNS = 8
"""So often columns are put into order, forth and back; more changes nothing that is seen."""


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


def measure_shares(route: Route) -> list[float]:
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


def place_nodes(route: Route, shares: list[float]) -> tuple[list[Link], Mapping[Place, Node]]:
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
    gap = min(GAP, GAPS / max(1, len(stack) - 1))
    height = sum(nodes[place].size for place in stack) + gap * (len(stack) - 1)
    bottom = max(0.0, (1.0 - height) / 2)
    for place in stack:
        nodes[place].bottom, bottom = bottom, bottom + nodes[place].size + gap


def _measure_pulls(links: list[Link], nodes: Mapping[Place, Node], *, is_forward: bool) -> dict[Place, float]:
    """Return for each node the mean height of those before it, or behind it, weighed by what flows between them."""
    sums: defaultdict[Place, float] = defaultdict(float)
    weights: defaultdict[Place, float] = defaultdict(float)
    for link in links:
        place, other = (link.right, link.left) if is_forward else (link.left, link.right)
        sums[place] += link.share * nodes[other].middle
        weights[place] += link.share
    return {place: total / weights[place] for place, total in sums.items() if weights[place] > 0}


def attach_bands(links: list[Link], nodes: Mapping[Place, Node]) -> dict[Link, tuple[float, float]]:
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
