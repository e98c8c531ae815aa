"""Curve's crypto pools: what an exchange pays, and how the pool moves its prices after it.

Reproduces ``_exchange`` and ``tweak_price`` of tricrypto NG and twocrypto NG, and ``exchange`` of older pools.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from math import isqrt
from typing import NamedTuple

from routing_engine.amm.cryptoswap.curves import (
    fee_rate,
    geometric_mean,
    iterate_mean,
    newton_balance_within,
    newton_invariant,
    newton_invariant_before_ng,
)
from routing_engine.amm.cryptoswap.three_coins import solve_three
from routing_engine.amm.cryptoswap.two_coins import solve_two
from routing_engine.amm.stableswap import FEE_SCALE, Product, Rules, balance_after, invariant
from routing_engine.fixed_point import WAD

STABLE_PRECISION = 10_000


class Method(StrEnum):
    """How a generation of contracts finds a balance."""

    CLOSED_FORM = "closed_form"
    """NG."""
    NEWTON = "newton"
    """The pools before NG."""
    STABLE = "stable"
    """Twocrypto pools whose mathematics are those of StableSwap (``StableswapMath``)."""


class CryptoRules(NamedTuple):
    """What stays the same from swap to swap: `ann` is A * N**N * 1e4, fees are in 1e-10, gammas in 1e-18."""

    method: Method
    ann: int
    gamma: int
    mid_fee: int
    out_fee: int
    fee_gamma: int


class Profit(NamedTuple):
    """What decides whether the pool moves its prices: the oracle's prices of the moment, profits, two thresholds."""

    price_oracle: tuple[int, ...]
    xcp_profit: int
    virtual_price: int
    supply: int
    allowed_extra_profit: int
    adjustment_step: int


class Exchanged(NamedTuple):
    """What an exchange pays and keeps as fee, in the token's smallest units; the balance and the K0 it found."""

    amount_out: int
    fee: int
    y: int
    k0: int


class Settled(NamedTuple):
    """A pool's prices, D and profits after an exchange."""

    price_scale: tuple[int, ...]
    d: int
    profit: Profit


