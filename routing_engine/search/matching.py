"""The input at which the paths of an allocation give what is asked."""

from __future__ import annotations

from math import inf

from routing_engine.search.allocation import Allocation
from routing_engine.search.exact_output import Flows, find_matching_input
from routing_engine.search.split import Splitter


def match_output(splitter: Splitter, allocation: Allocation) -> Flows | None:
    """Find the input at which an allocation gives what is asked; it is then one of that input."""
    x, wanted = allocation.paths.x, float(splitter.request.amount)
    shares, enough = x.copy(), x.copy()
    least = inf

    def allocated(amount: float) -> Flows:
        nonlocal least
        if least < inf:
            x[:] = enough  # far below, paths are given up that may be needed
        found = splitter.reallocate(allocation, amount)
        if not found.edges:
            x[:] = shares  # the proportions of the amount before fill a market
            found = splitter.reallocate(allocation, amount)
        if found.value >= wanted and amount < least:
            least, enough[:] = amount, x
        return found

    matched = find_matching_input(allocated, allocation.amount, wanted)
    if matched and least < inf:
        x[:] = enough
        if not splitter.reallocate(allocation, matched.amount).edges:
            x[:] = enough
    return matched
