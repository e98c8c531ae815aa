"""Powers of 18-decimal fixed-point numbers as Balancer computes them: ``LogExpMath`` of the v2 vault's pools.

A power is exp(y * ln(x)). Both functions split off known powers of e and sum a short series for the rest, with 20
decimals inside, or 36 for the logarithm of numbers near one. Every intermediate result is truncated, and the
truncations are part of the answer: a float differs from about the 13th digit on.
"""

from __future__ import annotations

from routing_engine.fixed_point import WAD

E20 = 10**20
E36 = 10**36

NEAR_ONE = (WAD - 10**17, WAD + 10**17)
"""Between these, exclusively, logarithms have 36 decimals."""

MAX_EXPONENT = 130 * WAD
MIN_EXPONENT = -41 * WAD
"""Bounds of y * ln(x); the contract reverts beyond."""

LARGE = (
    (128 * WAD, 38877084059945950922200000000000000000000000000000000000),
    (64 * WAD, 6235149080811616882910000000),
)
"""Exponents with 18 decimals, and e raised to them with none."""

SMALL = (
    (32 * E20, 7896296018268069516100000000000000),
    (16 * E20, 888611052050787263676000000),
    (8 * E20, 298095798704172827474000),
    (4 * E20, 5459815003314423907810),
    (2 * E20, 738905609893065022723),
    (E20, 271828182845904523536),
    (E20 // 2, 164872127070012814685),
    (E20 // 4, 128402541668774148407),
    (E20 // 8, 113314845306682631683),
    (E20 // 16, 106449445891785942956),
)
"""Exponents and powers of e, both with 20 decimals; the last two serve logarithms only."""


def power(base: int, exponent: int) -> int:
    """Return base ** exponent, all with 18 decimals.

    Equals ``LogExpMath.pow``.

    Raises
    ------
    ValueError
        If the contract would revert: the result leaves the range of exponents.
    """
    if exponent == 0:
        return WAD
    if base == 0:
        return 0
    # The contract truncates towards zero, so a sign can be put aside and set again.
    if NEAR_ONE[0] < base < NEAR_ONE[1]:
        whole, rest = divmod(_ln_near_one(base), WAD)
        product = whole * exponent + rest * exponent // WAD
    else:
        product = _ln(base if base >= WAD else E36 // base) * exponent
    logarithm = product // WAD if base >= WAD else -(product // WAD)
    if not MIN_EXPONENT <= logarithm <= MAX_EXPONENT:
        raise ValueError(f"{base} ** {exponent} (18 decimals) is out of range")
    return _exp(logarithm) if logarithm >= 0 else E36 // _exp(-logarithm)


def _exp(x: int) -> int:
    """Return e**x for x >= 0; equals ``LogExpMath.exp``."""
    large = 1
    for exponent, value in LARGE:
        if x >= exponent:
            x, large = x - exponent, value
            break
    x *= 100
    product = E20
    for exponent, value in SMALL[:8]:
        if x >= exponent:
            x -= exponent
            product = product * value // E20
    total = term = E20
    for divisor in range(1, 13):
        term = term * x // E20 // divisor
        total += term
    return product * total // E20 * large // 100


def _ln(a: int) -> int:
    """Return ln(a) with 18 decimals for a >= 1; equals ``LogExpMath._ln``."""
    total = 0
    for exponent, value in LARGE:
        if a >= value * WAD:
            a //= value
            total += exponent
    total *= 100
    a *= 100
    for exponent, value in SMALL:
        if a >= value:
            a = a * E20 // value
            total += exponent
    return (total + _series((a - E20) * E20 // (a + E20), E20, 11)) // 100


def _ln_near_one(x: int) -> int:
    """Return abs(ln(x)) with 36 decimals; equals ``LogExpMath._ln_36`` but for its sign."""
    x *= WAD
    return _series(abs(x - E36) * E36 // (x + E36), E36, 15)


def _series(z: int, one: int, last: int) -> int:
    """Return 2 * (z + z**3 / 3 + z**5 / 5 + ... ) to the power `last`: ln((1 + z) / (1 - z))."""
    square = z * z // one
    total = term = z
    for divisor in range(3, last + 1, 2):
        term = term * square // one
        total += term // divisor
    return 2 * total
