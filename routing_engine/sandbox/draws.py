"""Reproducible arbitrary numbers: a hash of the seed and of what the number is for.

Each draw is independent of every other one, so that adding a pool changes no other pool; and nothing depends on the
platform's floating point or on a generator's internals.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256

_SYNTHETIC = "facade"
"""First digits of every invented address, so that nobody takes it for a real one."""


@dataclass(frozen=True, slots=True)
class Draws:
    """All numbers that follow from one seed."""

    seed: int

    def integer(self, label: str, low: int, high: int) -> int:
        """Return an integer between `low` and `high`, both included."""
        return low + int(self._hex(label)[:24], 16) % (high - low + 1)

    def address(self, label: str) -> str:
        """Return an invented contract address."""
        return "0x" + _SYNTHETIC + self._hex(label)[: 40 - len(_SYNTHETIC)]

    def pool_id(self, label: str) -> str:
        """Return an invented 32-byte pool id."""
        return "0x" + _SYNTHETIC + self._hex(label)[: 64 - len(_SYNTHETIC)]

    def _hex(self, label: str) -> str:
        return sha256(f"{self.seed}/{label}".encode()).hexdigest()
