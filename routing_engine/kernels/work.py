"""What searches have done, counted in steps: an answer that ends with its budget is the same on every machine.

A step is about what it takes to look at one edge, 20 ns on the machine where that was measured. What takes longer
counts for several, so that steps foretell time to within a factor of two, on small markets and large ones.
"""

from __future__ import annotations

from routing_engine.jit.decorators import inlined

PRODUCTS = 40
"""Products of a linear system, or comparisons of two paths, that count for one step."""

MERGED_STEP, ITERATION, LOSS_EDGE = 2, 2, 5
"""Steps of merging one step of a path, of looking at a path or an edge in an iteration of Newton's method, and of
weighing an edge that may be excluded."""

ALLOCATION, GENERATION = 75, 1500
"""Steps of beginning to allocate to given paths, and to look for paths."""


GRACE = 2_500_000
"""Steps beyond those that were left by which a bound may still be computed: about 50 ms."""


@inlined
def spend(work, steps):
    """Count steps that were done."""
    work[0] -= steps


@inlined
def is_spent(work):
    """Whether no step is left: whoever asks ends with the best so far."""
    return work[0] <= 0


@inlined
def is_overdrawn(work):
    """Whether not even a bound may be made closer."""
    return work[0] <= -GRACE
