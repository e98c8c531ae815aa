"""Time that one call may take, by a clock that its caller gives."""

from __future__ import annotations

from collections.abc import Callable

Clock = Callable[[], float]
"""Seconds that only grow."""


class Budget:
    """A length of time that begins now.

    Parameters
    ----------
    clock : Clock
        What time it is.
    limit_ms : float
        How long it lasts.
    """

    def __init__(self, clock: Clock, limit_ms: float) -> None:
        self._clock = clock
        self._end = clock() + limit_ms / 1e3
        self.was_spent = False
        """Whether somebody asked for time when there was none left."""

    def is_spent(self) -> bool:
        """Tell whether the time is over; whoever asks stops then, and the answer is marked as cut short."""
        self.was_spent = self.was_spent or self._clock() >= self._end
        return self.was_spent
