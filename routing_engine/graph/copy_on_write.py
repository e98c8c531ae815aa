"""Copies of a large array in memory that was used before, where most of it is right already."""

from __future__ import annotations

import sys
import threading
import weakref
from itertools import count

import numpy as np

from routing_engine.graph.structured_rows import Places, Records, copy_over, put_rows, take_rows

KEPT = 3
"""Copies that are remembered: that of the present graph, of the one before that is still searched, and a spare one."""

REMEMBERED = 4 * KEPT
"""Versions of which it is known how they came about."""

FEW = 1 / 4
"""Share of the rows up to which they are copied one by one."""


class Buffers:
    """Copies an array of records, copies of its copies, and so on; memory is used again once nothing refers to it.

    Whoever holds such an array, or any view or record of it, keeps it from being written over. Each copy says which of
    its rows will differ, so memory that holds a relative need only be given the rows in which the two differ. Safe to
    use from many threads.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._arrays: list[Records] = []
        self._versions: list[int] = []  # of the same arrays
        self._numbers = count()
        self._origins: dict[int, tuple[int, Places | None]] = {}
        self._stranger: tuple[weakref.ref[Records], int] | None = None
        self._alone = self._count_references([np.empty(0, np.void)], 0)

    def copy_of(self, array: Records, rows: Places | None) -> Records:
        """Return a copy of an array of one dimension.

        Parameters
        ----------
        array : array
            Never written to again.
        rows : int array or None
            The caller writes over these rows of the copy as a whole, whatever they hold, and over no others; with None
            it finds all rows copied, and may write to any.
        """
        with self._lock:
            origin = self._find_version(array)
            place = self._find_spare_place(array)
            behind = None
            if place is None:
                copy = np.empty_like(array)  # owns its memory, so that every view of it refers to it
            else:
                copy = self._arrays.pop(place)
                behind = self._find_difference(self._versions.pop(place), origin, rows)
            if behind is None or behind.size > FEW * array.size:
                copy_over(copy, array)
            else:
                put_rows(copy, behind, take_rows(array, behind))
            version = next(self._numbers)
            self._origins[version] = origin, rows
            self._origins.pop(version - REMEMBERED, None)
            self._arrays, self._versions = [*self._arrays[1 - KEPT :], copy], [*self._versions[1 - KEPT :], version]
            return copy

    def _find_version(self, array: Records) -> int:
        """Return the number of an array; the last one that was not made here has a number too."""
        for known, version in zip(self._arrays, self._versions, strict=True):
            if known is array:
                return version
        if self._stranger is None or self._stranger[0]() is not array:
            self._stranger = weakref.ref(array), next(self._numbers)
        return self._stranger[1]

    def _find_spare_place(self, array: Records) -> int | None:
        """Return the place of the latest copy that nothing refers to."""
        for place in reversed(range(len(self._arrays))):
            if self._count_references(self._arrays, place) == self._alone and _fits(self._arrays[place], array):
                return place
        return None

    def _find_difference(self, one: int, other: int, without: Places | None) -> Places | None:
        """Return the rows in which two versions may differ, but for some; None where that is unknown."""
        mine, others = self._trace_origins(one), self._trace_origins(other)
        common = next((version for version in mine if version in others), None)
        if common is None:
            return None
        steps = [rows for rows in (*mine[common], *others[common]) if rows is not None]
        if len(steps) < len(mine[common]) + len(others[common]):
            return None
        return _unite(steps, without)

    def _trace_origins(self, version: int) -> dict[int, list[Places | None]]:
        """Return a version and those that it came from, with the rows that were written on the way."""
        line: dict[int, list[Places | None]] = {version: []}
        passed: list[Places | None] = []
        while version in self._origins:
            version, rows = self._origins[version]
            passed = [*passed, rows]
            line[version] = passed
        return line

    @staticmethod
    def _count_references(arrays: list[Records], place: int) -> int:
        return sys.getrefcount(arrays[place])


def _unite(places: list[Places], without: Places | None) -> Places:
    """Return all places, each once, but for some: what changes often does so in every version."""
    others = places if without is None else [each for each in places if not np.array_equal(each, without)]
    if not others:
        return np.empty(0, np.int64)
    size = 1 + max([each.max(initial=-1) for each in others])
    found = np.zeros(size, np.bool_)
    for each in others:
        found[each] = True
    if without is not None:
        found[without[without < size]] = False
    return np.flatnonzero(found)


def _fits(spare: Records, array: Records) -> bool:
    return spare.shape == array.shape and spare.dtype == array.dtype
