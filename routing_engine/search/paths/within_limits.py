"""Single paths of an amount that is more than the last markets on the way take, or nearly.

The label with most is the best one to go on from only where markets take it. Where the last of them are soon full,
every label that the kernel keeps may be too large, and a path that loses more on the way is the best there is. So here
no label is kept that nothing takes on to the end, and labels of many sizes are.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from routing_engine.curves.kernels import edge_curve
from routing_engine.graph.graph import Graph
from routing_engine.jit.direct_call import Compiled
from routing_engine.kernels.arrays import Adjacency

SIZE, KEPT = 0.02, 24
"""By what part labels of a token differ at least, and how many a token keeps after each market."""

FOUND = 12
"""How many paths are returned at most."""

ROUNDING = 1e-9
"""Part by which a market may take more than the inverse of its curve says."""

_compute_amounts_out = Compiled(edge_curve.compute_amounts_out)
_compute_amounts_in = Compiled(edge_curve.compute_amounts_in)

Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]


class _Labels(NamedTuple):
    """Ways to tokens over equally many markets: what arrives, its gas in the root's units, and where it came from."""

    tokens: Numbers
    amounts: Floats
    costs: Floats
    edges: Numbers
    parents: Numbers

    def keep(self, kept: Numbers) -> _Labels:
        """Return some of them."""
        return _Labels(
            self.tokens[kept], self.amounts[kept], self.costs[kept], self.edges[kept], self.parents[kept]
        )  # fmt: skip


def find_within_limits(
    graph: Graph,
    start: int,
    end: int,
    amount: float,
    gas_cost: Floats,
    allowed: npt.NDArray[np.bool_],
    max_hops: int,
) -> list[tuple[int, ...]]:
    """Return paths that take an amount which is sold, as forward edges, the best net output first.

    Parameters
    ----------
    graph : Graph
        What to search.
    start, end : int
        Tokens; no path comes back to either.
    amount : float
        Smallest units of the first.
    gas_cost : float64 array
        From `Graph.gas_cost`.
    allowed : bool array, shape (markets,)
        Markets that may be used.
    max_hops : int
        Of a path at most.
    """
    rooms = _measure_rooms(graph, end, allowed, max_hops)
    found: dict[tuple[int, ...], float] = {}
    for hops in range(1, max_hops + 1):  # what longer paths would take keeps better short ones out
        _search(graph, (start, end), amount, gas_cost, allowed, rooms[:hops], found)
    return sorted(found, key=lambda edges: -found[edges])[:FOUND]


def _search(
    graph: Graph,
    ends: tuple[int, int],
    amount: float,
    gas_cost: Floats,
    allowed: npt.NDArray[np.bool_],
    rooms: list[Floats],
    found: dict[tuple[int, ...], float],
) -> None:
    """Add the best paths of at most as many hops as rooms are given of, with their net outputs, to those found."""
    zero = np.zeros(1, np.int64)
    labels = [_Labels(zero + ends[0], np.full(1, amount), np.zeros(1), zero - 1, zero - 1)]
    for room in reversed(rooms):
        new, scores = _extend(graph, labels, gas_cost, allowed, room, ends)
        at_end = np.flatnonzero(new.tokens == ends[1])
        for place in at_end[np.argsort(-scores[at_end], kind="stable")][:FOUND].tolist():
            found[_trace([*labels, new], place)] = scores.item(place)
        labels.append(new.keep(_thin_out(new, scores, ends[1])))


