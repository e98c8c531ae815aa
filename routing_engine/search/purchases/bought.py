"""What was bought so far: allocations with the inputs at which they give what is asked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from math import inf
from operator import attrgetter
from typing import NamedTuple

from routing_engine.search.allocations.allocation import Allocation
from routing_engine.search.allocations.exact_output import Flows
from routing_engine.search.allocations.matching import match_output
from routing_engine.search.splits.split import Splitter

FEW = 8
"""Up to how many paths each is left out to spare its gas."""


class Bought(NamedTuple):
    """An allocation that gives what is asked.

    `flows` are those of its edges; `cost` is its input and gas, valued in the input; `searched` is the input for which
    paths were last looked for from nothing.
    """

    allocation: Allocation
    flows: Flows
    cost: float
    searched: float


class Basket:
    """All that was bought for one exact-out request.

    Parameters
    ----------
    splitter : Splitter
        Of the request.
    """

    def __init__(self, splitter: Splitter) -> None:
        self._splitter, self.wanted = splitter, float(splitter.request.amount)
        self._found: list[Bought] = []

    def list_cheapest(self) -> list[Bought]:
        """List what was bought, the cheapest first."""
        return sorted(self._found, key=attrgetter("cost"))

    def match(self, allocation: Allocation | None, searched: float) -> Bought | None:
        """Take just the input with which an allocation gives what is asked; None where no input does."""
        if allocation is None or allocation.net == -inf:
            return None
        limits = self._splitter.graph.forward.edges["x_max"]
        matched = match_output(self._splitter.reallocate, allocation, self.wanted, limits)
        if matched is None:
            return None
        allocation = replace(allocation, slope=matched.least_price)
        return self.keep(Bought(allocation, matched, self._splitter.value_cost(matched), searched))

    def keep(self, bought: Bought) -> Bought:
        """Put something that gives what is asked into the basket."""
        self._found.append(bought)
        return bought

    def choose(self, bought: Bought, others: Iterable[Allocation], searched: float) -> Bought:
        """Return the cheapest of what was bought and what others cost that were found for an input."""
        found = [self.match(allocation, searched) for allocation in others]
        return min([bought, *filter(None, found)], key=attrgetter("cost"))

    def spare_paths(self) -> None:
        """Leave out paths of the cheapest, one by one, as long as that spares more gas than it takes input."""
        bought, before = self.list_cheapest()[0], None
        while bought is not before and 1 < bought.allocation.count <= FEW:
            before, allocation = bought, bought.allocation
            bought = self.choose(bought, map(allocation.leave_out, range(allocation.count)), bought.searched)


def is_alike(one: float, other: float, part: float) -> bool:
    """Whether two inputs differ by less than a part of them."""
    return abs(one - other) <= part * other


def measure_gap(allocation: Allocation) -> float:
    """Return which part of the input might be saved; infinite or NaN where markets don't take this one."""
    output = allocation.slope * allocation.amount
    return (allocation.bound - allocation.net) / output if output > 0.0 else inf
