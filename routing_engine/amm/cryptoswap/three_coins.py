"""The balance of a three-coin crypto pool in closed form: ``get_y`` of Curve's tricrypto NG mathematics."""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt

from routing_engine.amm.cryptoswap.curves import (
    A_SCALE,
    LEAST_D,
    LEAST_SHARE,
    MOST_D,
    MOST_SHARE,
    newton_balance_within,
)
from routing_engine.amm.cryptoswap.roots import cube_root, divide, signed
from routing_engine.fixed_point import WAD

LEAST_ANN, MOST_ANN = 27 * A_SCALE // 100, 27 * A_SCALE * 1000
LEAST_GAMMA, MOST_GAMMA = 10**10, 5 * 10**16

SCALES = (48, 44, 40, 36, 32, 28, 24)
"""Powers of ten of the discriminant above which the cubic's coefficients are divided by 1e18 less."""


def solve_three(xs: Sequence[int], j: int, d: int, ann: int, gamma: int) -> tuple[int, int]:
    """Return the balance of coin `j`, and K0 for the next `newton_invariant` (0 where iteration found the balance)."""
    if not (LEAST_ANN <= ann <= MOST_ANN and LEAST_GAMMA <= gamma <= MOST_GAMMA and LEAST_D <= d <= MOST_D):
        raise ArithmeticError("A, gamma or D is out of bounds")
    first, second = (x for k, x in enumerate(xs) if k != j)
    for x in (first, second):
        if not LEAST_SHARE <= x * WAD // d <= MOST_SHARE:
            raise ArithmeticError("the pool would be too far from balance")
    cubic = _scaled(*_coefficients(first, second, d, ann, gamma))
    found = _root(*cubic)
    if found is None:
        return newton_balance_within(xs, j, d, ann, gamma), 0
    a = cubic[0]
    y = divide(divide(d * d // 27 // second * d, first) * found, a)
    k0 = divide(WAD * found, a)
    if min(y, k0) < 0 or not LEAST_SHARE - 1 <= y * WAD // d <= MOST_SHARE:
        raise ArithmeticError("the output's balance would be out of bounds")
    return y, k0


def _coefficients(first: int, second: int, d: int, ann: int, gamma: int) -> tuple[int, int, int, int]:
    """Return a, b, c, d of the cubic whose root is K0, each with 36 decimals."""
    squared = gamma * gamma
    b = 10**36 // 9 + 2 * WAD * gamma // 27
    b -= divide(divide(divide(signed(d * d // first * squared * ann), 27**2), A_SCALE), second)
    c = 10**36 // 9 + gamma * (gamma + 4 * WAD) // 27
    c += divide(divide(divide(signed(squared * (first + second - d)), d) * ann, 27), A_SCALE)
    return 10**36 // 27, b, c, (WAD + gamma) ** 2 // 27


def _scaled(a: int, b: int, c: int, d: int) -> tuple[int, int, int, int]:
    """Bring the coefficients to a size at which the discriminant fits, keeping as many digits as possible."""
    size = abs(divide(signed(3 * a * c), b) - b)
    divider = next((10 ** (power - 18) for power in SCALES if size > 10**power), 100 if size > 10**20 else 1)
    if abs(a) > abs(b):
        more = abs(divide(a, b))
        a, b, c, d = (divide(signed(value * more), divider) for value in (a, b, c, d))
    else:
        less = abs(divide(b, a))
        a, b, c, d = (divide(divide(value, less), divider) for value in (a, b, c, d))
    return a, b, c, d


def _root(a: int, b: int, c: int, d: int) -> int | None:
    """Return the cubic's root times a, by Cardano's formula; None where its square root has no real value."""
    triple = signed(3 * a * c)
    delta0 = divide(triple, b) - b
    delta1 = divide(3 * triple, b) - 2 * b - divide(divide(27 * a * a, b) * d, b)
    square = signed(delta1**2) + signed(divide(4 * delta0**2, b) * delta0)
    if square <= 0:
        return None
    side = isqrt(square)
    outer = cube_root(b) if b >= 0 else -cube_root(-b)
    inner = cube_root((delta1 + side) // 2) if delta1 > 0 else -cube_root((side - delta1) // 2)
    c1 = divide(divide(outer * outer, WAD) * inner, WAD)
    return divide(b + divide(signed(b * delta0), c1) - c1, 3)
