"""How far an answer can be from the best there is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from math import ceil, floor, inf
from typing import NamedTuple

from routing_engine.fixed_point import BPS
from routing_engine.values import seal

ALL_FLOWS = "all_flows"
"""Scope of a certificate that covers paths of any number of markets."""

SHOWN_BPS = 0.01
"""Gaps below this are not written out."""

PRECISION = 1e-9
"""More than the relative error of a bound: a unit that it misses by less is not rounded away."""

IMPRECISE = 1e-6
"""Part by which an answer may be better than its bound, in the last digits of both, for the bound to be believed."""

BELOW_ANSWER = "the bound is worse than the answer, so it is wrong; please report the request"


class Bounds(NamedTuple):
    """What no route nets more than, or costs less than: routes of so many hops, and of any number of them.

    Infinite, or 0 where it is a cost, if nothing is known. What holds for any number holds for few.
    """

    of_hops: float
    of_flows: float


@seal
@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """A proof by duality that no route beats an answer by more than a gap.

    `routing_engine.kernels.bound.dual_bound` computes it.

    It is computed in float64, with an allowance of 1e-9 for errors and one of a few units for what markets round in a
    trader's favour, and covers splits over any number of paths. Over pools whose formula is approximated by pieces it
    rests on how far the formula was measured to lie above them.

    Parameters
    ----------
    gap_bps : float or None
        Hundredths of a percent by which the best route's net amount can be better: larger for exact-in, smaller for
        exact-out. They are of the larger of the two amounts: of the best route's output, or of this one's cost. None
        where nothing is proven; `reason` says why.
    scope : str
        The routes that it covers: ``routes_up_to_4_hops`` are splits over paths of so many markets, each market used
        once and in one direction; ``all_flows`` are those of any number of markets. Of these, ``…_within_900_s`` are
        the ones that take no longer than so many seconds.
    gas_aware : bool
        Whether the gas of every market counts in the comparison, as in the answer's net amount.
    reason : str
        Empty, or why there is no gap.
    all_flows_gap_bps : float or None
        The gap over paths of any number of markets; None where there is no proof. It is looked for where the gas of a
        market is a small part of the amount, on snapshots of up to 2,000 tokens; of many paths, of up to 4,000.
    """

    gap_bps: float | None
    scope: str
    gas_aware: bool
    reason: str = ""
    all_flows_gap_bps: float | None = None

    @property
    def shown_gap(self) -> str:
        """The gap for people, such as ``0.14 bps``."""
        return _write_gap(self.gap_bps)

    @property
    def shown_all_flows_gap(self) -> str:
        """The gap over any number of markets for people."""
        return _write_gap(self.all_flows_gap_bps)

    @property
    def shown_scope(self) -> str:
        """The scope for people, such as ``routes up to 4 hops``."""
        return self.scope.removeprefix("all_").replace("_", " ")

    def explain(self) -> str:
        """Say in a few sentences what the gap means, of which routes it speaks, and what it does not cover."""
        if self.gap_bps is None:
            return f"No gap is proven: {self.reason}. The route's amounts are exact all the same; a better may exist."
        least = self.gap_bps < SHOWN_BPS
        shown = f"{SHOWN_BPS} bps or more" if least else f"more than {self.shown_gap}"
        part = f"{max(self.gap_bps, SHOWN_BPS):,.2f} of 10,000 of the larger net amount"
        gap = f"No other route is better by {shown}: {part}."
        doubt = "" if least else " That much is not excluded; it need not exist."
        gas = "The gas of every market counts." if self.gas_aware else "Gas does not count."
        longer = ""
        if not self.scope.startswith(ALL_FLOWS):
            known = f" (against these it is {self.shown_all_flows_gap} at most)"
            longer = f"longer paths{known if self.all_flows_gap_bps is not None else ''}, "
        return (
            f"{gap}{doubt} Compared are all {self.shown_scope}, over the markets of the snapshot that the request "
            f"allows, divided over any number of paths, each market used once and in one direction. {gas} Not covered "
            f"are {longer}other markets, what waiting is worth, and what prices do after the snapshot."
        )

    def within(self, fill_time_s: int) -> Certificate:
        """Return the same proof where it covers only routes that take no longer than so many seconds."""
        return replace(self, scope=f"{self.scope}_within_{fill_time_s}_s")

    @classmethod
    def of_output(cls, net: float, bounds: Bounds, max_hops: int, *, gas_aware: bool) -> Certificate:
        """Judge a net output by upper bounds of it."""
        of_flows, bound = bounds.of_flows, min(bounds)
        if net <= 0.0:
            return cls.missing("the gas is worth more than the output", max_hops, gas_aware=gas_aware)
        if bound == inf:
            return cls.missing("no bound was found", max_hops, gas_aware=gas_aware)
        if net > bound * (1.0 + IMPRECISE):
            return cls.missing(BELOW_ANSWER, max_hops, gas_aware=gas_aware)
        # Net outputs are whole units.
        gaps = [max(0.0, 1.0 - net / min(each, floor(each * (1.0 + PRECISION)))) for each in bounds if each < inf]
        return cls._of_gaps(min(gaps), gaps[-1] if of_flows < inf else None, max_hops, gas_aware=gas_aware)

    @classmethod
    def of_input(cls, gross: float, bounds: Bounds, max_hops: int, *, gas_aware: bool) -> Certificate:
        """Judge an input and its gas by lower bounds of both together."""
        of_flows = bounds.of_flows
        if not max(bounds) > 0.0:
            return cls.missing("the bound rules out no input, however small", max_hops, gas_aware=gas_aware)
        if gross < max(bounds) * (1.0 - IMPRECISE):
            return cls.missing(BELOW_ANSWER, max_hops, gas_aware=gas_aware)
        gaps = [max(0.0, 1.0 - max(each, ceil(each * (1.0 - PRECISION))) / gross) for each in bounds if each > 0.0]
        return cls._of_gaps(min(gaps), gaps[-1] if of_flows > 0.0 else None, max_hops, gas_aware=gas_aware)

    @classmethod
    def _of_gaps(cls, gap: float, of_flows: float | None, max_hops: int, *, gas_aware: bool) -> Certificate:
        """Claim a gap, and that over all flows where it is known."""
        is_of_all = of_flows is not None and of_flows <= gap
        return cls(
            gap_bps=gap * BPS,
            scope=ALL_FLOWS if is_of_all else _describe_scope(max_hops),
            gas_aware=gas_aware,
            all_flows_gap_bps=None if of_flows is None else of_flows * BPS,
        )

    @classmethod
    def missing(cls, reason: str, max_hops: int, *, gas_aware: bool = False) -> Certificate:
        """Say that nothing is proven."""
        return cls(gap_bps=None, scope=_describe_scope(max_hops), gas_aware=gas_aware, reason=reason)


def _write_gap(gap_bps: float | None) -> str:
    if gap_bps is None:
        return "unknown"
    return f"<{SHOWN_BPS} bps" if gap_bps < SHOWN_BPS else f"{gap_bps:,.2f} bps"


@cache
def _describe_scope(max_hops: int) -> str:
    return f"routes_up_to_{max_hops}_hop" + ("s" if max_hops > 1 else "")
