"""How much to ask of an endpoint at once, learnt from what it refuses."""

from __future__ import annotations

FACTOR = 2
STEP = 16


class Portion:
    """A size that doubles while all goes well, halves when it was too much, and then comes close to the limit slowly.

    Parameters
    ----------
    first, largest : int
        Where to begin, and what never to exceed.
    """

    def __init__(self, first: int, largest: int) -> None:
        self.size = first
        self._largest = self._ceiling = largest

    def shrink(self, size: int) -> None:
        """Learn that `size` was too much."""
        self.size = max(1, size // FACTOR)
        self._ceiling = max(1, size * 3 // 4)

    def grow(self, size: int) -> None:
        """Learn that `size` was fine; it says nothing unless that is all there was to ask for."""
        if size < self.size:
            return
        if self.size >= self._ceiling:
            self._ceiling = min(self._largest, self._ceiling + self._ceiling // STEP + 1)
        self.size = min(self._ceiling, self.size * FACTOR)
