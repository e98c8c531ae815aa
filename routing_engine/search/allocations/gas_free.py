"""Splits where gas is free, begun as if it cost something.

Where gas is free, every market of next to nothing is worth a path. On the way to a large amount these fill the paths
that may be used, and hide those that bring most. A search that has to pay a little for each market finds the great
paths first; from there on gas is free again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import Protocol

import numpy as np

from routing_engine.kernels.arrays import SplitProblem
from routing_engine.search.allocations.allocation import Allocation, Part, choose_better

OPEN = 1e-4
"""Relative gap to the bound from which on such beginnings are tried."""

MARKET_PARTS, MARKET_GAS = (1e-5, 1e-3), 120_000
"""What a market costs then, as parts of the net output, and the gas of a market."""


class Improve(Protocol):
    """Improves paths by further ones; judges what that gives unless nobody asks."""

    def __call__(self, starts: Sequence[Part], problem: SplitProblem, *, is_judged: bool = True) -> Allocation:
        """Return an allocation of what the paths at the start take together."""
        ...


def begin_with_gas(
    improve: Improve,
    starts: Sequence[Part],
    found: Allocation,
    problem: SplitProblem,
    is_over: Callable[[], bool],
    parts: Sequence[float] = MARKET_PARTS,
) -> Allocation:
    """Return the best of an allocation and those that begin as if gas cost something.

    Parameters
    ----------
    improve : callable
        Improves paths by further ones.
    problem : SplitProblem
        Without gas.
    is_over : callable
        Whether the time is spent; asked before each search.
    parts : sequence of float
        What a market costs then, as parts of the net output.
    """
    best = found
    for part in parts if found.bound > found.net * (1.0 + OPEN) else ():
        if is_over():
            break
        gas = np.full(problem.gas.size, max(0.0, found.net) * part / MARKET_GAS)
        begun = improve(starts, problem._replace(gas=gas), is_judged=False)
        if begun.net > -inf and not is_over():
            best = choose_better(best, improve(begun.list_parts(), problem))
    return best
