"""Fluid DEX v1 (T1): one price curve served by two pools, of collateral and of debt.

Amounts here are "adjusted": both tokens in 12 decimals, as in ``FluidDexT1``. Each pool is a constant product of
imaginary reserves, of which the real ones can be taken out. Reproduces ``_swapIn`` and its helpers in ``CoreHelpers``.
"""

from __future__ import annotations

from enum import StrEnum
from math import isqrt
from typing import NamedTuple, TypeAlias

from routing_engine.fixed_point import PIPS, WAD
from routing_engine.model import MAX_DECIMALS

ADJUSTED_DECIMALS = 12
POWERS: tuple[int, ...] = tuple(10**n for n in range(MAX_DECIMALS + 1))
PRICE_SCALE = 10**27
"""Prices are adjusted units of token 1 per token 0, times this."""
MIN_ADJUSTED = 10**6
MAX_ADJUSTED = 2**96 - 1
MIN_AMOUNT = 100
MAX_AMOUNT = 2**128 - 1
MIN_LIQUIDITY = 10**4
"""``MINIMUM_LIQUIDITY_SWAP``: neither real reserve may be left worth less than the other's part in so many."""
ORACLE_LIMIT = 5 * 10**16
"""A swap may move the price by 5 %."""


class Reserves(NamedTuple):
    """One of the two pools, seen in the direction of a swap; all zero where it is switched off."""

    real_in: int
    real_out: int
    imaginary_in: int
    imaginary_out: int

    @property
    def enabled(self) -> bool:
        """Whether anything can be swapped here."""
        return self.imaginary_in > 0 and self.imaginary_out > 0


class Split(NamedTuple):
    """What one swap does to either pool: inputs with the fee, and outputs."""

    collateral_in: int
    collateral_out: int
    debt_in: int
    debt_out: int


Pools: TypeAlias = tuple[Reserves, Reserves]
"""Collateral, debt."""


class Breach(StrEnum):
    """Why the contract reverts."""

    TOO_LITTLE = "less than the contract takes"
    HALF_OF_RESERVES = "more than half of the imaginary reserves"
    RESERVES = "takes out more than the real reserves"
    RESERVES_TOO_LOW = "leaves too little of a real reserve"
    WITHDRAWABLE = "more than can be withdrawn"
    BORROWABLE = "more than can be borrowed"
    PRICE = "moves the price by more than 5 %"


def adjust(amount: int, decimals: int) -> int:
    """Turn smallest units into adjusted ones, rounding down."""
    shift = ADJUSTED_DECIMALS - decimals
    return amount * POWERS[shift] if shift >= 0 else amount // POWERS[-shift]


def unadjust(amount: int, decimals: int) -> int:
    """Turn adjusted units into smallest ones, rounding down."""
    shift = ADJUSTED_DECIMALS - decimals
    return amount // POWERS[shift] if shift >= 0 else amount * POWERS[-shift]


def get_amount_out(amount_in: int, reserves: Reserves) -> int:
    """Output of one pool for an input net of the fee: ``_getAmountOut``."""
    return amount_in * reserves.imaginary_out // (reserves.imaginary_in + amount_in)


def route_in(amount: int, collateral: Reserves, debt: Reserves) -> int:
    """Input that goes through the collateral pool, so that both pools end at one price: ``_swapRoutingIn``.

    Not positive where all should go through the debt pool; `amount` or more where none should.
    """
    root = isqrt(collateral.imaginary_in * collateral.imaginary_out * WAD)
    debt_root = isqrt(debt.imaginary_in * debt.imaginary_out * WAD)
    share = (debt.imaginary_in + amount) * root - collateral.imaginary_in * debt_root
    # Solidity divides towards zero.
    total = root + debt_root
    return share // total if share >= 0 else -(-share // total)


