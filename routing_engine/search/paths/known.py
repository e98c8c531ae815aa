"""What was found before for one request, so that kernels are asked nothing twice.

A second way to an allocation often begins where another one did: over one hop less, or with the single path that is
still the best without some market. What a kernel finds follows from what it is given alone.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from routing_engine.kernels.arrays import SplitProblem
from routing_engine.kernels.split.flow_network import Paths
from routing_engine.search.paths.memory import ThreadMemory

Found = tuple[float, int, float, float, float]
"""Net output, number of paths, bound, its slope, bound over all flows: as of `generate_columns`."""


ENDS = 63
"""How many sets of paths are remembered, for each problem, at which searches have ended."""

_NO_ENDS = np.zeros(1, np.int64)
"""Where none are remembered, and none can be."""


class _Ends(NamedTuple):
    """Where searches of a problem have ended, and the problem, whose arrays the key names by where they lie."""

    marks: npt.NDArray[np.int64]
    problem: SplitProblem


class _Answer(NamedTuple):
    """What was found, its paths, and the problem, whose arrays the key names by where they lie."""

    found: Found
    paths: Paths
    problem: SplitProblem


Answers = dict[Hashable, Any]
"""Of one request, by what was asked."""


def find_once(
    known: Answers | None, find: Callable[..., Found], paths: Paths, count: int, problem: SplitProblem,
    memory: ThreadMemory, rounds: int, is_judged: bool,
) -> Found:  # fmt: skip
    """Do what a kernel that finds columns does, or return what it did before; paths are changed in place.

    A search ends where one of the same problem has ended. Nothing is remembered where nothing is `known`.
    """
    if known is None:
        return find(paths, count, problem, *memory, rounds, is_judged, _NO_ENDS)
    arrays = problem.graph.forward.edges, problem.allowed, problem.units
    numbers = problem.start, problem.end, problem.max_hops, problem.amount, problem.least_price
    posed = *map(id, arrays), *numbers, problem.gas.tobytes(), paths.x.size
    key = *posed, count, paths.rows[:count].tobytes(), paths.x[:count].tobytes(), rounds, is_judged
    answer: _Answer | None = known.get(key)
    if answer is None:
        ends: _Ends = known.get(posed) or known.setdefault(posed, _Ends(np.zeros(ENDS + 1, np.int64), problem))
        found = find(paths, count, problem, *memory, rounds, is_judged, ends.marks)
        known[key] = _Answer(found, Paths(paths.rows.copy(), paths.x.copy()), problem)
        return found
    paths.rows[:], paths.x[:] = answer.paths
    return answer.found
