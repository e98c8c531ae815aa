"""How far an answer can be from the best there is."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, inf

from routing_engine.fixed_point import BPS

PRECISION = 1e-9
"""More than the relative error of a bound: a unit that it misses by less is not rounded away."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """A proof by duality that no route beats an answer by more than a gap.

    `routing_engine.kernels.bound.dual_bound` computes it.

    It is computed in float64, whose relative error is far below 1e-9, and covers splits over any number of paths.

    Parameters
    ----------
    gap_bps : float or None
        Hundredths of a percent by which the best route's net amount can be better: larger for exact-in, smaller for
        exact-out. None where nothing is proven; `reason` says why.
    scope : str
        The routes that it covers, such as ``routes_up_to_4_hops``: splits over paths of so many markets, each
        market used once and in one direction.
    gas_aware : bool
        Whether the gas of every market counts in the comparison, as in the answer's net amount.
    reason : str
        Empty, or why there is no gap.
    """

    gap_bps: float | None
    scope: str
    gas_aware: bool
    reason: str = ""

    @classmethod
    def of_output(cls, net: float, bound: float, max_hops: int, *, gas_aware: bool) -> Certificate:
        """Judge a net output by an upper bound of it."""
        if not 0.0 < net <= bound * (1.0 + 1e-6) or bound == inf:
            return cls.missing("the gas is worth more than the output", max_hops, gas_aware=gas_aware)
        whole = min(bound, floor(bound * (1.0 + PRECISION)))  # net outputs are whole units
        return cls(gap_bps=max(0.0, 1.0 - net / whole) * BPS, scope=_describe_scope(max_hops), gas_aware=gas_aware)

    @classmethod
    def of_input(cls, gross: float, bound: float, max_hops: int, *, gas_aware: bool) -> Certificate:
        """Judge an input and its gas by a lower bound of both together."""
        if not bound > 0.0:
            return cls.missing("no input is too small for the bound", max_hops, gas_aware=gas_aware)
        whole = max(bound, ceil(bound * (1.0 - PRECISION)))
        return cls(gap_bps=max(0.0, gross / whole - 1.0) * BPS, scope=_describe_scope(max_hops), gas_aware=gas_aware)

    @classmethod
    def missing(cls, reason: str, max_hops: int, *, gas_aware: bool = False) -> Certificate:
        """Say that nothing is proven."""
        return cls(gap_bps=None, scope=_describe_scope(max_hops), gas_aware=gas_aware, reason=reason)


def _describe_scope(max_hops: int) -> str:
    return f"routes_up_to_{max_hops}_hop" + ("s" if max_hops > 1 else "")
