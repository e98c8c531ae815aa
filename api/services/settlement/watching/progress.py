"""How far a process has read a chain on which nothing happens, without writing that down each time."""

from __future__ import annotations

import re

from api.domain.transfers import CanonicalBlock

SAID_EVERY = 60
"""Looks that fail one after another, of which one is logged, and each whose reason is another one."""
MOST_REASONS = 8
"""So many reasons are said of that many looks: an endpoint may make up a new one each time."""
_NUMBER = re.compile(r"\d+")
"""Ages and heights, by which a reason is no other one."""

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
        self._failures = 0
        self._said: set[str] = set()

    def note_failure(self, reason: str) -> bool:
        """Count a look that failed; return whether to say so: a chain that is away is looked at every second."""
        if self._failures % SAID_EVERY == 0:
            self._said.clear()
        self._failures += 1
        kind = _NUMBER.sub("#", reason)
        if kind in self._said or len(self._said) >= MOST_REASONS:
            return False
        self._said.add(kind)
        return True

    def note_success(self) -> None:
        """Begin to count anew."""
        self._failures = 0

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
