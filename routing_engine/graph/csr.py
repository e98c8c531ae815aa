"""Where the edges of each market lie in a graph's arrays, and how new ones are written there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from routing_engine.curves.kernels.mobius_pieces import ABOVE
from routing_engine.graph.copy_on_write import Buffers
from routing_engine.graph.edge_rows import EdgeRows
from routing_engine.graph.structured_rows import Records, put_rows, take_rows
from routing_engine.kernels.arrays import LINK, Adjacency

Ints = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.int32]
Memory = tuple[Buffers, Buffers, Buffers, Buffers]
Pieces = npt.NDArray[np.float64]

PAIR = 2
"""Edges of a market that trades two tokens."""


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """What stays the same while markets change their state, but not their edges.

    Rows are counted as `EdgeRows` has them: market after market.

    Parameters
    ----------
    first : int64 array, shape (markets + 1,)
        Rows of market i are first[i] to first[i + 1].
    forward : int64 array, shape (rows,)
        Place of each row among the forward edges.
    opposite : int64 array, shape (rows,)
        For each forward edge that of the same market in the other direction, -1 where there is none.
    is_paired : bool
        Whether no market trades more than two tokens.
    """

    first: Ints
    forward: Ints
    opposite: Ints
    is_paired: bool

    def rows_of(self, numbers: Ints) -> Ints:
        """Return the rows of some markets, in the order of the markets."""
        counts = self.first[numbers + 1] - self.first[numbers]
        ends = np.cumsum(counts)
        return np.repeat(self.first[numbers] - ends + counts, counts) + np.arange(int(counts.sum()))


def lay_out(
    rows: EdgeRows, source: Numbers, target: Numbers, tokens: int
) -> tuple[Layout, Adjacency, Adjacency, Pieces]:
    """Sort rows by token_in and by token_out, and let each edge know its twin in the other order.

    Parameters
    ----------
    rows : EdgeRows
        Of all markets.
    source, target : int32 array, shape (rows,)
        Token numbers.
    tokens : int
        How many tokens there are.
    """
    records = rows.records.copy()
    records["other"] = target
    records["market"] = np.repeat(np.arange(rows.first.size - 1), np.diff(rows.first))
    pieces = _join(rows.pieces)
    records["piece"] = _find_starts(_count_pieces(records))
    order = np.argsort(source, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    edges = take_rows(records, order)
    back = np.argsort(edges["other"], kind="stable")
    edges["twin"][back] = np.arange(back.size)
    forward = Adjacency(_find_offsets(source[order], tokens), edges, _link(edges))
    reversed_edges = take_rows(edges, back)
    reversed_edges["twin"] = back
    reversed_edges["other"] = source[order][back]
    reverse = Adjacency(_find_offsets(edges["other"][back], tokens), reversed_edges, _link(reversed_edges))
    opposite = _find_opposites(edges["market"], source[order], edges["other"])
    layout = Layout(rows.first, place, opposite, is_paired=bool(np.diff(rows.first).max(initial=0) <= PAIR))
    return layout, forward, reverse, pieces


def write_states(
    rows: EdgeRows, at: Ints, layout: Layout, ways: tuple[Adjacency, Adjacency], old: Pieces, buffers: Memory
) -> tuple[Adjacency, Adjacency, Pieces]:
    """Return the edges and pieces with new states of some markets, that have the same edges as before.

    Parameters
    ----------
    rows : EdgeRows
        Of these markets.
    at : int64 array
        Their rows in the layout.
    ways : pair of Adjacency
        Forward and reverse; left as they are, like the pieces; what is returned is copies.
    old : float64 array
        Pieces belonging to the edges.
    buffers : tuple of Buffers
        For copies of forward and of reverse edges, and of their links.
    """
    places, (forward, reverse) = layout.forward[at], (each.edges for each in ways)
    before = take_rows(forward, places)
    twins = before["twin"].copy()
    records, others = rows.records, reverse["other"][twins]  # nobody else has a use for these records
    for name in ("other", "market", "chain", "twin", "piece"):
        records[name] = before[name]
    was, now = _count_pieces(before), _count_pieces(records)
    shifts = bool((was != now).any())
    sizes = _count_pieces(take_rows(forward, layout.forward)) if was.any() or now.any() else None
    # Where a market has more or fewer pieces than before, those of all markets after it move.
    forward = buffers[0].copy_of(forward, None if shifts else places)
    reverse = buffers[1].copy_of(reverse, None if shifts else twins)
    there, back = buffers[2].copy_of(ways[0].links, places), buffers[3].copy_of(ways[1].links, twins)
    put_rows(forward, places, records)
    put_rows(there, places, _link(records))
    records["other"], records["twin"] = others, places
    put_rows(reverse, twins, records)
    put_rows(back, twins, _link(records))
    pieces = old if sizes is None else _splice(old, sizes, at, was + now, rows.pieces)
    if shifts:
        forward["piece"][layout.forward] = _find_starts(_count_pieces(take_rows(forward, layout.forward)))
        reverse["piece"][forward["twin"]] = forward["piece"]
    return Adjacency(ways[0].first, forward, there), Adjacency(ways[1].first, reverse, back), pieces


def _link(edges: Records) -> Records:
    """Return what searches ask of every edge."""
    links = np.empty(edges.size, LINK)
    links["other"], links["rate"] = edges["other"], round_up(edges["max_average_price"])
    return links


def round_up(rates: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
    """Return rates in half the precision, larger by so much that what is computed with the exact ones is not larger."""
    with np.errstate(over="ignore"):
        return np.nextafter(rates.astype(np.float32), np.float32(np.inf))


def _count_pieces(records: Records) -> Ints:
    """Return how many rows of the table of pieces belong to each edge: an only piece lies in the edge itself."""
    counts = records["n_pieces"].astype(np.int64)
    return np.where(counts > 1, counts, 0)


def _find_starts(counts: Ints) -> Ints:
    """Return where each row's pieces begin; 0 for rows without."""
    return np.where(counts > 0, np.cumsum(counts) - counts, 0)


