"""What a search for columns hopes for: then it need not look at the thousands of paths that are worth less.

While paths are added, thousands of others are worth more than what is asked, and the few best are all that is used.
What the last search of the same allocation found says what these will be worth about. So the next one asks for a part
of that first, of all paths of as many hops. Where it finds as many as it can keep, no others are better, and it is
over. Where it finds fewer, it hoped in vain, and asks for less.
"""

from __future__ import annotations

from routing_engine.jit.decorators import inner
from routing_engine.kernels.bound.open_edges import list_edges_from
from routing_engine.kernels.search.labels import LABELS

PROMISED, SHARE, LOWER = 0.5, 0.8, 0.4
"""Parts that are hoped for: of what average prices promise, of what the last search found, and of a hope in vain."""

ATTEMPTS = 3
"""Searches at most: with the hope, with less of it, and without."""

LONG = 4
"""Hops from which on there are so many paths that hope saves time."""

BEGUN = 0
"""Place that tells whether a search has been made; those from `LONG` on have by which part the least of `LABELS` paths
of so many hops is hoped to be worth more than what is asked."""


@inner
def hope_for_promises(problem, state, enough, hope):
    """Hope for a part of what average prices promise, where no search has been made yet."""
    if hope[BEGUN] > 0.0 or enough <= 0.0:
        return
    hope[BEGUN], best = 1.0, 0.0
    first, last = list_edges_from(problem.start, problem, state)
    for place in range(first, last):
        listed = state.open_edges.listed[place]
        best = max(best, listed["max_average_price"] * state.outlook.most[problem.max_hops - 1, listed["other"]])
    for k in range(LONG, problem.max_hops + 1):
        hope[k] = max(0.0, PROMISED * (best * problem.amount / enough - 1.0))


@inner
def weigh_hopes(problem, hope, state):
    """Let arrivals count for less on paths of which more is hoped for than is asked."""
    for k in range(LONG, problem.max_hops + 1):
        state.arrivals.weight[k] = 1.0 / (1.0 + hope[k])


@inner
def hope_for_less(problem, hope, attempt, scratch):
    """Hope for less of paths of which fewer were found than can be kept; return whether there are such."""
    in_vain = False
    for k in range(LONG, problem.max_hops + 1):
        if hope[k] > 0.0 and scratch.counts[k, problem.start] < LABELS:
            hope[k] *= LOWER if attempt + 2 < ATTEMPTS else 0.0
            in_vain = True
    return in_vain


@inner
def hope_anew(problem, enough, hope, scratch):
    """Hope for a part of what was found, the next time."""
    for k in range(LONG, problem.max_hops + 1):
        hope[k] = 0.0
        if scratch.counts[k, problem.start] == LABELS and enough > 0.0:
            least = scratch.labels[k, problem.start * LABELS + LABELS - 1]["amount"]
            hope[k] = max(0.0, SHARE * (least * problem.amount / enough - 1.0))
