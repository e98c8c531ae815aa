"""How much of a partially fillable order to fill: where its surplus is largest."""

from __future__ import annotations

from collections.abc import Callable

Gain = Callable[[int], int | None]
"""Surplus of an amount before gas; None where the amount cannot be had."""

HALVINGS = 14
"""Of less than a 16,384th of an order no fill is looked for."""

ROUNDS = 10
GOLDEN = 0.6180339887498949
SLIGHTLY_LESS = 64


def find_fill(gain: Gain, most: int) -> int | None:
    """Return the amount of the largest gain; None where nothing gains.

    Prices only get worse with the amount, so the gain rises and then falls: where the last part of all still gains, all
    is filled. Otherwise amounts are halved until the gain falls, and golden sections go on from there.
    """
    least = most >> HALVINGS
    if least and (tiny := gain(least)) is not None and tiny <= 0:
        return None  # most orders end here: their limits are beyond the market
    whole = gain(most)
    if whole is not None and whole > 0 and whole >= (gain(most - max(1, most // SLIGHTLY_LESS)) or 0):
        return most
    best, found = whole or 0, most
    for halvings in range(1, HALVINGS + 1):
        amount = most >> halvings
        value = gain(amount) if amount else None
        if value is not None and value > best:
            best, found = value, amount
        elif best > 0 and value is not None:
            break
    if best <= 0:
        return None
    return _refine(gain, found // 2, min(most, found * 2), (best, found))


def _refine(gain: Gain, low: int, high: int, best: tuple[int, int]) -> int:
    """Return the best amount between two, by golden sections."""
    for _ in range(ROUNDS):
        width = int((high - low) * GOLDEN)
        first, second = high - width, low + width
        if not low < first < second < high:
            break
        left, right = gain(first), gain(second)
        best = max(
            [best, *((value, amount) for value, amount in ((left, first), (right, second)) if value is not None)]
        )
        low, high = (first, high) if left is not None and right is not None and right > left else (low, second)
    return best[1]
