"""Rates of a market's pairs, for searches that know nothing else."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from benchmarks.harness.answer import Answer, Swap
from routing_engine import Snapshot, Token

LOOPS = "some cycles of its markets gain, so that sums of log rates have no least"
"""Why Bellman–Ford does not take a market."""

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


def weigh(rate: float) -> float:
    """Return a rate as a length."""
    return -math.log(rate)


def answer_tokens(tokens: Sequence[Token], best: dict[Pair, tuple[float, str]]) -> Answer | None:
    """Return the path through tokens over the best market of each pair."""
    swaps = tuple(Swap(best[one, other][1], one.key, other.key) for one, other in pairwise(tokens))
    return Answer(swaps=swaps) if swaps else None
