"""Which formula a curve follows, by number, for the objects that hold curves and the kernels that compute them."""

from __future__ import annotations

from enum import IntEnum

REFUSED = -1.0
"""What a curve gives instead of an amount that it does not serve."""


class Shape(IntEnum):
    """Which formula a curve follows; kernels compare its number."""

    PIECES = 0
    WEIGHTED = 1
    STABLE = 2
    STABLE_FEE = 3
    SOLIDLY = 4
    WEIGHTED_SERIES = 5
    CRYPTO = 6
