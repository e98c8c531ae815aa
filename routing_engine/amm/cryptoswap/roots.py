"""Signed division and roots as the contracts of Curve's crypto pools compute them."""

from __future__ import annotations

from routing_engine.fixed_point import WAD

INT256 = 2**255 - 1
ROOT_LIMIT = 115792089237316195423570985008687907853269
"""From here on a number times 1e36 leaves uint256."""

ROUNDS = 7


def divide(numerator: int, denominator: int) -> int:
    """Divide towards zero, as the EVM divides signed integers."""
    quotient = abs(numerator) // abs(denominator)
    return quotient if (numerator < 0) == (denominator < 0) else -quotient


def signed(value: int) -> int:
    """Return `value`, raising `OverflowError` unless it fits into a signed 256-bit integer."""
    if not -INT256 - 1 <= value <= INT256:
        raise OverflowError("leaves int256")
    return value


def cube_root(value: int) -> int:
    """Return the cube root of a number with 18 decimals: ``_cbrt``, seven rounds of Newton's method."""
    if value >= ROOT_LIMIT * WAD:
        scaled, factor = value, 10**12
    elif value >= ROOT_LIMIT:
        scaled, factor = value * WAD, 10**6
    else:
        scaled, factor = value * 10**36, 1
    power, remainder = divmod(max(0, scaled.bit_length() - 1), 3)
    root = (1 << power) * (1, 1260, 1260**2)[remainder] // (1, 1000, 1000**2)[remainder]
    for _ in range(ROUNDS):
        root = (2 * root + scaled // (root * root)) // 3
    return root * factor