def split_in(amount: int, pools: Pools, fee_pips: int) -> Split:
    """Divide an adjusted input between the pools and price it: the middle of ``_swapIn``. One pool must be enabled."""
    collateral, debt = pools
    if not debt.enabled:
        part = amount
    elif not collateral.enabled:
        part = 0
    else:
        part = min(max(route_in(amount, collateral, debt), 0), amount)
    kept = PIPS - fee_pips
    collateral_out = get_amount_out(part * kept // PIPS, collateral) if part else 0
    debt_out = get_amount_out((amount - part) * kept // PIPS, debt) if part < amount else 0
    return Split(part, collateral_out, amount - part, debt_out)


def find_breach(
    split: Split, pools: Pools, zero_for_one: bool, center_price: int, withdrawable: int, borrowable: int
) -> Breach | None:
    """Return the check that a swap fails, of those in ``_swapIn``, Liquidity and the oracle; None if it passes all.

    Parameters
    ----------
    split : Split
        As `split_in` gives it.
    zero_for_one : bool
        Whether token 0 is sold.
    center_price : int
        As `PRICE_SCALE` says.
    withdrawable, borrowable : int
        Adjusted units of the token bought that Liquidity gives out now.
    """
    collateral, debt = pools
    amount = split.collateral_in + split.debt_in
    if not MIN_ADJUSTED <= amount <= MAX_ADJUSTED:
        return Breach.TOO_LITTLE if amount < MIN_ADJUSTED else Breach.HALF_OF_RESERVES
    if amount > (collateral.imaginary_in + debt.imaginary_in) // 2:
        return Breach.HALF_OF_RESERVES
    for sold, bought, reserves in ((split.collateral_in, split.collateral_out, collateral), (*split[2:], debt)):
        left = reserves.real_out - bought
        if left < 0:
            return Breach.RESERVES
        if sold and left < _least_left(reserves.real_in + sold, zero_for_one, center_price):
            return Breach.RESERVES_TOO_LOW
    if split.collateral_out > withdrawable:
        return Breach.WITHDRAWABLE
    if split.debt_out > borrowable:
        return Breach.BORROWABLE
    return None if _price_holds(split, pools, zero_for_one) else Breach.PRICE


def move(reserves: Reserves, amount_in: int, amount_out: int, fee_pips: int) -> Reserves:
    """Return a pool after a swap.

    The fee is left out of the reserves: what part of it stays depends on the revenue cut, and how it lifts the
    imaginary reserves on the price range. So a second swap is never quoted too high.
    """
    net = amount_in * (PIPS - fee_pips) // PIPS
    real_in, real_out, imaginary_in, imaginary_out = reserves
    return Reserves(real_in + net, real_out - amount_out, imaginary_in + net, imaginary_out - amount_out)


def _least_left(reserve_in: int, zero_for_one: bool, center_price: int) -> int:
    """Least real reserve of the token bought: ``_verifyToken1Reserves`` and ``_verifyToken0Reserves``."""
    if zero_for_one:
        return reserve_in * center_price // (PRICE_SCALE * MIN_LIQUIDITY)
    return reserve_in * PRICE_SCALE // (center_price * MIN_LIQUIDITY)


def _price_holds(split: Split, pools: Pools, zero_for_one: bool) -> bool:
    """Check the move of the price in the pool that took more: ``_priceDiffCheck``.

    The contract compares with the price it stored last and counts the input without the revenue cut. Neither is known
    here: the present price and the whole input stand for them.
    """
    by_collateral = split.collateral_in > split.debt_in
    sold, bought = split[:2] if by_collateral else split[2:]
    reserves = pools[0] if by_collateral else pools[1]
    before = (reserves.imaginary_in, reserves.imaginary_out)
    after = (reserves.imaginary_in + sold, reserves.imaginary_out - bought)
    old, new = (_price(*pair, zero_for_one) for pair in (before, after))
    return new > 0 and abs(WAD - old * WAD // new) <= ORACLE_LIMIT


def _price(reserve_in: int, reserve_out: int, zero_for_one: bool) -> int:
    if zero_for_one:
        return reserve_out * PRICE_SCALE // reserve_in
    return reserve_in * PRICE_SCALE // reserve_out
