"""What happens in a run, and when: all of it follows from a seed."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from random import Random

QUIET_BEGIN_S = 5.0
"""Before the first fault, so that a run has something to compare with."""
APIS = 3
WORKERS = 2


class Part(StrEnum):
    """What may be killed or stopped."""

    API = "api"
    WORKER = "worker"
    STREAM = "stream"
    REDIS = "redis"
    DATABASE = "database"


SHARES = {Part.API: 0.4, Part.WORKER: 0.25, Part.STREAM: 0.15, Part.REDIS: 0.1, Part.DATABASE: 0.1}
"""Of the kills."""
STOPS_S = {Part.API: 4.0, Part.WORKER: 9.0, Part.STREAM: 4.0, Part.REDIS: 3.0, Part.DATABASE: 3.0}
"""How long about a part stands still: a worker for longer than its leases last."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Fault:
    """Something that is done to a part; `lasts_s` is 0 for a kill."""

    at_s: float
    part: Part
    lasts_s: float = 0.0

    @property
    def word(self) -> str:
        """Kill or stop."""
        return "stop" if self.lasts_s else "kill"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A run.

    Parameters
    ----------
    rate : float
        Orders a second that arrive, whatever becomes of those before.
    kills, stops : int
        How many, spread over the run.
    told_share : float
        Orders of shops that have webhooks.
    paid_share : float
        Of those, the ones that are paid.
    watched_share : float
        Of the paid ones, those whose customer has the page open.
    """

    seconds: float
    rate: float
    seed: int = 7
    kills: int = 0
    stops: int = 0
    told_share: float = 0.12
    paid_share: float = 0.5
    watched_share: float = 0.2
    faults: tuple[Fault, ...] = field(init=False)
    arrivals: tuple[float, ...] = field(init=False)

    def __post_init__(self) -> None:
        dice = Random(self.seed)
        object.__setattr__(self, "arrivals", tuple(_draw_arrivals(dice, self.rate, self.seconds)))
        object.__setattr__(self, "faults", tuple(sorted(self._draw_faults(dice))))

    def _draw_faults(self, dice: Random) -> list[Fault]:
        span = self.seconds - QUIET_BEGIN_S
        kills = _share_out(self.kills)
        stops = [list(Part)[number % len(Part)] for number in range(self.stops)]
        dice.shuffle(kills)
        faults = []
        for number, part in enumerate(kills):
            at_s = QUIET_BEGIN_S + span * (number + dice.random()) / len(kills)
            faults.append(Fault(at_s=at_s, part=part))
        for number, part in enumerate(stops):
            at_s = QUIET_BEGIN_S + span * (number + dice.random()) / len(stops)
            faults.append(Fault(at_s=at_s, part=part, lasts_s=STOPS_S[part] * (0.5 + dice.random())))
        return faults


def _draw_arrivals(dice: Random, rate: float, seconds: float) -> list[float]:
    """Draw moments as strangers come: independently of one another."""
    moments, now = [], dice.expovariate(rate)
    while now < seconds:
        moments.append(now)
        now += dice.expovariate(rate)
    return moments


def _share_out(count: int) -> list[Part]:
    """Give each part its share of so many kills."""
    owed = dict.fromkeys(Part, 0.0)
    given = []
    for _ in range(count):
        for part, share in SHARES.items():
            owed[part] += share
        most = max(owed, key=lambda part: owed[part])
        owed[most] -= 1
        given.append(most)
    return given
