"""Time and work that one call may take: time by a clock that its caller gives, work by what kernels count."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

Clock = Callable[[], float]
"""Seconds that only grow."""

STEPS, STEPS_OF_LARGE, LARGE = 50_000, 25_000, 16_384
"""Steps of a unit of work, about a millisecond; and where a market has more edges than the third number: most of them
are not in the processor's cache when they are looked at. `routing_engine.kernels.work` says what counts for how many.
"""

QUOTE = 1_000
"""Steps that the exact quote of one market counts for."""

UNLIMITED_WORK = 2**62
"""More steps than anything takes."""


def count_steps(units: int | None, edges: int) -> int:
    """Return the steps of so many units of work on a market of so many edges; with None more than anything takes."""
    if units is None:
        return UNLIMITED_WORK
    return units * (STEPS if edges <= LARGE else STEPS_OF_LARGE)


class Budget:
    """A length of time that begins now, and an amount of work.

    Parameters
    ----------
    clock : Clock
        What time it is; never asked without a limit of time.
    limit_ms : float, optional
        How long it lasts.
    steps : int
        Of work that may be done.
    """

    def __init__(self, clock: Clock, limit_ms: float | None, steps: int = UNLIMITED_WORK) -> None:
        self._clock = clock
        self._end = None if limit_ms is None else clock() + limit_ms / 1e3
        self.work = np.array([steps], np.int64)
        """Steps of work that are left; kernels take off what they do, and end where none are left."""
        self.known: dict[Hashable, Any] = {}
        """What kernels have found in this call: see `routing_engine.search.paths.known`."""
        self._was_late = False

    def is_spent(self) -> bool:
        """Tell whether time or work is over; whoever asks stops then, and the answer is marked as cut short."""
        self._was_late = self._was_late or (self._end is not None and self._clock() >= self._end)
        return self.was_spent

    @property
    def was_spent(self) -> bool:
        """Whether all work is done that may be, or somebody asked for time when there was none left."""
        return self._was_late or bool(self.work[0] <= 0)

    def spend(self, steps: int) -> None:
        """Count work that is done outside of kernels."""
        self.work[0] -= steps
