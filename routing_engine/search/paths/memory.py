"""The memory that kernels work in: each thread that searches has its own."""

from __future__ import annotations

import threading
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from routing_engine.kernels.arrays import FlowState, Workspace
from routing_engine.kernels.search.labels import LABELS
from routing_engine.kernels.workspace import create_flow_state, create_workspace
from routing_engine.request import MAX_HOPS


class ThreadMemory(NamedTuple):
    """What kernels need of one thread's memory."""

    state: FlowState
    workspace: Workspace


class SearchMemory(NamedTuple):
    """All that one thread has.

    Parameters
    ----------
    of_kernels : ThreadMemory
        What kernels work in.
    found : int32 array, shape (paths, hops)
        Where a search writes the paths that it finds.
    scores : float64 array, shape (paths, 2)
        And their times and scores.
    """

    of_kernels: ThreadMemory
    found: npt.NDArray[np.int32]
    scores: npt.NDArray[np.float64]


class Memories:
    """The memory of threads that search graphs of one size."""

    def __init__(self) -> None:
        self._own = threading.local()
        self._lent: list[SearchMemory] = []

    def take(self, tokens: int, markets: int, edges: int) -> SearchMemory:
        """Return this thread's memory for a graph of that size; what another has lent before any is made."""
        memory: SearchMemory | None = getattr(self._own, "memory", None)
        if memory is None:
            try:
                memory = self._lent.pop()
            except IndexError:
                memory = _make(tokens, markets, edges)
            self._own.memory = memory
        return memory

    def lend(self) -> None:
        """Let whichever thread needs memory next have this thread's, of which no search is under way."""
        memory: SearchMemory | None = vars(self._own).pop("memory", None)
        if memory is not None:
            self._lent.append(memory)


def _make(tokens: int, markets: int, edges: int) -> SearchMemory:
    state, workspace = create_flow_state(tokens, markets, edges, MAX_HOPS), create_workspace(tokens, MAX_HOPS)
    rows = MAX_HOPS * LABELS
    return SearchMemory(ThreadMemory(state, workspace), np.empty((rows, MAX_HOPS), np.int32), np.empty((rows, 2)))
