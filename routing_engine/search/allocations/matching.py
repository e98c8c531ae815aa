"""The input at which the paths of an allocation give what is asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

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
    shares, near = x.copy(), _Nearest(reallocate, allocation, limits)

    def allocated(amount: float) -> Flows:
        found = near.shrink(amount)
        if not found.edges:
            x[:] = shares  # the proportions of the amount before fill a market
            found = reallocate(allocation, amount)
        if not found.edges:
            found = near.grow(amount) or found
        near.keep(found, is_enough=found.value >= wanted)
        return found

    matched = find_matching_input(allocated, allocation.amount, wanted)
    if matched:
        near.shrink(matched.amount)
    return matched


class _Known(NamedTuple):
    """An input, what its paths take, and which of them go over a full market."""

    amount: float
    x: npt.NDArray[np.float64]
    is_full: npt.NDArray[np.bool_]


class _Nearest:
    """The least input so far that gives enough, and the most that does not, by paths: where others begin.

    Far below, paths are given up that may be needed.
    """

    def __init__(self, reallocate: Reallocate, allocation: Allocation, limits: npt.NDArray[np.float64]) -> None:
        self._reallocate, self._allocation, self._limits = reallocate, allocation, limits
        self._above: _Known | None = None
        self._below: _Known | None = None

    def keep(self, found: Flows, *, is_enough: bool) -> None:
        """Keep what the paths take now, if that is nearer to what is asked."""
        nearest = self._above if is_enough else self._below
        if not found.edges or (nearest and (found.amount >= nearest.amount) is is_enough):
            return
        paths, count = self._allocation.paths, self._allocation.count
        full = np.array(found.edges)[np.array(found.flows) >= self._limits[found.edges] * FULL]
        is_full = np.zeros(paths.x.size, np.bool_)
        is_full[:count] = np.isin(paths.rows[:count], full).any(axis=1) if full.size else False
        known = _Known(found.amount, paths.x.copy(), is_full)
        if is_enough:
            self._above = known
        else:
            self._below = known

    def shrink(self, amount: float) -> Flows:
        """Allocate a smaller amount in the same proportions; or beside full markets, if that gives more.

        From a part of what they take, full markets may not be filled again, though they give most for a unit.
        """
        x, above = self._allocation.paths.x, self._above
        if above:
            x[:] = above.x
        found = self._reallocate(self._allocation, amount)
        if above is None:
            return found
        proportional = x.copy()
        beside = self._allocate_beside(above, amount)
        if beside and beside.value > found.value:
            return beside
        x[:] = proportional if found.edges else above.x
        return found

    def grow(self, amount: float) -> Flows | None:
        """Allocate a larger amount beside full markets: in the same proportions these would be given too much."""
        return self._allocate_beside(self._below, amount) if self._below else None

    def _allocate_beside(self, known: _Known, amount: float) -> Flows | None:
        """Allocate an amount of which the paths over full markets take what they took; None where all or none do."""
        x, full = self._allocation.paths.x, known.is_full
        x[:] = known.x
        kept, others = float(x[full].sum()), float(x[~full].sum())
        if not 0.0 < kept < amount or not others > 0.0:
            return None
        x[~full] *= (amount - kept) / others
        return self._reallocate(self._allocation, amount)
