"""StableSwap as Balancer v2's pools compute it: ``StableMath``.

Balances and amounts have 18 decimals, rates applied, and do not include the pool's own token. The amplification is
A * n**(n - 1) times `AMP_PRECISION`. All functions raise `ValueError` where the contract reverts: numbers beyond 256
bits, or an iteration that does not settle.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from functools import lru_cache

from routing_engine.fixed_point import div_up

AMP_PRECISION = 1000
MIN_AMP, MAX_AMP = AMP_PRECISION, 5000 * AMP_PRECISION
ROUNDS = 255
LIMIT = 1 << 256


class Invariant(StrEnum):
    """Which version of ``_calculateInvariant`` a pool has."""

    UP = "up"
    """Each division rounded up: pools of 2021, and those that take part in swaps with rates or their own token."""
    DOWN = "down"
    """Each division rounded down, in the order of Curve's contracts: stable pools from 2022 on."""


@lru_cache(maxsize=8192)
def invariant(amp: int, balances: tuple[int, ...], version: Invariant) -> int:
    """Return D; equals ``StableMath._calculateInvariant``."""
    total = sum(balances)
    if min(balances) == 0:
        raise ValueError("a balance is zero")
    step = _step_up if version is Invariant.UP else _step_down
    previous = total
    for _ in range(ROUNDS):
        found = step(amp * len(balances), balances, total, previous)
        if abs(found - previous) <= 1:
            return found
        previous = found
    raise ValueError("the invariant does not converge")


def _step_up(amp_n: int, balances: Sequence[int], total: int, d: int) -> int:
    n = len(balances)
    product = balances[0] * n
    for balance in balances[1:]:
        product = div_up(_fit(product * balance * n), d)
    above = n * d * d + div_up(_fit(amp_n * total * product), AMP_PRECISION)
    return div_up(_fit(above), (n + 1) * d + (amp_n - AMP_PRECISION) * product // AMP_PRECISION)


def _step_down(amp_n: int, balances: Sequence[int], total: int, d: int) -> int:
    n = len(balances)
    product = d
    for balance in balances:
        product = _fit(product * d) // (balance * n)
    above = _fit((amp_n * total // AMP_PRECISION + product * n) * d)
    return above // ((amp_n - AMP_PRECISION) * d // AMP_PRECISION + (n + 1) * product)


def out_given_in(amp: int, balances: Sequence[int], sold: int, bought: int, amount_in: int, d: int) -> int:
    """Return the output for an input, which may be negative; equals ``StableMath._calcOutGivenIn``."""
    after = list(balances)
    after[sold] += amount_in
    return balances[bought] - balance_given_others(amp, after, bought, d) - 1


def in_given_out(amp: int, balances: Sequence[int], sold: int, bought: int, amount_out: int, d: int) -> int:
    """Return the input asked for an output; equals ``StableMath._calcInGivenOut``."""
    after = list(balances)
    after[bought] -= amount_out
    return balance_given_others(amp, after, sold, d) - balances[sold] + 1


def balance_given_others(amp: int, balances: Sequence[int], index: int, d: int) -> int:
    """Return the balance that belongs to D and all others, rounded up.

    Equals ``_getTokenBalanceGivenInvariantAndAllOtherBalances``. The old balance at `index` matters to rounding only.
    """
    n = len(balances)
    amp_n = amp * n
    product = balances[0] * n
    for balance in balances[1:]:
        product = _fit(product * balance * n) // d
    if product == 0:
        raise ValueError("a balance is too small")
    squared = d * d
    c = _fit(div_up(squared, amp_n * product) * AMP_PRECISION * balances[index])
    b = sum(balances) - balances[index] + d // amp_n * AMP_PRECISION
    found = div_up(squared + c, d + b)
    for _ in range(ROUNDS):
        previous = found
        found = div_up(_fit(previous * previous + c), _positive(2 * previous + b - d))
        if abs(found - previous) <= 1:
            return found
    raise ValueError("the balance does not converge")


def greatest_balance(balances: Sequence[int]) -> int:
    """Return how far one balance may grow without a product beyond 256 bits, with a factor of 64 to spare."""
    n = len(balances)
    return LIMIT // (64 * int(n**n) * (sum(balances) + 1))


def _fit(value: int) -> int:
    if value >= LIMIT:
        raise ValueError("a product exceeds 256 bits")
    return value


def _positive(value: int) -> int:
    if value <= 0:
        raise ValueError("a division by zero or less")
    return value