def scaled(balances: Sequence[int], precisions: Sequence[int], price_scale: Sequence[int]) -> list[int]:
    """Return the balances with 18 decimals, in units of the first coin at the pool's own prices."""
    rest = zip(balances[1:], price_scale, precisions[1:], strict=True)
    return [balances[0] * precisions[0], *(balance * price * scale // WAD for balance, price, scale in rest)]


def solve(xs: Sequence[int], j: int, d: int, rules: CryptoRules) -> tuple[int, int]:
    """Return the balance of coin `j` that goes with the others and D, and K0 where the method gives it."""
    if rules.method is Method.NEWTON:
        return newton_balance_within(xs, j, d, rules.ann, rules.gamma), 0
    if rules.method is Method.STABLE:
        return balance_after(xs, 1 - j, j, xs[1 - j], d, _stable_rules(rules)), 0
    return (solve_two if len(xs) == 2 else solve_three)(xs, j, d, rules.ann, rules.gamma)


def find_invariant(xs: Sequence[int], rules: CryptoRules, k0: int = 0) -> int:
    """Return D."""
    if rules.method is Method.STABLE:
        return invariant(xs, _stable_rules(rules))
    if rules.method is Method.NEWTON:
        return newton_invariant_before_ng(xs, rules.ann, rules.gamma)
    return newton_invariant(xs, rules.ann, rules.gamma, k0)


def exchange(xs: Sequence[int], j: int, d: int, precision: int, price: int, rules: CryptoRules) -> Exchanged:
    """Return what coin `j` pays once `xs` holds the input; `price` is its price scale, 1e18 for the first coin."""
    y, k0 = solve(xs, j, d, rules)
    after = list(xs)
    after[j] = y
    amount = (xs[j] - y - 1) * WAD // price // precision
    fee = fee_rate(after, rules.mid_fee, rules.out_fee, rules.fee_gamma) * amount // FEE_SCALE
    return Exchanged(amount - fee, fee, y, k0)


def settle(xs: Sequence[int], k0: int, price_scale: tuple[int, ...], rules: CryptoRules, profit: Profit) -> Settled:
    """Return the pool after an exchange that left the balances `xs`: ``tweak_price`` without passing time.

    Raises
    ------
    ArithmeticError
        If the exchange would lose the pool money, which the contract refuses.
    """
    d = find_invariant(xs, rules, k0)
    virtual_price = _virtual_price(d, price_scale, rules, profit.supply)
    xcp_profit = profit.xcp_profit * virtual_price // profit.virtual_price
    if virtual_price <= profit.virtual_price:
        raise ArithmeticError("the pool would make a loss")
    after = profit._replace(xcp_profit=xcp_profit, virtual_price=virtual_price)
    moved = None
    if 2 * virtual_price - WAD > xcp_profit + 2 * profit.allowed_extra_profit:
        moved = _moved(xs, price_scale, rules, after)
    return moved if moved is not None else Settled(price_scale, d, after)


def require_profit(xs: Sequence[int], k0: int, price_scale: tuple[int, ...], d: int, rules: CryptoRules) -> None:
    """Raise `ArithmeticError` unless the contract certainly takes an exchange from `d` to the balances `xs`.

    For pools whose profits are not known. The contract refuses an exchange after which a share is worth less: its worth
    must not fall. NG refuses it also where the worth, which it counts in 1e-18 of a value not far below one, does not
    rise: it must rise by two parts in 1e18.
    """
    before = _value(d, price_scale, rules)
    least = before if rules.method is Method.NEWTON else before + 2 * before // WAD + 2
    if _value(find_invariant(xs, rules, k0), price_scale, rules) < least:
        raise ArithmeticError("the pool might make a loss")


def _moved(xs: Sequence[int], price_scale: tuple[int, ...], rules: CryptoRules, profit: Profit) -> Settled | None:
    """Return the pool with prices nearer to the oracle's; None if they are near, or that would cost too much profit."""
    ratios = [oracle * WAD // scale for oracle, scale in zip(profit.price_oracle, price_scale, strict=True)]
    norm = isqrt(sum((ratio - WAD) ** 2 for ratio in ratios))
    step = max(profit.adjustment_step, norm // 5)
    if norm <= step:
        return None
    pairs = list(zip(price_scale, profit.price_oracle, strict=True))
    prices = tuple((scale * (norm - step) + step * oracle) // norm for scale, oracle in pairs)
    rescaled = [xs[0], *(x * new // old for x, new, old in zip(xs[1:], prices, price_scale, strict=True))]
    d = find_invariant(rescaled, rules)
    if not all(10**16 <= x * WAD // d <= 10**20 for x in rescaled):
        raise ArithmeticError("the new prices are too far from the balances")
    virtual_price = _virtual_price(d, prices, rules, profit.supply)
    if virtual_price > WAD and 2 * virtual_price - WAD > profit.xcp_profit:
        return Settled(prices, d, profit._replace(virtual_price=virtual_price))
    return None


def _virtual_price(d: int, price_scale: Sequence[int], rules: CryptoRules, supply: int) -> int:
    return WAD * _value(d, price_scale, rules) // supply


def _value(d: int, price_scale: Sequence[int], rules: CryptoRules) -> int:
    """Return what all shares are worth, in the pool's own unit: ``get_xcp``."""
    n = len(price_scale) + 1
    balances = [d // n, *(d * WAD // (n * price) for price in price_scale)]
    before_ng = rules.method is Method.NEWTON
    return iterate_mean(sorted(balances, reverse=True)) if before_ng else geometric_mean(balances)


def _stable_rules(rules: CryptoRules) -> Rules:
    return Rules(
        amp=rules.ann,
        amp_precision=STABLE_PRECISION,
        product=Product.LAST,
        fee=0,
        admin_fee=0,
        multiplier=0,
        spare=0,
        oracle=False,
    )
