"""A division of an amount over paths, as kernels leave it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from operator import attrgetter

import numpy as np
import numpy.typing as npt

Paths = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Division:
    """Paths, and the input of each.

    Parameters
    ----------
    paths : int32 array, shape (room, max_hops)
        Forward edges, -1 past the end; the first `count` rows are in use.
    x : float64 array, shape (room,)
        Inputs.
    count : int
        Paths in use.
    net, bound : float
        Net output, and what that of no division of the same input exceeds, in units of the target.
    slope : float
        What a unit less of input takes off the bound.
    """

    paths: Paths
    x: Floats
    count: int
    net: float
    bound: float
    slope: float


def better(one: Division, other: Division) -> Division:
    """Return the better of two divisions of one amount, with the tighter of their bounds: both hold for both."""
    better = max(one, other, key=attrgetter("net"))
    tighter = min(one, other, key=attrgetter("bound"))
    return replace(better, bound=tighter.bound, slope=tighter.slope)


def parts_of(division: Division) -> list[tuple[list[int], float]]:
    """List the edges and the input of each path."""
    rows, x = division.paths[: division.count].tolist(), division.x[: division.count].tolist()
    return [([edge for edge in row if edge >= 0], part) for row, part in zip(rows, x, strict=True)]
