"""Ticks and square-root prices of concentrated liquidity: ``TickMath`` of Uniswap v3.

A tick t stands for the price 1.0001**t; prices are kept as square roots in Q64.96. The contract multiplies one constant
per set bit of |t|, rounding down each time, lowest bit first. Rounding makes the order matter, so the table below holds
the running product for every value of the low bits, and the remaining bits follow one by one.
"""

from __future__ import annotations

from functools import lru_cache
from math import log

from routing_engine.fixed_point import Q96

MIN_TICK = -887272
MAX_TICK = 887272
MIN_SQRT_RATIO = 4295128739
"""`sqrt_ratio_at_tick(MIN_TICK)`: prices may reach it, swaps stop one above."""
MAX_SQRT_RATIO = 1461446703485210103287273052203988822378723970342
"""`sqrt_ratio_at_tick(MAX_TICK)`: prices stay below it."""

_FACTORS = (
    0xFFFCB933BD6FAD37AA2D162D1A594001,
    0xFFF97272373D413259A46990580E213A,
    0xFFF2E50F5F656932EF12357CF3C7FDCC,
    0xFFE5CACA7E10E4E61C3624EAA0941CD0,
    0xFFCB9843D60F6159C9DB58835C926644,
    0xFF973B41FA98C081472E6896DFB254C0,
    0xFF2EA16466C96A3843EC78B326B52861,
    0xFE5DEE046A99A2A811C461F1969C3053,
    0xFCBE86C7900A88AEDCFFC83B479AA3A4,
    0xF987A7253AC413176F2B074CF7815E54,
    0xF3392B0822B70005940C7A398E4B70F3,
    0xE7159475A2C29B7443B29C7FA6E889D9,
    0xD097F3BDFD2022B8845AD8F792AA5825,
    0xA9F746462D870FDF8A65DC1F90E061E5,
    0x70D869A156D2A1B890BB3DF62BAF32F7,
    0x31BE135F97D08FD981231505542FCFA6,
    0x9AA508B5B7A84E1C677DE54F3E99BC9,
    0x5D6AF8DEDB81196699C329225EE604,
    0x2216E584F5FA1EA926041BEDFE98,
    0x48A170391F7DC42444E8FA2,
)
"""``1.0001**(-2**(i - 1))`` in Q128.128, as the contract states them."""

_LOW_BITS = 10
_LOW_MASK = (1 << _LOW_BITS) - 1
_HALF_LOG_TICK = log(1.0001) / 2


def _low_products() -> tuple[int, ...]:
    products = [1 << 128]
    for factor in _FACTORS[:_LOW_BITS]:
        products += [product * factor >> 128 for product in products]
    return tuple(products)


_LOW = _low_products()


@lru_cache(maxsize=1 << 16)
def sqrt_ratio_at_tick(tick: int) -> int:
    """Return sqrt(1.0001**tick) in Q64.96, rounded up as the contract does.

    Equals ``TickMath.getSqrtRatioAtTick``.

    Raises
    ------
    ValueError
        If `tick` is outside `MIN_TICK` to `MAX_TICK`.
    """
    distance = abs(tick)
    if distance > MAX_TICK:
        raise ValueError(f"tick must be from {MIN_TICK} to {MAX_TICK}, not {tick}")
    ratio = _LOW[distance & _LOW_MASK]
    high = distance >> _LOW_BITS
    bit = _LOW_BITS
    while high:
        if high & 1:
            ratio = ratio * _FACTORS[bit] >> 128
        high >>= 1
        bit += 1
    if tick > 0:
        ratio = ((1 << 256) - 1) // ratio
    return -(-ratio >> 32)


def tick_at_sqrt_ratio(sqrt_ratio_x96: int) -> int:
    """Return the greatest tick whose square-root price is at most `sqrt_ratio_x96`.

    Equals ``TickMath.getTickAtSqrtRatio``; a float logarithm finds the neighbourhood, exact comparison decides.

    Raises
    ------
    ValueError
        If the price is outside ``[MIN_SQRT_RATIO, MAX_SQRT_RATIO)``.
    """
    if not MIN_SQRT_RATIO <= sqrt_ratio_x96 < MAX_SQRT_RATIO:
        raise ValueError(f"the square-root price {sqrt_ratio_x96} is outside the range of ticks")
    tick = int(log(sqrt_ratio_x96 / Q96) // _HALF_LOG_TICK)
    tick = min(max(tick, MIN_TICK), MAX_TICK - 1)
    while sqrt_ratio_at_tick(tick) > sqrt_ratio_x96:
        tick -= 1
    while sqrt_ratio_at_tick(tick + 1) <= sqrt_ratio_x96:
        tick += 1
    return tick
