"""Who of several workers takes a share that is free, and who gives one away, so that all have about as much to do.

`held` names the shares that each living worker holds; whoever holds none is in it too.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from api.domain.duties import Duty, find_duty

Held = Mapping[str, Collection[str]]


def is_next(share: str, me: str, held: Held) -> bool:
    """Whether nobody who lives has less of the duty, or as much of it and less in all."""
    duty = find_duty(share)
    return _weigh(held[me], duty) <= min(_weigh(shares, duty) for shares in held.values())


def choose_surplus(me: str, held: Held, movable: Collection[str]) -> str | None:
    """Return one of this worker's movable shares to give away, or None.

    That is where somebody has two less of its duty, or one less of it and two less in all. Each such step makes the
    duties more even, or, while these stay as even as they are, the workers; so it ends.
    """
    steps = []
    for share in sorted(movable):
        duty = find_duty(share)
        of_duty, in_all = _weigh(held[me], duty)
        for other in held.values():
            less_of_duty, less_in_all = of_duty - _weigh(other, duty)[0], in_all - len(other)
            if less_of_duty >= 2 or (less_of_duty == 1 and less_in_all >= 2):
                steps.append((less_of_duty, share))
    return max(steps)[1] if steps else None


def _weigh(shares: Collection[str], duty: Duty) -> tuple[int, int]:
    return sum(find_duty(each) == duty for each in shares), len(shares)
