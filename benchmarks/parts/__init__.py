"""What only this engine has, and no solver can be asked for: single calls, updates, starts, reading chains.

`python -m benchmarks.parts` prints a few figures beside their targets; each of its modules yields rows and tables as it
measures them. `pytest benchmarks/parts` times single calls. Begin with `speed.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path

from benchmarks.instances import constant_product_market
from benchmarks.parts.report import Row, Table
from routing_engine import Router

Entries = Iterator[Row | Table]


class Setting:
    """What all sections share.

    Parameters
    ----------
    full : bool
        Many queries rather than few.
    shared_data : Path
        Folder of recorded markets and trades; sections that need it say so where it is missing.
    say : callable
        Tells the reader how far the run is.
    """

    def __init__(self, *, full: bool, shared_data: Path, say: Callable[[str], None]) -> None:
        self.full, self.shared_data, self.title = full, shared_data, ""
        self._say = say

    def note(self, text: str) -> None:
        """Tell what is being measured."""
        self._say(f"{self.title}: {text} …")

    @cached_property
    def router(self) -> Router:
        """The large market whose prices agree within fees."""
        return Router(constant_product_market())
