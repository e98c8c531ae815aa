"""Copies of large arrays in memory that was used before: fresh pages cost more than the copying itself."""

from __future__ import annotations

import sys
import threading

import numpy as np
import numpy.typing as npt

KEPT = 6
"""Arrays that are remembered: those of the present graph, of the one before that is still searched, and spare ones."""


class Buffers:
    """Copies arrays of records; the memory of a copy is used again once nobody refers to it.

    Whoever holds such an array, or any view or record of it, keeps it from being written over. Safe to use from many
    threads.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._arrays: list[npt.NDArray[np.void]] = []
        self._alone = self._references([np.empty(0, np.void)], 0)

    def copy_of(self, array: npt.NDArray[np.void]) -> npt.NDArray[np.void]:
        """Return a copy of an array of one dimension, the caller's to write to.

        It is copied as bytes: numpy copies records field by field, which takes many times as long.
        """
        with self._lock:
            for place in range(len(self._arrays)):
                if self._references(self._arrays, place) == self._alone and _fits(self._arrays[place], array):
                    spare = self._arrays.pop(place)
                    break
            else:
                spare = np.empty_like(array)  # owns its memory, so that every view of it refers to it
            np.copyto(spare.view(np.uint8), array.view(np.uint8))
            self._arrays = [*self._arrays[1 - KEPT :], spare]
            return spare

    @staticmethod
    def _references(arrays: list[npt.NDArray[np.void]], place: int) -> int:
        return sys.getrefcount(arrays[place])


def _fits(spare: npt.NDArray[np.void], array: npt.NDArray[np.void]) -> bool:
    return spare.shape == array.shape and spare.dtype == array.dtype
