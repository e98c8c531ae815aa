"""The input at which the paths of an allocation give what is asked."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from routing_engine.search.allocation import Allocation
from routing_engine.search.exact_output import Flows, find_matching_input


def match_output(
    reallocate: Callable[[Allocation, float], Flows], allocation: Allocation, wanted: float
) -> Flows | None:
    """Find the input at which an allocation gives what is asked; it is then one of that input.

    Parameters
    ----------
    reallocate : callable
        Allocates an amount to the same paths, beginning with their present proportions, and changes these.
    wanted : float
        The output asked for.
    """
    x = allocation.paths.x
    shares, enough = x.copy(), x.copy()
    least = inf

    def allocated(amount: float) -> Flows:
        nonlocal least
        if least < inf:
            x[:] = enough  # far below, paths are given up that may be needed
        found = reallocate(allocation, amount)
        if not found.edges:
            x[:] = shares  # the proportions of the amount before fill a market
            found = reallocate(allocation, amount)
        if found.value >= wanted and amount < least:
            least, enough[:] = amount, x
        return found

    matched = find_matching_input(allocated, allocation.amount, wanted)
    if matched and least < inf:
        x[:] = enough
        if not reallocate(allocation, matched.amount).edges:
            x[:] = enough
    return matched
