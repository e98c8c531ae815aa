"""What layered searches share: which way to go through the edges of a round.

The last round but one only matters for tokens adjacent to the end of the search. Those may be reached by the edges that
leave the round's tokens, or looked for from the end: whichever are fewer.
"""

from __future__ import annotations

from routing_engine.jit.decorators import inner


@inner
def mark_adjacent(adjacency, token, is_adjacent, value):
    """Set the marks of all tokens adjacent to a token, by the edges of one direction."""
    for row in range(adjacency.first[token], adjacency.first[token + 1]):
        is_adjacent[adjacency.links[row]["other"]] = value


@inner
def count_edges(first, tokens, count):
    """Count the edges of a round's tokens."""
    total = 0
    for i in range(count):
        total += first[tokens[i] + 1] - first[tokens[i]]
    return total


@inner
def count_adjacent_edges(adjacency, token):
    """Count the edges of a token and of all adjacent ones; a token counts once for each edge that leads to it."""
    first = adjacency.first
    total = first[token + 1] - first[token]
    for row in range(first[token], first[token + 1]):
        other = adjacency.links[row]["other"]
        total += first[other + 1] - first[other]
    return total
