"""Labels of layered searches: the few best ways to a token over so many markets, kept in order, all simple."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from routing_engine.jit.decorators import inlined, inner
from routing_engine.kernels.arrays import Prospects, Scratch
from routing_engine.kernels.search.beam import PLACE, WIDTH

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


class Extension(NamedTuple):
    """A label of round `k`, extended by an edge: what becomes a label of round k + 1 if it is good enough.

    `parent` is that label's place, as token * LABELS + slot; `edge` the edge's row in the search's direction.
    """

    k: int
    parent: int
    edge: int
    amount: float
    cost: float
    time: float
    score: float


def create_scratch(tokens: int, max_hops: int) -> Scratch:
    """Allocate the memory that searches over `tokens` tokens need."""
    rounds = max_hops + 1
    return Scratch(
        labels=np.zeros((rounds, tokens * LABELS), LABEL),
        counts=np.zeros((rounds, tokens), np.uint8),
        touched=np.zeros((rounds, tokens), np.int32),
        is_adjacent=np.zeros(tokens, np.bool_),
        prospects=Prospects(
            most=np.zeros((rounds, tokens)),
            via=np.zeros((rounds, tokens), np.int32),
            reached=np.zeros(rounds * tokens, np.int32),
            floor=np.zeros(rounds),
            least=np.zeros(rounds),
            walk=np.zeros(rounds, np.int32),
            beam=np.zeros((rounds, WIDTH + 1), PLACE),
        ),
    )


@inner
def _is_better(new, other, time_first):
    """Whether an extension comes before a label."""
    if time_first and new.time != other["time"]:
        return new.time < other["time"]
    return new.score > other["score"]


@inner
def _is_simple(labels, edges, new, start):
    """Whether an extended path visits no token and no market twice."""
    token, market = edges[new.edge]["other"], edges[new.edge]["market"]
    if token == start:
        return False
    slot = new.parent
    for layer in range(new.k, 0, -1):
        label = labels[layer, slot]
        if slot // LABELS == token or edges[label["edge"]]["market"] == market:
            return False
        slot = label["parent"]
    return True


@inner
def _find_most(labels, base, direction):
    """Return which of a token's labels, of which there is no place for more, has most; backwards, needs least."""
    most = 0
    for place in range(1, LABELS):
        if direction * labels[base + place]["amount"] > direction * labels[base + most]["amount"]:
            most = place
    return most


@inner
def _insert_at(place, scratch, edges, new, time_first, start):
    """Put an extension into this place, or before it, if its path is simple; see `insert`."""
    labels, k, v = scratch.labels, new.k, edges[new.edge]["other"]
    if not _is_simple(labels, edges, new, start):
        return False
    n, base = np.int64(scratch.counts[k + 1, v]), v * LABELS
    while place > 0:
        above = labels[k + 1, base + place - 1]
        if not _is_better(new, above, time_first):
            break
        labels[k + 1, base + place] = above
        place -= 1
    label = labels[k + 1, base + place]
    label["amount"] = new.amount
    label["cost"] = new.cost
    label["time"] = new.time
    label["score"] = new.score
    label["edge"] = new.edge
    label["parent"] = new.parent
    if n < LABELS:
        scratch.counts[k + 1, v] = n + 1
    return n == 0


@inlined
def has_place_for(k, v, directed, score, keeps_most, scratch):
    """Whether token v has a place in round k for a label of this score; or of this amount, where the largest is kept.

    `directed` is the amount, backwards less than 0.
    """
    labels, base, last = scratch.labels, v * LABELS, LABELS - 1
    if scratch.counts[k, v] < LABELS:
        return True
    if keeps_most:
        direction = 1 if directed > 0.0 else -1
        most = _find_most(labels[k], base, direction)
        if directed > direction * labels[k, base + most]["amount"]:
            return True
        last -= most == last
    return score > labels[k, base + last]["score"]


@inner
def insert_keeping_most(scratch, edges, new, direction, start):
    """Insert an extension by its score, but keep the label with the largest amount, backwards the least, in any case.

    Gas is valued by reference prices. Where markets on the way to the end pay a multiple of these, it is the amount
    that counts.
    """
    labels, k, v = scratch.labels, new.k, edges[new.edge]["other"]
    n, base, last = np.int64(scratch.counts[k + 1, v]), v * LABELS, LABELS - 1
    if n < LABELS:
        return _insert_at(n, scratch, edges, new, False, start)
    most = _find_most(labels[k + 1], base, direction)
    if direction * new.amount <= direction * labels[k + 1, base + most]["amount"]:
        last -= most == last
        if not _is_better(new, labels[k + 1, base + last], False):
            return False
    return _insert_at(last, scratch, edges, new, False, start)


@inner
def insert(scratch, edges, new, time_first, start):
    """Give the far token of an extension a label, if it is among the best and its path is simple.

    Returns
    -------
    bool
        Whether it is the token's first label of that round.
    """
    k, v = new.k, edges[new.edge]["other"]
    n = np.int64(scratch.counts[k + 1, v])
    if n == LABELS and not _is_better(new, scratch.labels[k + 1, v * LABELS + n - 1], time_first):
        return False
    return _insert_at(min(n, LABELS - 1), scratch, edges, new, time_first, start)
