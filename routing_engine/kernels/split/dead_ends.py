"""Dead ends: paths beside which a search found no other, so that the next one that comes to them ends there.

A division begins in several ways, and most of them lead to the same paths. There each search would try the next best
columns one after the other, in vain like the one before, which takes most of its time. Paths are known by a mark: a sum
of numbers, one for each path, which does not depend on their order. Two sets of paths with one mark would only end a
search too soon.
"""

from __future__ import annotations

import numpy as np

from routing_engine.jit.decorators import inner

COUNT = 0
"""Place of the number of marks, which follow it."""

PRIME = 1099511628211
"""What the edges of a path are mixed by (Fowler, Noll and Vo's)."""


@inner
def mark_paths(rows, count):
    """Return a mark of some paths."""
    mark = np.int64(0)
    for p in range(count):
        path = np.int64(count)
        for step in range(rows.shape[1]):
            path = (path ^ (np.int64(rows[p, step]) + 1)) * PRIME
            path ^= path >> 29
        mark += path * PRIME
    return mark


@inner
def is_dead_end(mark, ends):
    """Whether a search ended at these paths before."""
    found = False
    for place in range(COUNT + 1, ends[COUNT] + 1):
        found |= ends[place] == mark
    return found


@inner
def note_dead_end(mark, ends):
    """Note that a search ends at these paths, where there is room."""
    if ends[COUNT] + 1 < ends.size:
        ends[COUNT] += 1
        ends[ends[COUNT]] = mark
