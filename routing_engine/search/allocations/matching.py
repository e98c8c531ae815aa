"""The input at which the paths of an allocation give what is asked."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

import numpy as np
import numpy.typing as npt

from routing_engine.kernels.arrays import FULL
from routing_engine.search.allocations.allocation import Allocation
from routing_engine.search.allocations.exact_output import Flows, find_matching_input

Reallocate = Callable[[Allocation, float], Flows]
"""Allocates an amount to the same paths, beginning with their present proportions, and changes these."""


def match_output(
    reallocate: Reallocate, allocation: Allocation, wanted: float, limits: npt.NDArray[np.float64]
) -> Flows | None:
    """Find the input at which an allocation gives what is asked; it is then one of that input.

    Parameters
    ----------
    wanted : float
        The output asked for.
    limits : float64 array
        The largest input of each edge of the graph.
    """
    x = allocation.paths.x
    shares, enough = x.copy(), _Enough(reallocate, allocation, limits)

    def allocated(amount: float) -> Flows:
        found = enough.shrink(amount)
        if not found.edges:
            x[:] = shares  # the proportions of the amount before fill a market
            found = reallocate(allocation, amount)
        if found.value >= wanted:
            enough.keep(found)
        return found

    matched = find_matching_input(allocated, allocation.amount, wanted)
    if matched:
        enough.shrink(matched.amount)
    return matched


class _Enough:
    """The least input so far that gives enough, by paths: where smaller ones begin.

    Far below, paths are given up that may be needed.
    """

    def __init__(self, reallocate: Reallocate, allocation: Allocation, limits: npt.NDArray[np.float64]) -> None:
        self._reallocate, self._allocation, self._limits = reallocate, allocation, limits
        self._amount, self._x = inf, allocation.paths.x.copy()
        self._is_full = np.zeros(self._x.size, np.bool_)

    def keep(self, found: Flows) -> None:
        """Keep what the paths take now, if that is less than before."""
        if found.amount >= self._amount:
            return
        paths, count = self._allocation.paths, self._allocation.count
        self._amount, self._x[:] = found.amount, paths.x
        full = np.array(found.edges)[np.array(found.flows) >= self._limits[found.edges] * FULL]
        self._is_full[:count] = np.isin(paths.rows[:count], full).any(axis=1) if full.size else False

    def shrink(self, amount: float) -> Flows:
        """Allocate a smaller amount in the same proportions; or beside full markets, if that gives more.

        From a part of what they take, full markets may not be filled again, though they give most for a unit.
        """
        x, least = self._allocation.paths.x, self._amount < inf
        if least:
            x[:] = self._x
        found, full = self._reallocate(self._allocation, amount), self._is_full
        kept, others = float(self._x[full].sum()), float(self._x[~full].sum())
        if not 0.0 < kept < amount or not others > 0.0:
            if least and not found.edges:
                x[:] = self._x
            return found
        proportional = x.copy()
        x[:] = self._x
        x[~full] *= (amount - kept) / others
        beside = self._reallocate(self._allocation, amount)
        if beside.value > found.value:
            return beside
        x[:] = proportional
        return found
