"""StableSwap as Curve's contracts, and their forks by Saddle and Connext, compute it, to the unit.

Balances are in the invariant's own units: token units times rate over 1e18. Arithmetic that leaves uint256, divides by
zero or does not converge raises `ArithmeticError`, where the contract reverts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple

from routing_engine.fixed_point import WAD

FEE_SCALE = 10**10
"""Fees are counted in 1e-10 of the amount."""

UINT256 = 2**256 - 1
MAX_ROUNDS = 255
MAX_COINS = 8


class Product(StrEnum):
    """How a generation of contracts rounds D**(n + 1) / (n**n * prod(balances)) on the way to D."""

    EACH = "each"
    """Dividing by n * balance, coin by coin: the base template, metapools, Saddle, Connext."""
    EACH_PLUS_ONE = "each_plus_one"
    """Dividing by n * balance + 1: the first lending pools, stETH."""
    LAST = "last"
    """Dividing by the balances, and by n**n at the end: NG and the optimised factory pools."""


class Rules(NamedTuple):
    """What stays the same from swap to swap.

    `amp` is the stored coefficient, A * n**(n - 1) times `amp_precision` (100; 1 in the oldest pools). `fee` and
    `admin_fee`, its share for the protocol, are in 1e-10; `multiplier` is that of `dynamic_fee`. `spare` units stay
    behind for rounding (1; 0 in the first lending pools). With an `oracle` an exchange computes prices (NG).
    """

    amp: int
    amp_precision: int
    product: Product
    fee: int
    admin_fee: int
    multiplier: int
    spare: int
    oracle: bool


class Traded(NamedTuple):
    """One exchange: the input's new balance, the output's, what leaves it, and the part of that kept as fee."""

    x: int
    y: int
    removed: int
    fee: int


def invariant(balances: Sequence[int], rules: Rules) -> int:
    """Return D: ``get_D`` of the pools, ``getD`` of Saddle's and Connext's ``SwapUtils``."""
    n, total = len(balances), sum(balances)
    ann = rules.amp * n
    weighted = _fit(ann * total) // rules.amp_precision
    d = total
    for _ in range(MAX_ROUNDS):
        d_product = _product_term(balances, n, d, rules.product)
        previous = d
        rest = (ann - rules.amp_precision) * d // rules.amp_precision + (n + 1) * d_product
        d = _fit((weighted + d_product * n) * d) // rest
        if -1 <= d - previous <= 1:
            return d
    raise ArithmeticError("D does not converge")


def balance_after(balances: Sequence[int], i: int, j: int, x: int, d: int, rules: Rules) -> int:
    """Return the balance of coin `j` once that of coin `i` is `x`: ``get_y``, ``getY``."""
    others = (x if k == i else balance for k, balance in enumerate(balances) if k != j)
    return _solve(others, len(balances), d, rules)


def balance_at(balances: Sequence[int], i: int, d: int, rules: Rules) -> int:
    """Return the balance of coin `i` that goes with the others' and an invariant of `d`: ``get_y_D``, ``getYD``."""
    others = (balance for k, balance in enumerate(balances) if k != i)
    return _solve(others, len(balances), d, rules)


def dynamic_fee(average_in: int, average_out: int, fee: int, multiplier: int) -> int:
    """Return the fee of NG's ``_dynamic_fee``: `fee` at balance, up to `multiplier` / 1e10 times as much away from it.

    Multipliers of at most 1e10 leave it as it is.
    """
    if multiplier <= FEE_SCALE:
        return fee
    squared = _fit((average_in + average_out) ** 2)
    balance = _fit((multiplier - FEE_SCALE) * 4 * average_in * average_out) // squared
    return multiplier * fee // (balance + FEE_SCALE)


def exchange(balances: Sequence[int], i: int, j: int, added: int, d: int, rules: Rules) -> Traded:
    """Return what an exchange moves when `added` is sold: ``exchange`` of the pools, ``swap`` of ``SwapUtils``.

    All in the invariant's units. What leaves may be negative for an input too small to be worth a unit; the contract
    reverts then.
    """
    x = _fit(balances[i] + added)
    y = balance_after(balances, i, j, x, d, rules)
    removed = balances[j] - y - rules.spare
    share = dynamic_fee((balances[i] + x) // 2, (balances[j] + y) // 2, rules.fee, rules.multiplier)
    if rules.oracle:
        _require_price([x if k == i else y if k == j else balance for k, balance in enumerate(balances)], d, rules)
    return Traded(x, y, removed, _fit(removed * share) // FEE_SCALE)


def amplification(initial: int, future: int, start: int, end: int, now: int) -> int:
    """Return the coefficient on its way from `initial` to `future` at the time `now`: ``_A``."""
    if now >= end:
        return future
    if future > initial:
        return initial + (future - initial) * (now - start) // (end - start)
    return initial - (initial - future) * (now - start) // (end - start)


def _require_price(balances: Sequence[int], d: int, rules: Rules) -> None:
    """Raise `ArithmeticError` where NG cannot compute the prices after an exchange (``_get_p``) and reverts."""
    n = len(balances)
    ratio = d // n**n
    for balance in balances:
        ratio = _fit(ratio * d) // balance
    weighted = _fit(rules.amp * n * balances[0]) // rules.amp_precision
    for balance in balances[1:]:
        _fit(WAD * (weighted + _fit(ratio * balances[0]) // balance))


def _product_term(balances: Sequence[int], n: int, d: int, rounding: Product) -> int:
    term = d
    if rounding is Product.LAST:
        for balance in balances:
            term = _fit(term * d) // balance
        return term // int(n**n)
    spare = 1 if rounding is Product.EACH_PLUS_ONE else 0
    for balance in balances:
        term = _fit(term * d) // (balance * n + spare)
    return term


def _solve(others: Iterable[int], n: int, d: int, rules: Rules) -> int:
    ann = rules.amp * n
    total, c = 0, d
    for balance in others:
        total += balance
        c = _fit(c * d) // _fit(balance * n)
    c = _fit(c * d * rules.amp_precision) // (ann * n)
    b = total + d * rules.amp_precision // ann - d
    y = d
    for _ in range(MAX_ROUNDS):
        previous = y
        y = _fit(y * y + c) // _positive(2 * y + b)
        if -1 <= y - previous <= 1:
            return y
    raise ArithmeticError("the balance does not converge")


def _fit(value: int) -> int:
    if value > UINT256:
        raise OverflowError("leaves uint256")
    return value


def _positive(value: int) -> int:
    if value <= 0:
        raise ArithmeticError("a divisor is not positive")
    return value
