"""A board without Redis."""

from __future__ import annotations

from adapters.base import VenueUnavailable
from adapters.feed.state import State


class MemoryBoard:
    """A board within one process."""

    def __init__(self) -> None:
        self._state: State | None = None

    def publish(self, state: State) -> None:
        """Hang up a state."""
        self._state = state

    def read_latest(self) -> State:
        """Return the newest state; raises `VenueUnavailable` if there is none."""
        if self._state is None:
            raise VenueUnavailable("no market has been published yet")
        return self._state
