"""The amount that gains most, by exact quotes."""

from __future__ import annotations

from collections.abc import Callable

Gain = Callable[[int], int | None]
"""What an amount gains; None where it is too large."""

GOLDEN = 0.6180339887498949
MOST_FALLS = 16
"""So often in a row the gain falls by rounding alone at most, while amounts double: beyond that nothing gains more."""
PRECISION = 10**9


def find_best_amount(gain: Gain, least: int, most: int) -> int | None:
    """Return an amount of the largest gain; None if no amount gains anything.

    The gain rises and then falls, as every curve on the way is concave. But rounding makes it rough where units are
    few: there it may rise above 0 and fall many times. So amounts double until it has fallen for long, or is refused.
    Golden sections go on from the best of them until they are one unit wide, or a billionth of the amount. By what
    rounding makes rough there the best may be missed.
    """
    start = _double(gain, max(least, 1), most)
    if start is None:
        return None
    best = gain(start) or 0, -start
    low, high = start // 2, min(start * 2, most)
    while high - low > max(2, start // PRECISION):
        width = int((high - low) * GOLDEN)
        first, second = high - width, low + width
        left, right = gain(first), gain(second)
        tried = [(value, -amount) for value, amount in ((left, first), (right, second)) if value is not None]
        best = max([best, *tried])
        low, high = (first, high) if left is not None and right is not None and right > left else (low, second)
    return -best[1]


def _double(gain: Gain, amount: int, most: int) -> int | None:
    """Return the best of an amount and its doubles; None if none gains anything."""
    best, before, falls = (0, 0), 0, 0
    while amount <= most and (value := gain(amount)) is not None:
        best = max(best, (value, amount))
        falls = falls + 1 if value < before else 0
        if falls > MOST_FALLS:
            break
        before, amount = value, amount * 2
    return best[1] or None
