"""The balance of a two-coin crypto pool in closed form: ``get_y`` of Curve's twocrypto NG mathematics."""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt

from routing_engine.amm.cryptoswap.curves import A_SCALE, LEAST_D, MOST_D, MOST_SHARE, newton_balance
from routing_engine.amm.cryptoswap.roots import cube_root, divide, signed
from routing_engine.fixed_point import WAD

LEAST_ANN, MOST_ANN = 4 * A_SCALE // 10, 4 * A_SCALE * 1000
LEAST_GAMMA, SMALL_GAMMA, MOST_GAMMA = 10**10, 2 * 10**16, 199 * 10**15

SCALES = (48, 46, 44, 42, 40, 38, 36, 34, 32, 30, 28, 26, 24)


def solve_two(xs: Sequence[int], j: int, d: int, ann: int, gamma: int) -> tuple[int, int]:
    """Return the balance of coin `j`, and K0 for the next `newton_invariant` (0 where iteration found the balance)."""
    if not (LEAST_ANN <= ann <= MOST_ANN and LEAST_GAMMA <= gamma <= MOST_GAMMA and LEAST_D <= d <= MOST_D):
        raise ArithmeticError("A, gamma or D is out of bounds")
    reach = MOST_SHARE if gamma <= SMALL_GAMMA else MOST_SHARE * SMALL_GAMMA // gamma
    other = xs[1 - j]
    if not 10**36 // reach <= 2 * WAD * other // d <= reach:
        raise ArithmeticError("the pool would be too far from balance")
    found = _root(*_scaled(*_coefficients(other, d, ann, gamma)))
    if found is None:
        return newton_balance(xs, j, d, ann, gamma), 0
    y = divide(divide(d * d // other * found, 4), WAD)
    if min(y, found) < 0 or not 10**36 // 2 // reach <= y * WAD // d <= reach // 2:
        raise ArithmeticError("the output's balance would be out of bounds")
    return y, found


def _coefficients(other: int, d: int, ann: int, gamma: int) -> tuple[int, int, int, int]:
    """Return a, b, c, d of the cubic whose root is K0, each with 32 decimals."""
    weight = signed(ann * gamma * gamma)
    a = 10**32
    b = divide(divide(signed(d * weight), 4 * 10**8), other) - 3 * a - 2 * gamma * 10**14
    share = divide(4 * weight, 4 * 10**8)
    c = 3 * a + 4 * gamma * 10**14 + gamma * gamma // 10**4 + divide(signed(share * other), d) - share
    return a, b, c, -((WAD + gamma) ** 2 // 10**4)


def _scaled(a: int, b: int, c: int, d: int) -> tuple[int, int, int, int]:
    """Bring the coefficients to a size at which the discriminant fits."""
    delta0, delta1 = _deltas(a, b, c, d)
    size = min(abs(delta0), abs(delta1), a)
    divider = next((10 ** (power - 18) for power in SCALES if size > 10**power), 100 if size > 10**20 else 1)
    return divide(a, divider), divide(b, divider), divide(c, divider), divide(d, divider)


def _deltas(a: int, b: int, c: int, d: int) -> tuple[int, int]:
    delta0 = divide(signed(3 * a * c), b) - b
    return delta0, 3 * delta0 + b - divide(signed(divide(27 * a * a, b) * d), b)


def _root(a: int, b: int, c: int, d: int) -> int | None:
    """Return the cubic's root with 18 decimals, by Cardano's formula; None where its square root has no real value."""
    delta0, delta1 = _deltas(a, b, c, d)
    square = signed(delta1**2) + signed(divide(4 * delta0**2, b) * delta0)
    if square <= 0:
        return None
    side = isqrt(square)
    outer = cube_root(b) if b > 0 else -cube_root(-b)
    inner = cube_root((delta1 + side) // 2) if delta1 > 0 else -cube_root((side - delta1) // 2)
    c1 = divide(divide(outer * outer, WAD) * inner, WAD)
    return divide(WAD * c1 - WAD * b - signed(divide(WAD * b, c1) * delta0), 3 * a)