def _join(blocks: Mapping[int, Pieces]) -> Pieces:
    return np.concatenate([blocks[row] for row in sorted(blocks)]) if blocks else np.empty((0, ABOVE + 1))


def _splice(
    table: Pieces,
    sizes: Ints,
    at: Ints,
    concerned: Ints,
    blocks: Mapping[int, Pieces],
) -> Pieces:
    """Return a table in which the parts of the rows `at` are replaced; `concerned` is above 0 where there is any."""
    ends = np.cumsum(sizes)
    parts: list[Pieces] = []
    done = 0
    for number in sorted(np.flatnonzero(concerned).tolist(), key=lambda number: int(at[number])):
        end = int(ends[at[number]])
        parts.append(table[done : end - int(sizes[at[number]])])
        if number in blocks:
            parts.append(blocks[number])
        done = end
    return np.concatenate([*parts, table[done:]]) if parts else table


def _find_opposites(market: Numbers, source: Numbers, target: Numbers) -> Ints:
    """Return for each edge the one of the same market from its target to its source, or -1."""
    low, high = np.minimum(source, target), np.maximum(source, target)
    order = np.lexsort((high, low, market))
    keys = np.stack((market[order], low[order], high[order]))
    pairs = np.flatnonzero((keys[:, 1:] == keys[:, :-1]).all(axis=0))
    opposite = np.full(market.size, -1, np.int64)
    opposite[order[pairs]], opposite[order[pairs + 1]] = order[pairs + 1], order[pairs]
    return opposite


def _find_offsets(sorted_nodes: Numbers, tokens: int) -> Ints:
    return np.searchsorted(sorted_nodes, np.arange(tokens + 1)).astype(np.int64)
