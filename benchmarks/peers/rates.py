"""Rates of a market's pairs, for searches that know nothing else."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import rustworkx as rx

from benchmarks.harness.answer import Answer, Swap
from benchmarks.harness.solver import Unsupported
from routing_engine import Snapshot, Token

LOOPS = "cycles of its markets gain: there is no shortest path by log rates, and the best flow is mostly no route"
"""Why a market is not taken by who does not know amounts, or the difference between a route and a gift."""

Pair = tuple[Token, Token]


def find_best_rates(snapshot: Snapshot) -> dict[Pair, tuple[float, str]]:
    """Return the rate after fees of the best market of each ordered pair, and that market's id."""
    best: dict[Pair, tuple[float, str]] = {}
    for market in snapshot.markets.values():
        for pair in market.edges():
            rate = market.spot_price(*pair)
            if rate > 0 and (pair not in best or rate > best[pair][0]):
                best[pair] = rate, market.id
    return best


def refuse_loops(best: dict[Pair, tuple[float, str]]) -> None:
    """Refuse a market in which a cycle of the best rates gains.

    Raises
    ------
    Unsupported
        If there is one.
    """
    tokens = dict.fromkeys(token for pair in best for token in pair)
    graph: rx.PyDiGraph[Token, float] = rx.PyDiGraph()
    index = dict(zip(tokens, graph.add_nodes_from(list(tokens)), strict=True))
    graph.add_edges_from([(index[one], index[other], weigh(rate)) for (one, other), (rate, _) in best.items()])
    if rx.negative_edge_cycle(graph, float):
        raise Unsupported(LOOPS)


def weigh(rate: float) -> float:
    """Return a rate as a length."""
    return -math.log(rate)


def answer_tokens(tokens: Sequence[Token], best: dict[Pair, tuple[float, str]]) -> Answer | None:
    """Return the path through tokens over the best market of each pair."""
    swaps = tuple(Swap(best[one, other][1], one.key, other.key) for one, other in pairwise(tokens))
    return Answer(swaps=swaps) if swaps else None
