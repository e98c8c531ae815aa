"""The invariant of Curve's crypto pools: balances and D as the contracts' mathematics compute them.

Balances are scaled: to 18 decimals, and by the pool's own prices to units of the first coin. With K0 = N**N * prod(x) /
D**N and K = A * K0 * gamma**2 / (gamma + 1 - K0)**2 the invariant is K * D**(N - 1) * sum(x) + prod(x) =
K * D**N + (D / N)**N. ``ann`` is A * N**N times `A_SCALE`. What the contracts assert, or cannot compute, raises
`ArithmeticError`; where they leave the bounds of integers unchecked, their assertions keep them from being reached.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt

from routing_engine.amm.cryptoswap.roots import cube_root
from routing_engine.amm.stableswap import UINT256
from routing_engine.fixed_point import WAD

A_SCALE = 10_000
MAX_ROUNDS = 255
LEAST_D, MOST_D = 10**17, 10**33
LEAST_SHARE, MOST_SHARE = 10**16, 10**20
"""Bounds of x / D with 18 decimals."""


def newton_balance(xs: Sequence[int], j: int, d: int, ann: int, gamma: int) -> int:
    """Return the balance of coin `j` that goes with the others and D, by iteration: ``newton_y``."""
    n, others = len(xs), sorted((x for k, x in enumerate(xs) if k != j), reverse=True)
    y, k0_others = d // n if n > 2 else d * d // (others[0] * n * n), WAD
    if n > 2:
        for x in reversed(others):
            y = y * d // (x * n)
    for x in others:
        k0_others = k0_others * x * n // d
    limit, total = max(others[0] // 10**14, d // 10**14, 100), sum(others)
    for _ in range(MAX_ROUNDS):
        previous, found = y, _newton_step(y, k0_others * y * n // d, total + y, d, ann, gamma)
        y = previous // 2 if found is None else found
        if found is not None and abs(y - previous) < max(limit, y // 10**14):
            return y
    raise ArithmeticError("the balance does not converge")


def newton_balance_within(xs: Sequence[int], j: int, d: int, ann: int, gamma: int) -> int:
    """Return `newton_balance` within the bounds that ``newton_y`` asserts: before NG, and in tricrypto NG."""
    if not LEAST_D <= d <= MOST_D:
        raise ArithmeticError("D is out of bounds")
    for x in (x for k, x in enumerate(xs) if k != j):
        if not LEAST_SHARE <= x * WAD // d <= MOST_SHARE:
            raise ArithmeticError("the pool would be too far from balance")
    y = newton_balance(xs, j, d, ann, gamma)
    if not LEAST_SHARE <= y * WAD // d <= MOST_SHARE:
        raise ArithmeticError("the output's balance would be out of bounds")
    return y


def _newton_step(y: int, k0: int, total: int, d: int, ann: int, gamma: int) -> int | None:
    """Return the next estimate; None where the slope has the wrong sign."""
    gap = abs(gamma + WAD - k0) + 1
    mul1 = WAD * d // gamma * gap // gamma * gap * A_SCALE // ann
    mul2 = WAD + 2 * WAD * k0 // gap
    slope = WAD * y + total * mul2 + mul1 - d * mul2
    if slope < 0:
        return None
    per_unit = slope // y
    minus = mul1 // per_unit
    plus = (slope + WAD * d) // per_unit + minus * WAD // k0
    minus += WAD * total // per_unit
    return plus - minus if plus >= minus else y // 2


def newton_invariant(xs: Sequence[int], ann: int, gamma: int, k0_before: int) -> int:
    """Return D: ``newton_D`` of NG, which starts from K0 of the solution before it where there is one."""
    d = _iterate_invariant(xs, _first_invariant(sorted(xs, reverse=True), sum(xs), k0_before), ann, gamma)
    n = len(xs)
    _check_shares(xs, d, *((LEAST_SHARE // n, MOST_SHARE // n) if n == 2 else (LEAST_SHARE - 1, MOST_SHARE)))
    return d


def newton_invariant_before_ng(xs: Sequence[int], ann: int, gamma: int) -> int:
    """Return D: ``newton_D`` of the pools before NG, which starts from a geometric mean found by iteration."""
    ordered = sorted(xs, reverse=True)
    if not 10**9 <= ordered[0] <= MOST_D or ordered[-1] * WAD // ordered[0] < (10**14 if len(xs) == 2 else 10**11):
        raise ArithmeticError("the balances are out of bounds")
    d = _iterate_invariant(xs, len(xs) * iterate_mean(ordered), ann, gamma)
    _check_shares(xs, d, LEAST_SHARE, MOST_SHARE)
    return d


def iterate_mean(ordered: Sequence[int]) -> int:
    """Return the geometric mean of balances, the largest first: ``geometric_mean`` of the pools before NG."""
    n, mean = len(ordered), ordered[0]
    for _ in range(MAX_ROUNDS):
        previous = mean
        if n == 2:
            mean = (mean + ordered[0] * ordered[1] // mean) // 2
        else:
            term = WAD
            for x in ordered:
                term = term * x // mean
            mean = mean * ((n - 1) * WAD + term) // (n * WAD)
        if abs(mean - previous) <= 1 or abs(mean - previous) * WAD < mean:
            return mean
    raise ArithmeticError("the mean does not converge")


def _iterate_invariant(xs: Sequence[int], d: int, ann: int, gamma: int) -> int:
    n, ordered, total = len(xs), sorted(xs, reverse=True), sum(xs)
    for _ in range(MAX_ROUNDS):
        previous = d
        d = _invariant_step(ordered, n, total, d, ann, gamma)
        if abs(d - previous) * 10**14 < max(10**16, d):
            return d
    raise ArithmeticError("D does not converge")


def _first_invariant(ordered: Sequence[int], total: int, k0: int) -> int:
    if len(ordered) == 2:
        if not 10**9 <= ordered[0] <= MOST_D or ordered[1] * WAD // ordered[0] < 10**14:
            raise ArithmeticError("the balances are out of bounds")
        if k0 == 0:
            return 2 * isqrt(ordered[0] * ordered[1])
        return min(total, isqrt(4 * ordered[0] * ordered[1] // k0 * WAD))
    if k0 == 0:
        return 3 * geometric_mean(ordered)
    scale, factor = (10**36, 10**12) if total > 10**36 else (10**24, 10**6) if total > 10**24 else (WAD, 1)
    return cube_root(ordered[0] * ordered[1] // scale * ordered[2] // k0 * 27 * factor)


def _invariant_step(ordered: Sequence[int], n: int, total: int, d: int, ann: int, gamma: int) -> int:
    if n == 2:
        k0 = 4 * WAD * ordered[0] // d * ordered[1] // d
    else:
        k0 = WAD * ordered[0] * 3 // d * ordered[1] * 3 // d * ordered[2] * 3 // d
    gap = abs(gamma + WAD - k0) + 1
    mul1 = WAD * d // gamma * gap // gamma * gap * A_SCALE // ann
    mul2 = 2 * WAD * n * k0 // gap
    slope = total + total * mul2 // WAD + mul1 * n // k0 - mul2 * d // WAD
    if slope <= 0:
        raise ArithmeticError("D has no slope")
    plus, minus = d * (slope + total) // slope, d * d // slope
    drift = d * (mul1 // slope) // WAD
    minus += drift * (WAD - k0) // k0 if k0 < WAD else -(drift * (k0 - WAD) // k0)
    return plus - minus if plus > minus else (minus - plus) // 2


def geometric_mean(xs: Sequence[int]) -> int:
    """Return the geometric mean of two or three numbers with 18 decimals: ``geometric_mean``."""
    if len(xs) == 2:
        return isqrt(xs[0] * xs[1])
    product = xs[0] * xs[1] // WAD * xs[2]
    if product > UINT256:
        raise OverflowError("leaves uint256")
    return cube_root(product // WAD) if product >= WAD else 0


def fee_rate(xs: Sequence[int], mid_fee: int, out_fee: int, fee_gamma: int) -> int:
    """Return the fee in 1e-10: `mid_fee` in balance, `out_fee` far from it (``_fee``, ``reduction_coefficient``)."""
    n, total = len(xs), sum(xs)
    if n == 2:
        balance = 4 * WAD * xs[0] // total * xs[1] // total
    else:
        balance = WAD
        for x in xs:
            balance = balance * n * x // total
    if fee_gamma > 0:
        balance = fee_gamma * WAD // (fee_gamma + WAD - balance)
    return (mid_fee * balance + out_fee * (WAD - balance)) // WAD


def _check_shares(xs: Sequence[int], d: int, least: int, most: int) -> None:
    if not all(least <= x * WAD // d <= most for x in xs):
        raise ArithmeticError("the pool is too far from balance")
