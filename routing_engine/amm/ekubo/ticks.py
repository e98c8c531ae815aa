"""Ekubo's ticks of a millionth and its rounded square-root prices: ``tickToSqrtRatio``, ``toSqrtRatio``.

A square-root price is fixed point 64.128, of which the contract keeps 94 bits: the lowest 2, 34, 66 or 98 are always
zero, depending on the magnitude.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from functools import lru_cache
from math import ceil, floor, log, log1p

MAX_TICK = 88_722_835
MIN_TICK = -MAX_TICK
Q128 = 1 << 128
_BITS = 27
_LOG_TICK = log1p(1e-6)


def _factors() -> tuple[int, ...]:
    """Return 1.000001 ** (-(2 ** i) / 2) in 0.128, rounded to the nearest."""
    with localcontext() as context:
        context.prec = 80
        step = Decimal("1.000001").sqrt()
        found = []
        for _ in range(_BITS):
            found.append(int((Decimal(Q128) / step).to_integral_value()))
            step *= step
        return tuple(found)


_FACTORS = _factors()


def round_ratio(ratio: int, *, up: bool) -> int:
    """Round a square-root price to what the contract can keep.

    Raises
    ------
    OverflowError
        If it is 2**64 or more.
    """
    for bits, dropped in ((96, 2), (128, 34), (160, 66), (192, 98)):
        raised = ratio + (1 << dropped) - 1 if up else ratio
        if raised < 1 << bits:
            return raised >> dropped << dropped
    raise OverflowError("a square-root price must be below 2**64")


@lru_cache(maxsize=20_000)
def sqrt_ratio_at_tick(tick: int) -> int:
    """Square-root price of a tick: 1.000001 ** (tick / 2) in 64.128, rounded down to what can be kept.

    Parameters
    ----------
    tick : int
        From `MIN_TICK` to `MAX_TICK`.
    """
    ratio, magnitude = Q128, abs(tick)
    for bit, factor in enumerate(_FACTORS):
        if magnitude >> bit & 1:
            ratio = ratio * factor >> 128
    if tick > 0:
        ratio = ((1 << 256) - 1) // ratio
    return round_ratio(ratio, up=False)


MIN_SQRT_RATIO = sqrt_ratio_at_tick(MIN_TICK)
MAX_SQRT_RATIO = sqrt_ratio_at_tick(MAX_TICK)


def tick_at_sqrt_ratio(ratio: int) -> int:
    """Highest tick whose square-root price does not exceed `ratio`: ``sqrtRatioToTick``."""
    about = 2.0 * (log(ratio) - log(Q128)) / _LOG_TICK
    # A tick is 4e-9 of such a logarithm: float64 is right to a few millionths of one.
    high, low = min(ceil(about + 1e-3), MAX_TICK), max(floor(about - 1e-3), MIN_TICK)
    while high > low and sqrt_ratio_at_tick(high) > ratio:
        high -= 1
    return high
