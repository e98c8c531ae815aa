"""Integer arithmetic with the rounding in the name."""

from __future__ import annotations

PIPS = 1_000_000
"""A fee of 1 pip is 1e-6 of the amount: 3000 pips = 30 bps = 0.3 %."""

BPS = 10_000
WAD = 10**18
Q96 = 1 << 96
Q128 = 1 << 128


def mul_div(a: int, b: int, denominator: int) -> int:
    """Return floor(a * b / denominator) without losing a digit."""
    return a * b // denominator


def mul_div_up(a: int, b: int, denominator: int) -> int:
    """Return ceil(a * b / denominator) for non-negative operands."""
    return -(-a * b // denominator)


def div_up(a: int, b: int) -> int:
    """Return ceil(a / b) for non-negative operands."""
    return -(-a // b)


def rescale(amount: int, from_decimals: int, to_decimals: int) -> int:
    """Express `amount` with other decimals, rounded down."""
    if to_decimals >= from_decimals:
        return amount * int(10 ** (to_decimals - from_decimals))
    return amount // int(10 ** (from_decimals - to_decimals))


def rescale_up(amount: int, from_decimals: int, to_decimals: int) -> int:
    """Express `amount` with other decimals, rounded up."""
    if to_decimals >= from_decimals:
        return amount * int(10 ** (to_decimals - from_decimals))
    return div_up(amount, int(10 ** (from_decimals - to_decimals)))
