"""Whether new states of markets have the edges that a graph has: then nothing but their rows is written anew."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from routing_engine.graph.csr import Ints, Layout
from routing_engine.graph.edge_rows import EdgeRows
from routing_engine.market import Market
from routing_engine.model import Token


def has_same_edges(
    layout: Layout,
    markets: Sequence[Market],
    changed: tuple[Mapping[int, Market], Ints],
    rows: EdgeRows,
    find_ends: Callable[[int], tuple[Market, Token, Token]],
) -> bool:
    """Whether markets still have the protocols and edges that they have in a graph.

    Parameters
    ----------
    layout, markets : Layout, sequence of Market
        Of the graph.
    changed : tuple of mapping and int64 array
        The new states by the numbers of their markets, and these numbers.
    rows : EdgeRows
        Of the new states.
    find_ends : callable
        Gives the market and the tokens of one of the graph's forward edges.
    """
    (news, numbers), first = changed, layout.first
    if not np.array_equal(np.diff(rows.first), first[numbers + 1] - first[numbers]):
        return False
    pairs, listed = [(markets[number], market) for number, market in news.items()], rows.listed
    if any(type(old) is not type(new) or old.protocol != new.protocol for old, new in pairs):
        return False
    for place, ends in listed.items():
        edges = layout.forward[first[numbers[place]] : first[numbers[place] + 1]].tolist()
        if tuple(find_ends(edge)[1:] for edge in edges) != ends:
            return False
    regular: Any = [pair for place, pair in enumerate(pairs) if place not in listed] if listed else pairs
    moved = [  # tokens are shared by nearly all states
        (old, new) for old, new in regular if old.token0 is not new.token0 or old.token1 is not new.token1
    ]
    return all(old.token0 == new.token0 and old.token1 == new.token1 for old, new in moved)