def _measure_rooms(graph: Graph, end: int, allowed: npt.NDArray[np.bool_], max_hops: int) -> list[Floats]:
    """Return what of each token can be taken on to the end at most, over no more market, over one and so on."""
    edges, tails = graph.forward.edges, graph.source
    usable = np.flatnonzero(allowed[edges["market"]] & (tails != end))
    edges, tails = edges[usable], tails[usable]
    rooms = [np.zeros(len(graph.tokens))]
    rooms[0][end] = np.inf
    for _ in range(max_hops - 1):
        there, last = rooms[-1][edges["other"]], rooms[-1].copy()
        taken = np.where(there > 0.0, edges["x_max"], 0.0)
        some = np.flatnonzero((there > 0.0) & (there < np.inf))
        needed = _compute_amounts_in(edges[some], graph.pieces, there[some]) * (1.0 + ROUNDING)
        taken[some] = np.fmin(taken[some], needed)
        np.maximum.at(last, tails, taken)
        rooms.append(last)
    return rooms


def _extend(
    graph: Graph,
    labels: list[_Labels],
    gas_cost: Floats,
    allowed: npt.NDArray[np.bool_],
    room: Floats,
    ends: tuple[int, int],
) -> tuple[_Labels, Floats]:
    """Return the last labels over one market more, as far as something takes them on, with their scores."""
    last, forward = labels[-1], graph.forward
    rows, parents = _list_rows(forward, last.tokens)
    edges = forward.edges
    heads, markets = edges["other"][rows].astype(np.int64), edges["market"][rows]
    may = allowed[markets] & (room[heads] > 0.0) & (heads != ends[0]) & _are_simple(graph, labels, rows, parents)
    rows, parents, heads = rows[may], parents[may], heads[may]
    taken = edges[rows]
    amounts = _compute_amounts_out(taken, graph.pieces, last.amounts[parents])
    kept = (amounts > 0.0) & (amounts <= room[heads])
    gas = taken["gas"][kept] * gas_cost[taken["chain"][kept]]
    rows, parents, heads, amounts = rows[kept], parents[kept], heads[kept], amounts[kept]
    new = _Labels(heads, amounts, last.costs[parents] + gas, rows, parents)
    return new, amounts - new.costs * graph.units[heads]


def _list_rows(forward: Adjacency, tokens: Numbers) -> tuple[Numbers, Numbers]:
    """Return the edges that leave each of some tokens, end to end, and of which token each is."""
    first, counts = forward.first[tokens], forward.first[tokens + 1] - forward.first[tokens]
    parents = np.repeat(np.arange(tokens.size), counts)
    return np.arange(parents.size) + (first - np.cumsum(counts) + counts)[parents], parents


def _are_simple(graph: Graph, labels: list[_Labels], rows: Numbers, parents: Numbers) -> npt.NDArray[np.bool_]:
    """Return which edges lead to a token, over a market, that their labels have not met."""
    edges = graph.forward.edges
    heads, markets = edges["other"][rows], edges["market"][rows]
    simple = np.ones(rows.size, np.bool_)
    for own, _ in pairwise(reversed(labels)):
        simple &= (own.tokens[parents] != heads) & (edges["market"][own.edges[parents]] != markets)
        parents = own.parents[parents]
    return simple


def _thin_out(labels: _Labels, scores: Floats, end: int) -> Numbers:
    """Return which labels are kept: of each token the largest, as far as they are not of about one size."""
    places = np.flatnonzero((labels.tokens != end) & (scores > 0.0))
    places = places[np.lexsort((-scores[places], labels.tokens[places]))]
    sizes = np.floor(np.log(scores[places]) / SIZE)
    tokens = labels.tokens[places]
    is_new = np.ones(places.size, np.bool_)
    is_new[1:] = (tokens[1:] != tokens[:-1]) | (sizes[1:] != sizes[:-1])
    places, tokens = places[is_new], tokens[is_new]
    rank = np.arange(places.size) - np.searchsorted(tokens, tokens)
    return places[rank < KEPT]


def _trace(labels: list[_Labels], place: int) -> tuple[int, ...]:
    """Return the edges of a way, the first one first."""
    edges: list[int] = []
    for own in labels[:0:-1]:
        edges.append(own.edges.item(place))
        place = own.parents.item(place)
    return tuple(reversed(edges))
