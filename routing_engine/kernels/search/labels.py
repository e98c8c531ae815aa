"""Labels of layered searches: the few best ways to a token over so many markets, kept in order, all simple."""

from __future__ import annotations

import numpy as np

from routing_engine.jit.decorators import inner
from routing_engine.kernels.arrays import Scratch

LABELS = 3
"""Labels kept per token and round: with one, the best way to a token can block the market that should come next."""

LABEL = np.dtype(
    [
        ("amount", np.float64),
        ("cost", np.float64),  # gas so far, in the root's units
        ("time", np.float64),
        ("score", np.float64),  # larger is better
        ("edge", np.int32),  # last edge, as its row in the search's direction
        ("parent", np.int32),  # label it came from, as token * LABELS + slot of the round before
    ],
    align=True,
)


def new_scratch(tokens: int, max_hops: int) -> Scratch:
    """Allocate the memory that searches over `tokens` tokens need."""
    rounds = max_hops + 1
    return Scratch(
        labels=np.zeros((rounds, tokens * LABELS), LABEL),
        counts=np.zeros((rounds, tokens), np.uint8),
        touched=np.zeros((rounds, tokens), np.int32),
        near=np.zeros(tokens, np.bool_),
    )


@inner
def _better(time_first, time, score, other_time, other_score):
    if time_first and time != other_time:
        return time < other_time
    return score > other_score


@inner
def _is_simple(labels, edges, k, parent, token, market, start):
    """Whether label `parent` of round k, extended to `token` over `market`, visits no token and no market twice."""
    if token == start:
        return False
    slot = parent
    for layer in range(k, 0, -1):
        label = labels[layer, slot]
        if slot // LABELS == token or edges[label["edge"]]["market"] == market:
            return False
        slot = label["parent"]
    return True


@inner
def insert(labels, count, edges, k, slot, e, amount, cost, time, score, time_first, start):
    """Give the far token of edge `e` a label of round k + 1, if it is among the best and its path is simple.

    Returns
    -------
    bool
        Whether it is the token's first label of that round.
    """
    v = edges[e]["other"]
    n = np.int64(count[k + 1, v])
    base = v * LABELS
    if n == LABELS:
        last = labels[k + 1, base + n - 1]
        if not _better(time_first, time, score, last["time"], last["score"]):
            return False
    if not _is_simple(labels, edges, k, slot, v, edges[e]["market"], start):
        return False
    place = min(n, LABELS - 1)
    while place > 0:
        above = labels[k + 1, base + place - 1]
        if not _better(time_first, time, score, above["time"], above["score"]):
            break
        labels[k + 1, base + place] = above
        place -= 1
    new = labels[k + 1, base + place]
    new["amount"] = amount
    new["cost"] = cost
    new["time"] = time
    new["score"] = score
    new["edge"] = e
    new["parent"] = slot
    if n < LABELS:
        count[k + 1, v] = n + 1
    return n == 0
