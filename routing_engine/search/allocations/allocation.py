"""An amount allocated to paths: what the kernels of a split are given, and what they leave."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from math import inf
from operator import attrgetter
from typing import Self

import numpy as np

from routing_engine.certificate import Bounds
from routing_engine.kernels.split.flow_network import Paths
from routing_engine.request import MAX_HOPS
from routing_engine.values import seal

Part = tuple[Sequence[int], float]
"""The forward edges of one path, and its input."""

NO_INPUT = Bounds(0.0, 0.0)
"""Bounds of what nothing is known about."""

ALIKE = 1e-5
"""Part of the net output by which two allocations differ at most for a close look at one to be one at the other too."""


@seal
@dataclass(frozen=True, slots=True)
class Allocation:
    """Paths, and the input of each.

    Parameters
    ----------
    paths : Paths
        Rows of forward edges and their inputs; the first `count` are in use, the others are capacity for more.
    count : int
        Paths in use.
    net, bound : float
        Net output, and what that of no allocation of the same input exceeds, in units of the target; unknown at first.
    slope : float
        What a unit less of input takes off the bound.
    flow_bound : float
        A bound over paths of any number of markets; infinite where it is not known.
    max_hops : int
        Of the paths that were looked for, and of those that the bound speaks of.
    is_judged : bool
        Whether the bound is the closest that there is; while paths are looked for, a looser one does.
    least_input : Bounds
        Lower bounds of the input and gas of all routes that give what is asked for; 0 where they are not known.
    """

    paths: Paths
    count: int
    net: float = -inf
    bound: float = inf
    slope: float = 0.0
    flow_bound: float = inf
    max_hops: int = 0
    is_judged: bool = False
    least_input: Bounds = NO_INPUT

    @classmethod
    def from_parts(cls, parts: Sequence[Part], capacity: int, max_hops: int) -> Self:
        """Lay parts out, with room for `capacity` paths of at most `max_hops` hops.

        Raises
        ------
        ValueError
            If that is more than `MAX_HOPS`: kernels have memory for no more, and don't check.
        """
        if max_hops > MAX_HOPS:
            raise ValueError(f"paths of {max_hops} hops were given to kernels that take {MAX_HOPS}")
        if capacity == len(parts) == 1:  # a single path, of which only a bound is asked
            edges, part = parts[0]
            row = [*edges, *[-1] * (max_hops - len(edges))]
            return cls(Paths(np.array([row], np.int32), np.array([float(part)])), 1)
        rows, x = np.empty((capacity, max_hops), np.int32), np.zeros(capacity)
        rows.fill(-1)
        for place, (edges, part) in enumerate(parts):
            rows[place, : len(edges)] = edges
            x[place] = part
        return cls(Paths(rows, x), len(parts))

    def copy(self) -> Allocation:
        """Return an allocation of its own memory, with no capacity for more."""
        paths = Paths(self.paths.rows[: self.count].copy(), self.paths.x[: self.count].copy())
        return replace(self, paths=paths)

    def without(self, edges: Container[int]) -> Allocation:
        """Return an allocation of the same amount without the paths over some edges; of nothing if none is left."""
        parts = [(path, part) for path, part in self.list_parts() if not any(edge in edges for edge in path)]
        left = sum([part for _, part in parts])
        scaled = [(path, part * self.amount / left) for path, part in parts] if left > 0.0 else []
        return replace(self.from_parts(scaled, len(scaled), self.paths.rows.shape[1]), max_hops=self.max_hops)

    def leave_out(self, place: int) -> Allocation:
        """Return an allocation of the same amount to its other paths, with its bounds: they hold for fewer too.

        It nets nothing if these took nothing.
        """
        rows, x = np.delete(self.paths.rows[: self.count], place, axis=0), np.delete(self.paths.x[: self.count], place)
        left = float(x.sum())
        paths = Paths(rows, x * (self.amount / left) if left > 0.0 else x)
        return replace(self, paths=paths, count=len(x), net=self.net if left > 0.0 else -inf)

    @property
    def amount(self) -> float:
        """The input of all paths together."""
        return float(self.paths.x[: self.count].sum())

    def is_open(self, gap: float) -> bool:
        """Whether more than a relative gap is between it and its bound."""
        return self.bound > self.net * (1.0 + gap)

    def list_parts(self, scale: float = 1.0) -> list[Part]:
        """List the edges and the input of each path, as parts of `scale` times the amount."""
        rows, x = self.paths.rows[: self.count].tolist(), self.paths.x[: self.count].tolist()
        return [([edge for edge in row if edge >= 0], part * scale) for row, part in zip(rows, x, strict=True)]


def choose_better(one: Allocation, other: Allocation) -> Allocation:
    """Return the better of two allocations of one amount, with the tighter of their bounds.

    All hold for both, but for a bound over paths of fewer markets than the better one was chosen from. Where one was
    looked at closely, and the better one nets hardly more, another look would take as long and prove no more.
    """
    better = max(one, other, key=attrgetter("net"))
    spoken_of = [each for each in (one, other) if each.max_hops >= better.max_hops]
    tighter = min(spoken_of, key=attrgetter("bound"))
    flow_bound = min(one.flow_bound, other.flow_bound)
    least_input = Bounds(*map(max, one.least_input, other.least_input))
    alike = [each for each in spoken_of if each.net >= better.net * (1.0 - ALIKE)]
    return replace(
        better, bound=tighter.bound, slope=tighter.slope, flow_bound=flow_bound, least_input=least_input,
        is_judged=any(each.is_judged for each in alike),
    )  # fmt: skip
