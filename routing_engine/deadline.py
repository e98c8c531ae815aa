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

MEASURABLE_S = 2e-3
"""Seconds after which the pace of a call is taken from what it did: before, its preparations count too much."""

SLOWEST = 4.0
"""How many times slower than usual kernels are taken to be at most."""

UNLIMITED_WORK = 2**62
"""More steps than anything takes."""


def count_steps(units: int | None, edges: int) -> int:
    """Return the steps of so many units of work on a market of so many edges; with None more than anything takes."""
    if units is None:
        return UNLIMITED_WORK
    return units * (STEPS if edges <= LARGE else STEPS_OF_LARGE)


class Budget:
    """A length of time that begins now, and an amount of work.

    Kernels read no clock. So whenever time is asked for, they get as many steps as should fit into what is left of it,
    at the pace of this call so far, and the rest is kept back.

    Parameters
    ----------
    clock : Clock
        What time it is; never asked without a limit of time.
    limit_ms : float, optional
        How long it lasts.
    steps : int
        Of work that may be done.
    pace : float
        Steps that are usually done in a millisecond.
    """

    def __init__(self, clock: Clock, limit_ms: float | None, steps: int = UNLIMITED_WORK, pace: float = STEPS) -> None:
        self._clock, self._pace, self._kept_back = clock, pace, 0
        self._begun = None if limit_ms is None else clock()
        self._limit_s = 0.0 if limit_ms is None else limit_ms / 1e3
        self._steps = steps
        self.work = np.array([steps], np.int64)
        """Steps of work that may be done now; kernels take off what they do, and end where none are left."""
        self.known: dict[Hashable, Any] = {}
        """What kernels have found in this call: see `routing_engine.search.paths.known`."""
        self._was_late = self._was_cut = False

    @property
    def steps_left(self) -> int:
        """Steps that are left of what was given, however much time is left: the same on every machine."""
        return self.work.item(0) + self._kept_back

    def is_spent(self) -> bool:
        """Tell whether time or work is over; whoever asks stops then, and the answer is marked as cut short."""
        if self._begun is not None and not self._was_late and self.steps_left > 0:
            passed = self._clock() - self._begun
            self._was_late = passed >= self._limit_s
            self._was_cut = self._was_cut or self.work.item(0) <= 0
            self._lend(passed)
        return self._was_late or bool(self.work[0] <= 0)

    def _lend(self, passed: float) -> None:
        """Let kernels do as many steps as should fit into what is left of the time, after so many seconds."""
        left = self.steps_left
        pace = self._pace
        if passed >= MEASURABLE_S:  # much of that time may have passed outside of kernels
            pace = min(pace, max(pace / SLOWEST, (self._steps - left) / passed / 1e3))
        lent = min(left, 1 + int(pace * max(0.0, self._limit_s - passed) * 1e3))
        self.work[0], self._kept_back = lent, left - lent

    @property
    def was_spent(self) -> bool:
        """Whether work was over, somebody asked for time when there was none left, or a kernel had too little of it."""
        return self._was_late or self._was_cut or bool(self.work[0] <= 0)

    def spend(self, steps: int) -> None:
        """Count work that is done outside of kernels."""
        self.work[0] -= steps
