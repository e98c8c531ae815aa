"""Integer searches that all kinds of pools share: exact, and short where a good first guess is at hand."""

from __future__ import annotations

from collections.abc import Callable


def least_input(gives: Callable[[int], int], wanted: int, guess: int, most: int) -> int | None:
    """Return the least x from 1 to `most` with ``gives(x) >= wanted``, or None where there is none.

    Parameters
    ----------
    gives : callable
        Output for an input; must not fall when the input grows.
    wanted : int
        Output that has to be reached.
    guess : int
        Where to look first; the search takes about twice the binary logarithm of its error in calls.
    most : int
        Largest input considered.
    """
    if most < 1:
        return None
    high = min(max(guess, 1), most)
    reach = 1
    if gives(high) >= wanted:
        low = high - 1
        while low > 0 and gives(low) >= wanted:
            high, low, reach = low, low - 2 * reach, reach * 2
        low = max(low, 0)
    else:
        low = high
        while high < most:
            high = min(high + reach, most)
            if gives(high) >= wanted:
                break
            low, reach = high, reach * 2
        else:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        if gives(middle) >= wanted:
            high = middle
        else:
            low = middle
    return high


def greatest_input(accepts: Callable[[int], bool], low: int, high: int, slack: float = 0.0) -> int:
    """Return the greatest x from `low` to `high` that is accepted, or one less by at most the fraction `slack`.

    `low` must be accepted, and whatever is less than an accepted input, down to `low`.
    """
    if accepts(high):
        return high
    while high - low > 1 + int(low * slack):
        middle = (low + high) // 2
        if accepts(middle):
            low = middle
        else:
            high = middle
    return low
