"""How far a process has read a chain on which nothing happens, without writing that down each time."""

from __future__ import annotations

from api.domain.transfers import CanonicalBlock

Place = tuple[int, str]
"""Number and hash of a block."""


class Progress:
    """What one process remembers of its looks at one chain; a new process begins at the stored cursor.

    `reached` is the last block that was read; `has_found` says whether the last look found a transfer, `is_behind`
    whether it ended before the head.
    """

    def __init__(self) -> None:
        self.reached: CanonicalBlock | None = None
        self.has_found = self.is_behind = False
        self._stored: Place | None = None

    def since(self, stored: Place) -> Place:
        """Return the last block that is read already, given the stored cursor's block.

        What is remembered counts only on top of the cursor that it was read from: any other was set by somebody else.
        """
        if stored != self._stored or self.reached is None:
            self._stored = stored
            return stored
        return self.reached.number, self.reached.hash

    def begin(self) -> None:
        """Begin a look."""
        self.has_found = self.is_behind = False

    def note(self, reached: CanonicalBlock, head: CanonicalBlock, *, is_written: bool, has_found: bool) -> None:
        """Remember a piece that was read, and whether the stored cursor stands at its end now."""
        self.reached, self.is_behind = reached, reached.number < head.number
        self.has_found |= has_found
        if is_written:
            self._stored = (reached.number, reached.hash)
