"""What makes one route better than another: money, time, or both."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from routing_engine.fixed_point import BPS

OrderName = Literal["cheapest", "fastest", "balanced"]
"""An order of routes as callers write it."""

SECONDS_PER_HOUR = 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class Objective:
    """How net amounts and fill time weigh against each other.

    Parameters
    ----------
    name : str
        What requests call it.
    time_first : bool
        Compare fill times before amounts.
    time_cost_per_s : float
        Fraction of the amount that one second of waiting is worth.
    """

    name: str
    time_first: bool = False
    time_cost_per_s: float = 0.0

    @property
    def weighs_time(self) -> bool:
        """Whether time counts, beyond telling equal amounts apart."""
        return self.time_first or self.time_cost_per_s != 0.0

    def at_rate(self, bps_per_hour: float) -> Objective:
        """Return the same order with another worth of waiting: bps of the amount for an hour."""
        return replace(self, time_cost_per_s=bps_per_hour / (BPS * SECONDS_PER_HOUR))

    def rank(self, net_amount: int, fill_time_s: int, *, exact_out: bool) -> tuple[float, float]:
        """Sort key of a route; smaller is better.

        Parameters
        ----------
        net_amount : int
            Output after gas for exact-in, input plus gas for exact-out.
        fill_time_s : int
            Of the whole route.
        exact_out : bool
            Whether `net_amount` is paid rather than received.
        """
        wait = self.time_cost_per_s * fill_time_s
        score = net_amount * (1 + wait) if exact_out else -net_amount * (1 - wait)
        return (fill_time_s, score) if self.time_first else (score, fill_time_s)


CHEAPEST = Objective(name="cheapest")
FASTEST = Objective(name="fastest", time_first=True)
BALANCED = Objective(name="balanced").at_rate(60)
"""One basis point a minute: a 15-minute bridge must be 15 bps cheaper than an instant one."""

OBJECTIVES = {objective.name: objective for objective in (CHEAPEST, FASTEST, BALANCED)}
