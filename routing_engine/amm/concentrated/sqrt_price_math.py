"""Amounts between square-root prices, and prices after amounts: ``SqrtPriceMath`` of Uniswap v3.

With liquidity L and square-root price s a pool holds L / s of token 0 and L * s of token 1; every function here is that
line with the contract's rounding. Prices are Q64.96 integers. Requires 0 < lower <= upper where two are given.
"""

from __future__ import annotations

from routing_engine.fixed_point import Q96

_MAX_UINT256 = 2**256 - 1


def amount0_delta(lower: int, upper: int, liquidity: int) -> int:
    """Return the token 0 between two prices, rounded down; ``getAmount0Delta`` with ``roundUp = false``.

    The contract divides twice, rounding the same way: one division by the product gives the same.
    """
    return (liquidity << 96) * (upper - lower) // (upper * lower)


def amount1_delta(lower: int, upper: int, liquidity: int) -> int:
    """Return the token 1 between two prices, rounded down; ``getAmount1Delta`` with ``roundUp = false``."""
    return liquidity * (upper - lower) >> 96


def amounts_falling(lower: int, upper: int, liquidity: int) -> tuple[int, int]:
    """Return the token 0 that carries the price down, rounded up, and the token 1 that comes out, rounded down."""
    fall = upper - lower
    return -(-(liquidity << 96) * fall // (upper * lower)), liquidity * fall >> 96


def amounts_rising(lower: int, upper: int, liquidity: int) -> tuple[int, int]:
    """Return the token 1 that carries the price up, rounded up, and the token 0 that comes out, rounded down."""
    rise = upper - lower
    return -(-liquidity * rise >> 96), (liquidity << 96) * rise // (upper * lower)


def price_after_amount0_in(sqrt_price_x96: int, liquidity: int, amount: int) -> int:
    """Return the price after adding token 0, rounded up so that it never falls too far.

    Equals ``getNextSqrtPriceFromAmount0RoundingUp`` with ``add = true``, including the coarser formula that the
    contract takes where the product would not fit 256 bits.
    """
    numerator = liquidity << 96
    denominator = numerator + amount * sqrt_price_x96
    if denominator <= _MAX_UINT256:
        return -(-numerator * sqrt_price_x96 // denominator)
    return -(-numerator // (numerator // sqrt_price_x96 + amount))


def price_after_amount0_out(sqrt_price_x96: int, liquidity: int, amount: int) -> int:
    """Return the price after removing token 0, rounded up.

    Equals ``getNextSqrtPriceFromAmount0RoundingUp`` with ``add = false``. Requires ``amount`` below the pool's whole
    virtual reserve L / s, as an amount short of the next tick always is.
    """
    numerator = liquidity << 96
    return -(-numerator * sqrt_price_x96 // (numerator - amount * sqrt_price_x96))


def price_after_amount1_in(sqrt_price_x96: int, liquidity: int, amount: int) -> int:
    """Return the price after adding token 1, rounded down.

    Equals ``getNextSqrtPriceFromAmount1RoundingDown`` with ``add = true``.
    """
    return sqrt_price_x96 + amount * Q96 // liquidity


def price_after_amount1_out(sqrt_price_x96: int, liquidity: int, amount: int) -> int:
    """Return the price after removing token 1, rounded down.

    Equals ``getNextSqrtPriceFromAmount1RoundingDown`` with ``add = false``. Requires ``amount`` below the pool's whole
    virtual reserve L * s.
    """
    return sqrt_price_x96 + -amount * Q96 // liquidity
