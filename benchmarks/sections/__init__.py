"""One module a part of the target table; each yields rows and tables as it measures them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path

from benchmarks.instances import LOOPS, constant_product_market
from benchmarks.report import Figure, Row, Table
from routing_engine import Router

Entries = Iterator[Row | Table | Figure]


class Setting:
    """What all sections share.

    Parameters
    ----------
    full : bool
        Many queries rather than few.
    shared_data : Path
        Folder of recorded markets and trades; sections that need it say so where it is missing.
    out : Path
        Folder for plots.
    say : callable
        Tells the reader how far the run is.
    """

    def __init__(self, *, full: bool, shared_data: Path, out: Path, say: Callable[[str], None]) -> None:
        self.full, self.shared_data, self.out, self.title = full, shared_data, out, ""
        self._say = say

    def note(self, text: str) -> None:
        """Tell what is being measured."""
        self._say(f"{self.title}: {text} …")

    @cached_property
    def router(self) -> Router:
        """The large market whose prices agree within fees."""
        return Router(constant_product_market())

    @cached_property
    def loops(self) -> Router:
        """The large market in which loops of pools give more than they take."""
        return Router(constant_product_market(disagreement=LOOPS))
